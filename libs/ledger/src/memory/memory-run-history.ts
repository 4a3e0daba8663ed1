import { endOfPart, type AccountPart, checkRange, checkTally, checkWhole } from '../base/ledger-request.js';
import type {
  Account,
  AccountRequest,
  ItemRecord,
  NewestRequest,
  Notification,
  RunHistory,
  RunWithEffects,
  Tally,
  TallyRequest,
  TallyRow,
} from '../base/ledger.js';
import { FORGET_BATCH, MAX_LOOKED_BACK } from '../base/ledger-timing.js';
import { effectsInMemory, itemsInMemory } from './memory-effect.js';
import { forgetRun, pauseInForce, snapshot, type MemoryRun } from './memory-ledger-record.js';
import type { MemoryLedgerStore } from './memory-ledger-store.js';
import { cronOfRun, hasLateness, occurrenceId } from '../base/occurrence.js';
import { isTerminal } from '../base/run-state.js';
import type { EffectRecord, Run, SkipRange } from '../base/run.js';

const DAY_MS = 86_400_000;

/** What the ledger in memory knows of the past, and how it forgets it. */
export class MemoryRunHistory implements RunHistory {
  constructor(protected readonly store: MemoryLedgerStore) {}

  async readRun(runId: string): Promise<Run | null> {
    const run = this.store.run(runId);
    return run ? snapshot(run) : null;
  }

  async readWithEffects(runIds: readonly string[]): Promise<RunWithEffects[]> {
    const found = runIds.flatMap((id) => this.store.run(id) ?? []);
    return found.map((run) => ({ run: snapshot(run), effects: effectsInMemory(run) }));
  }

  async previousSuccess(runId: string): Promise<Run | null> {
    const runs = this.store.runs(cronOfRun(runId));
    const own = runs.findIndex(({ record }) => record.id === runId);
    const before = runs.slice(Math.max(0, own - MAX_LOOKED_BACK), Math.max(0, own));
    const found = before.findLast(({ record }) => record.state === 'succeeded');
    return found ? snapshot(found) : null;
  }

  async effects(runId: string): Promise<EffectRecord[]> {
    const run = this.store.run(runId);
    return run ? effectsInMemory(run) : [];
  }

  async items(runId: string, effect: string): Promise<ItemRecord[]> {
    const run = this.store.run(runId);
    return run ? itemsInMemory(run, effect) : [];
  }

  async notifications(cron: string, limit: number): Promise<Notification[]> {
    return structuredClone(this.store.cron(cron).notifications.slice(0, Math.max(0, limit)));
  }

  async settleNotifications(name: string, receipts: readonly string[]): Promise<void> {
    const cron = this.store.cron(name);
    cron.notifications = cron.notifications.filter(({ receipt }) => !receipts.includes(receipt));
  }

  async countRuns(crons: readonly string[]): Promise<number[]> {
    const since = this.store.now() - this.store.timing.keepMs;
    return crons.map((cron) => this.store.runs(cron, ({ record }) => record.scheduledAt > since).length);
  }

  async runs(cron: string, limit: number): Promise<Run[]> {
    const [runs = []] = await this.newestRuns([cron], limit);
    return runs;
  }

  async newestRuns(...[crons, limit, range]: NewestRequest): Promise<Run[][]> {
    const { from = -Infinity, to = Infinity } = range ?? {};
    return crons.map((cron) => {
      const all = this.store.runs(cron, ({ record }) => record.scheduledAt >= from && record.scheduledAt < to);
      return all.toReversed().slice(0, Math.max(0, limit)).map(snapshot);
    });
  }

  async runsIn(state: 'failed' | 'uncertain', crons: readonly string[], limit: number): Promise<Run[]> {
    const found = crons.flatMap((cron) => {
      const all = this.store.runs(cron, ({ record }) => record.state === state);
      return all.toSorted(latestFirst).slice(0, Math.max(0, limit));
    });
    return found.toSorted(latestFirst).map(snapshot);
  }

