import { parseFence } from '@fencepost/lease';
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
} from '../base/ledger.js';
import { checkRange, checkTally, checkWhole } from '../base/ledger-request.js';
import { readEach } from '../base/format.js';
import { FORGET_BATCH, MAX_LOOKED_BACK } from '../base/ledger-timing.js';
import { cronOfRun } from '../base/occurrence.js';
import type { EffectRecord, Run, SkipRange } from '../base/run.js';
import { askEach } from './postgres-failure.js';
import type { PostgresLedgerAccess } from './postgres-ledger-access.js';
import { decodeNotification, decodeRun, type NotificationRow, type RunRow } from './postgres-run-codec.js';
import { inBatches, untilAnswered } from '../catalog/in-batches.js';

/** Read by one statement. */
const MAX_CRONS = 500;

/** Read by one statement, with their effects. */
const MAX_RUNS = 250;

/** Whose rows are locked by one statement while their runs are forgotten. */
const MAX_FORGETTING = 200;

/** After this many forgotten runs, a statement leaves the remaining crons to the next: it takes some ten milliseconds. */
const ENOUGH_FORGOTTEN = 1_500;

type EffectRow = Omit<EffectRecord, 'fence'> & { readonly fence: string };

/** What the ledger in PostgreSQL knows of the past, and how it forgets it. */
export class PostgresRunHistory implements RunHistory {
  constructor(protected readonly access: PostgresLedgerAccess) {}

  async readRun(runId: string): Promise<Run | null> {
    // Whatever is no id of a run is an error here as it is in the other ledgers.
    cronOfRun(runId);
    const row = await this.ask<RunRow | null>('read_run', runId, this.access.timing.keepMs);
    return row && decodeRun(row);
  }

  async readWithEffects(runIds: readonly string[]): Promise<RunWithEffects[]> {
    type Row = { readonly run: RunRow; readonly effects: readonly EffectRow[] };
    const { keepMs } = this.access.timing;
    const found = inBatches(runIds, MAX_RUNS).map((batch) => this.ask<Row[]>('list_runs_with_effects', batch, keepMs));
    const rows = (await Promise.all(found)).flat();
    return readEach(rows, ({ run, effects }) => ({ run: decodeRun(run), effects: effects.map(decodeEffect) }));
  }

  async previousSuccess(runId: string): Promise<Run | null> {
    cronOfRun(runId);
    const row = await this.ask<RunRow | null>('find_success', runId, MAX_LOOKED_BACK, this.access.timing.keepMs);
    return row && decodeRun(row);
  }

  async countRuns(crons: readonly string[]): Promise<number[]> {
    const { keepMs } = this.access.timing;
    const counts = inBatches(crons, MAX_CRONS).map((batch) => this.ask<number[]>('count_runs', batch, keepMs));
    return (await Promise.all(counts)).flat();
  }

  async runs(cron: string, limit: number): Promise<Run[]> {
    const [runs = []] = await this.newestRuns([cron], limit);
    return runs;
  }

  async newestRuns(...[crons, limit, range]: NewestRequest): Promise<Run[][]> {
    const { from = null, to = null } = range ?? {};
    const found = inBatches(crons, MAX_CRONS).map((batch) =>
      this.ask<RunRow[][]>('list_newest_runs', batch, atLeastNone(limit), from, to, this.access.timing.keepMs),
    );
    return (await Promise.all(found)).flat().map((rows) => rows.map(decodeRun));
  }

  async runsIn(state: 'failed' | 'uncertain', crons: readonly string[], limit: number): Promise<Run[]> {
    const rows = await this.ask<RunRow[]>('list_runs_in', state, crons, atLeastNone(limit), this.access.timing.keepMs);
    return rows.map(decodeRun);
  }

  async notable(crons: readonly string[]): Promise<string[]> {
    const { keepMs } = this.access.timing;
    const found = inBatches(crons, MAX_CRONS).map((batch) => this.ask<string[]>('list_notable', batch, keepMs));
    return (await Promise.all(found)).flat();
  }

  async skips(cron: string, limit: number): Promise<SkipRange[]> {
    const [skips = []] = await this.newestSkips([cron], limit);
    return skips;
  }

  async newestSkips(crons: readonly string[], limit: number): Promise<SkipRange[][]> {
    const found = inBatches(crons, MAX_CRONS).map((batch) =>
      this.ask<SkipRange[][]>('list_newest_skips', batch, atLeastNone(limit)),
    );
    return (await Promise.all(found)).flat();
  }

  async notifications(cron: string, limit: number): Promise<Notification[]> {
    return (await this.ask<NotificationRow[]>('list_notifications', cron, atLeastNone(limit))).map(decodeNotification);
  }

  async settleNotifications(cron: string, receipts: readonly string[]): Promise<void> {
    if (receipts.length > 0) await this.ask('settle_notifications', cron, receipts);
  }

  async effects(runId: string): Promise<EffectRecord[]> {
    const rows = await this.access.askInTime<EffectRow[]>('list_effects', [this.access.space, runId]);
    return rows.map(decodeEffect);
  }

  async items(runId: string, effect: string): Promise<ItemRecord[]> {
    return this.access.askInTime('list_items', [this.access.space, runId, effect]);
  }

  async account(...[cron, from, to, most]: AccountRequest): Promise<Account> {
    checkRange(from, to);
    if (most !== undefined) checkWhole('most', most, 1);
    const end = most === undefined ? to : await this.ask<number>('find_account_end', cron, from, to, most);
    type Row = Omit<Account, 'runs'> & { readonly runs: readonly RunRow[] };
    const row = await this.ask<Row>('read_account', cron, from, end, this.access.timing.keepMs);
    return { ...row, runs: row.runs.map(decodeRun), ...(end < to && { more: end }) };
  }

  async tally(cron: string, { from, to, bucketMs, graceMs, most }: TallyRequest): Promise<Tally> {
    checkTally({ from, to, bucketMs, graceMs, most });
    const end = await this.ask<number>('find_account_end', cron, from, to, most);
    const { keepMs } = this.access.timing;
    const tally = await this.ask<Tally>('tally_runs', cron, from, end, bucketMs, graceMs, keepMs);
    return { ...tally, ...(end < to && { more: end }) };
  }

  async countKeys(cron: string): Promise<number> {
    return this.ask('count_keys', cron);
  }

  /** One statement after the other: none of this is urgent, and each locks its crons. */
  async forgetAll(crons: readonly string[], keep: number): Promise<PromiseSettledResult<number>[]> {
    checkWhole('keep', keep, 0);
    const limits = [keep, this.access.timing.keepMs, FORGET_BATCH, ENOUGH_FORGOTTEN];
    const forget = (rest: readonly string[]) => this.ask<number[]>('forget_runs', rest, ...limits);
    const outcomes: PromiseSettledResult<number>[] = [];
    for (const batch of inBatches(crons, MAX_FORGETTING)) {
      outcomes.push(...(await askEach(batch, (some) => untilAnswered(some, forget))));
    }
    return outcomes;
  }

  protected ask<T>(name: string, ...args: readonly unknown[]): Promise<T> {
    return this.access.call<T>(name, [this.access.space, ...args]);
  }
}

function decodeEffect(row: EffectRow): EffectRecord {
  return { ...row, fence: parseFence(row.fence) };
}

export function atLeastNone(limit: number): number {
  return Math.max(0, limit);
}
