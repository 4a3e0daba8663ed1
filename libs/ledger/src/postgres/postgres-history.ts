import { parseFence } from '@fencepost/lease';
import { cronOfRun } from '../occurrence.js';
import type { Account, AccountRequest, CronRecord, Delivery, Notification } from '../ledger.js';
import { checkRange, checkWhole } from '../ledger-request.js';
import { LEDGER_BATCH } from '../ledger-timing.js';
import type { OverdueRun } from '../overdue.js';
import type { OperatorAction, Run, SkipRange, WaitReason } from '../run.js';
import { readDelivery, type DeliveryRow } from './postgres-delivery.js';
import type { PostgresLedgerAccess } from './postgres-ledger-access.js';
import { readRunRow, type RunRow } from './postgres-run-record.js';
import { inBatches } from './postgres-value.js';

/** Read by one statement. */
const MAX_CRONS = 500;

type CronRow = Omit<CronRecord, 'fence'> & { readonly fence: string };

/** What the ledger in PostgreSQL knows of the past, and how it forgets it. */
export class PostgresHistory {
  constructor(private readonly access: PostgresLedgerAccess) {}

  async readCrons(crons: readonly string[]): Promise<CronRecord[]> {
    const rows = await Promise.all(
      inBatches(crons, MAX_CRONS).map((batch) => this.#ask<CronRow[]>('read_crons', batch)),
    );
    return rows.flat().map((row) => ({ ...row, fence: parseFence(row.fence) }));
  }

  async readRun(runId: string): Promise<Run | null> {
    // Whatever is no id of a run is an error here as it is in the other ledgers.
    cronOfRun(runId);
    const row = await this.#ask<RunRow | null>('read_run', runId, this.access.timing.keepMs);
    return row && readRunRow(row);
  }

  async countRuns(crons: readonly string[]): Promise<number[]> {
    const { keepMs } = this.access.timing;
    const counts = inBatches(crons, MAX_CRONS).map((batch) => this.#ask<number[]>('count_runs', batch, keepMs));
    return (await Promise.all(counts)).flat();
  }

  async runs(cron: string, limit: number): Promise<Run[]> {
    return this.#runs('list_runs', cron, atLeastNone(limit));
  }

  async runsIn(state: 'failed' | 'uncertain', crons: readonly string[], limit: number): Promise<Run[]> {
    return this.#runs('list_runs_in', state, crons, atLeastNone(limit));
  }

  async skips(cron: string, limit: number): Promise<SkipRange[]> {
    return this.#ask('list_skips', cron, atLeastNone(limit));
  }

  async pending(cron: string): Promise<Delivery[]> {
    return (await this.#ask<DeliveryRow[]>('list_pending', cron, LEDGER_BATCH)).map(readDelivery);
  }

  async unstarted(cron: string, limit: number): Promise<OverdueRun[]> {
    type Row = Omit<OverdueRun, 'priority'> & DeliveryRow;
    return (await this.#ask<Row[]>('list_unstarted', cron, atLeastNone(limit))).map(readDelivery);
  }

  async notifications(cron: string, limit: number): Promise<Notification[]> {
    return this.#ask('list_notifications', cron, atLeastNone(limit));
  }

  async settleNotifications(cron: string, receipts: readonly string[]): Promise<void> {
    if (receipts.length > 0) await this.#ask('settle_notifications', cron, receipts);
  }

  async waitingCrons(limit: number): Promise<string[]> {
    return this.#ask('list_waiting', atLeastNone(limit));
  }

  async actions(cron: string, limit: number): Promise<OperatorAction[]> {
    return this.#ask('list_actions', cron, atLeastNone(limit));
  }

  async account(...[cron, from, to, most]: AccountRequest): Promise<Account> {
    checkRange(from, to);
    if (most !== undefined) checkWhole('most', most, 1);
    const end = most === undefined ? to : await this.#ask<number>('find_account_end', cron, from, to, most);
    type Row = Omit<Account, 'runs'> & { readonly runs: readonly RunRow[] };
    const row = await this.#ask<Row>('read_account', cron, from, end, this.access.timing.keepMs);
    return { ...row, runs: row.runs.map(readRunRow), ...(end < to && { more: end }) };
  }

  async countKeys(cron: string): Promise<number> {
    return this.#ask('count_keys', cron);
  }

  async forget(cron: string, keep: number): Promise<number> {
    checkWhole('keep', keep, 0);
    return this.#ask('forget_runs', cron, keep, this.access.timing.keepMs, LEDGER_BATCH);
  }

  async noteWaiting(runId: string, reason: WaitReason): Promise<void> {
    await this.#ask('note_waiting', cronOfRun(runId), runId, reason);
  }

  async #runs(name: 'list_runs' | 'list_runs_in', ...args: readonly unknown[]): Promise<Run[]> {
    return (await this.#ask<RunRow[]>(name, ...args, this.access.timing.keepMs)).map(readRunRow);
  }

  #ask<T>(name: string, ...args: readonly unknown[]): Promise<T> {
    return this.access.call<T>(name, [this.access.space, ...args]);
  }
}

function atLeastNone(limit: number): number {
  return Math.max(0, limit);
}