  async notable(crons: readonly string[]): Promise<string[]> {
    return crons.filter((cron) => this.#isNotable(cron));
  }

  #isNotable(name: string): boolean {
    const [cron, now] = [this.store.cron(name), this.store.now()];
    const { state = 'succeeded' } = this.store.runs(name).at(-1)?.record ?? {};
    const droppedAt = cron.droppedNotifications?.lastAt ?? -Infinity;
    return state !== 'succeeded' || pauseInForce(cron, now)?.until === null || now - droppedAt < DAY_MS;
  }

  async skips(cron: string, limit: number): Promise<SkipRange[]> {
    return structuredClone(this.store.cron(cron).skips.toReversed().slice(0, Math.max(0, limit)));
  }

  newestSkips(crons: readonly string[], limit: number): Promise<SkipRange[][]> {
    return Promise.all(crons.map((cron) => this.skips(cron, limit)));
  }

  async account(...[name, from, to, most]: AccountRequest): Promise<Account> {
    checkRange(from, to);
    const end = most === undefined ? to : this.#endOfPart(name, { from, to, most });
    return { ...this.#all(name, from, end), ...(end < to && { more: end }) };
  }

  async tally(cron: string, asked: TallyRequest): Promise<Tally> {
    checkTally(asked);
    const { runs, ...rest } = await this.account(cron, asked.from, asked.to, asked.most);
    const rows = new Map<string, TallyRow>();
    for (const run of runs) {
      const row = tallied(run, asked);
      const key = JSON.stringify(row);
      rows.set(key, { ...row, count: (rows.get(key)?.count ?? 0) + 1 });
    }
    return { rows: [...rows.values()], ...rest };
  }

  #endOfPart(name: string, { from, to, most }: AccountPart): number {
    checkWhole('most', most, 1);
    const instants = this.#all(name, from, to).runs.map(({ scheduledAt }) => scheduledAt);
    return endOfPart({ first: instants[0], beyond: instants[most], to });
  }

  #all(name: string, from: number, to: number): Account {
    const { skips, forgotten } = this.store.cron(name);
    const runs = this.store.runs(name, ({ record }) => record.scheduledAt >= from && record.scheduledAt < to);
    const touching = skips.filter(({ after, through }) => through >= from && after + 1 < to);
    return { runs: runs.map(snapshot), skips: structuredClone(touching), forgotten };
  }

  async countKeys(name: string): Promise<number> {
    const now = this.store.now();
    return [...this.store.cron(name).used.values()].filter((until) => until > now).length;
  }

  async forgetAll(crons: readonly string[], keep: number): Promise<PromiseSettledResult<number>[]> {
    checkWhole('keep', keep, 0);
    return crons.map((cron) => ({ status: 'fulfilled', value: this.#forget(cron, keep) }));
  }

  #forget(name: string, keep: number): number {
    const cron = this.store.cron(name);
    const ranges = cron.skips.splice(0, Math.max(0, cron.skips.length - keep));
    if (ranges.length > 0) cron.forgotten = Math.max(cron.forgotten ?? 0, ranges.at(-1)?.through ?? 0);
    const surplus = this.store.runs(name).slice(0, Math.max(0, cron.runs.size - keep));
    const forgotten = surplus.filter(({ record }) => isTerminal(record.state)).slice(0, FORGET_BATCH);
    for (const { record } of forgotten) forgetRun(cron, record, this.store.now());
    return forgotten.length;
  }
}

/** By when each came into its state; of those that did at once the later instant first. */
function latestFirst(one: MemoryRun, other: MemoryRun): number {
  const [a, b] = [one, other].map(({ record, doubtedAt }) => record.finishedAt ?? doubtedAt) as [number, number];
  return b - a || (one.record.id < other.record.id ? 1 : -1);
}

function tallied(run: Run, { bucketMs, graceMs }: TallyRequest): TallyRow {
  const { cron, scheduledAt, dueAt, state, reason, skipped, startedAt, attempt } = run;
  return {
    ...{ at: scheduledAt - (scheduledAt % bucketMs), state, reason, skipped, retried: attempt > 1 },
    late: startedAt !== null && hasLateness(run) && startedAt - dueAt > graceMs,
    natural: run.id === occurrenceId({ cron, scheduledAt }),
    count: 0,
  };
}
