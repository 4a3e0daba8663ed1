import type { Account, AccountRequest, CronRecord, Delivery } from './ledger.js';
import { endOfPart, type AccountPart } from './account-part.js';
import { checkRange, checkWhole } from './ledger-request.js';
import { LEDGER_BATCH } from './ledger-timing.js';
import { deliveryOfRun } from './memory-delivery.js';
import { BLOCKS_ALWAYS, blocks, forgetRun, pauseInForce, snapshot, type MemoryRun } from './memory-ledger-record.js';
import type { MemoryLedgerStore } from './memory-ledger-store.js';
import type { OverdueRun } from './overdue.js';
import { isTerminal } from './run-state.js';
import type { OperatorAction, Run, SkipRange } from './run.js';

/** What the ledger in memory knows of the past, and how it forgets it. */
export class MemoryHistory {
  constructor(private readonly store: MemoryLedgerStore) {}

  readCron(name: string): CronRecord {
    const cron = this.store.cron(name);
    const { fence, cursor, generation, refusals, droppedNotifications } = cron;
    const paused = pauseInForce(cron, this.store.now());
    return { fence, cursor, generation, refusals, paused: paused && { ...paused }, droppedNotifications };
  }

  countRuns(crons: readonly string[], keepMs: number): number[] {
    const since = this.store.now() - keepMs;
    return crons.map((cron) => this.store.runs(cron, ({ record }) => record.scheduledAt > since).length);
  }

  runs(cron: string, limit: number): Run[] {
    return this.store.runs(cron).toReversed().slice(0, Math.max(0, limit)).map(snapshot);
  }

  runsIn(state: 'failed' | 'uncertain', crons: readonly string[], limit: number): Run[] {
    const found = crons.flatMap((cron) => {
      const all = this.store.runs(cron, ({ record }) => record.state === state);
      return all.toSorted(latestFirst).slice(0, Math.max(0, limit));
    });
    return found.toSorted(latestFirst).map(snapshot);
  }

  skips(cron: string, limit: number): SkipRange[] {
    return structuredClone(this.store.cron(cron).skips.toReversed().slice(0, Math.max(0, limit)));
  }

  pending(cron: string): Delivery[] {
    const claimed = this.store.runs(cron, ({ record }) => record.state === 'claimed');
    return claimed.slice(0, LEDGER_BATCH).map(deliveryOfRun);
  }

  unstarted(cron: string, limit: number): OverdueRun[] {
    const { store } = this;
    const waiting = store.runs(cron, (run) => run.leaseUntil === BLOCKS_ALWAYS && blocks(run, store.now()));
    const sorted = waiting.toSorted((a, b) => (a.record.id < b.record.id ? -1 : 1)).slice(0, Math.max(0, limit));
    return sorted.map((run) => ({ ...deliveryOfRun(run), state: run.record.state }));
  }

  actions(cron: string, limit: number): OperatorAction[] {
    return structuredClone(this.store.cron(cron).actions.slice(0, Math.max(0, limit)));
  }

  account(...[name, from, to, most]: AccountRequest): Account {
    checkRange(from, to);
    const end = most === undefined ? to : this.#endOfPart(name, { from, to, most });
    return { ...this.#all(name, from, end), ...(end < to && { more: end }) };
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

  countKeys(name: string): number {
    const now = this.store.now();
    return [...this.store.cron(name).used.values()].filter((until) => until > now).length;
  }

  forget(name: string, keep: number): number {
    checkWhole('keep', keep, 0);
    const cron = this.store.cron(name);
    const ranges = cron.skips.splice(0, Math.max(0, cron.skips.length - keep));
    if (ranges.length > 0) cron.forgotten = Math.max(cron.forgotten ?? 0, ranges.at(-1)?.through ?? 0);
    const surplus = this.store.runs(name).slice(0, Math.min(Math.max(0, cron.runs.size - keep), LEDGER_BATCH));
    const forgotten = surplus.filter(({ record }) => isTerminal(record.state));
    for (const { record } of forgotten) forgetRun(cron, record, this.store.now());
    return forgotten.length;
  }
}

/** By when each came into its state; of those that did at once the later instant first. */
function latestFirst(one: MemoryRun, other: MemoryRun): number {
  const [a, b] = [one, other].map(({ record, doubtedAt }) => record.finishedAt ?? doubtedAt) as [number, number];
  return b - a || (one.record.id < other.record.id ? 1 : -1);
}
