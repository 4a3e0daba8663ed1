import type { SqlClient, SqlConnection } from '@fencepost/lease/postgres';
import type { StopWatching } from '@fencepost/lease/store';
import type {
  Account,
  AccountRequest,
  AttemptOutcome,
  AttemptRef,
  BeginEffectReply,
  BeginReply,
  BeginRequest,
  CancelReply,
  ClaimReply,
  ClaimRequest,
  CronRecord,
  Delivery,
  EffectOutcome,
  EffectRequest,
  FinishEffectReply,
  HeartbeatReply,
  ItemRecord,
  ItemsStep,
  Notification,
  OperatorOrder,
  ResolveReply,
  ResolveRequest,
  TriggerReply,
  TriggerRequest,
} from '../ledger.js';
import type { OverdueOptions, OverdueRun, OverdueRuns } from '../overdue.js';
import type { EffectRecord, OperatorAction, Pause, Run, SkipRange, WaitReason } from '../run.js';
import type { RunState } from '../run-state.js';
import type { TransactionalLedger, TransactionReply, TransactionRequest } from '../transactional-ledger.js';
import { PostgresAttempts } from './postgres-attempts.js';
import { claimAllInPostgres, claimInPostgres, confirmInPostgres } from './postgres-claim.js';
import { overdueInPostgres, redeliverInPostgres } from './postgres-delivery.js';
import { PostgresHistory } from './postgres-history.js';
import { PostgresLedgerAccess, type PostgresLedgerOptions } from './postgres-ledger-access.js';
import { PostgresOperations } from './postgres-operations.js';

/**
 * The ledger in PostgreSQL. Each method is one call of a function there, and a transaction of its own, in which the row of
 * the cron is locked first; the functions say what they refuse. {@link migrateLedger} makes them.
 *
 * What a committed transaction survives, a run survives: a restart, a failover to a synchronous standby. With
 * `synchronous_commit = off`, or a failover to an asynchronous one, what was recorded last can be lost.
 */
export class PostgresLedger implements TransactionalLedger {
  readonly #access: PostgresLedgerAccess;
  readonly #history: PostgresHistory;
  readonly #operations: PostgresOperations;
  readonly #attempts: PostgresAttempts;

  /** @throws {SetupError} for a prefix, tenant or schema that can't be one; each method, when the tables are not there */
  constructor(options: PostgresLedgerOptions) {
    this.#access = new PostgresLedgerAccess(options);
    this.#history = new PostgresHistory(this.#access);
    this.#operations = new PostgresOperations(this.#access);
    this.#attempts = new PostgresAttempts(this.#access);
  }

  /**
   * Checks the version of the tables now. While this release doesn't work with it nothing new begins here.
   * @throws {SetupError} when it doesn't, and what the pool throws when the server could not be asked
   */
  checkSchema(): Promise<void> {
    return this.#access.checkSchema();
  }

  async readCron(cron: string): Promise<CronRecord> {
    const [record] = await this.#history.readCrons([cron]);
    return record as CronRecord;
  }

  async readCrons(crons: readonly string[]): Promise<CronRecord[]> {
    return this.#history.readCrons(crons);
  }

  async claim(request: ClaimRequest): Promise<ClaimReply> {
    return claimInPostgres(this.#access, request);
  }

  async claimAll(requests: readonly ClaimRequest[]): Promise<PromiseSettledResult<ClaimReply>[]> {
    return claimAllInPostgres(this.#access, requests);
  }

  async trigger(request: TriggerRequest): Promise<TriggerReply> {
    return this.#operations.trigger(request);
  }

  async triggerIn(tx: SqlClient, request: TriggerRequest): Promise<TriggerReply> {
    return this.#operations.triggerIn(tx, request);
  }

  async watchTriggered(onTriggered: (runId: string) => void): Promise<StopWatching> {
    return this.#operations.watchTriggered(onTriggered);
  }

  async waitingCrons(limit: number): Promise<string[]> {
    return this.#history.waitingCrons(limit);
  }

  async pause(cron: string, order: OperatorOrder & { readonly until: number | null }): Promise<Pause> {
    return this.#operations.pause(cron, order);
  }

  async resume(cron: string, order: OperatorOrder): Promise<Pause | null> {
    return this.#operations.resume(cron, order);
  }

  async cancel(runId: string, order: OperatorOrder & { readonly graceMs: number }): Promise<CancelReply> {
    return this.#attempts.cancel(runId, order);
  }

  async actions(cron: string, limit: number): Promise<OperatorAction[]> {
    return this.#history.actions(cron, limit);
  }

  async noteWaiting(runId: string, reason: WaitReason): Promise<void> {
    return this.#history.noteWaiting(runId, reason);
  }

  async account(...asked: AccountRequest): Promise<Account> {
    return this.#history.account(...asked);
  }

  async confirm(runIds: readonly string[]): Promise<void> {
    return confirmInPostgres(this.#access, runIds);
  }

  async pending(cron: string): Promise<Delivery[]> {
    return this.#history.pending(cron);
  }

  async overdueAll(crons: readonly string[], options: OverdueOptions): Promise<PromiseSettledResult<OverdueRuns>[]> {
    return overdueInPostgres(this.#access, crons, options);
  }

  async unstarted(cron: string, limit: number): Promise<OverdueRun[]> {
    return this.#history.unstarted(cron, limit);
  }

  async redeliver(last: Delivery, nonce: string): Promise<Delivery | null> {
    return redeliverInPostgres(this.#access, last, nonce);
  }

  async begin(request: BeginRequest): Promise<BeginReply> {
    return this.#attempts.begin(request);
  }

  async heartbeat(attempt: AttemptRef, ttlMs: number): Promise<HeartbeatReply> {
    return this.#attempts.heartbeat(attempt, ttlMs);
  }

  async beginEffect(attempt: AttemptRef, request: EffectRequest): Promise<BeginEffectReply> {
    return this.#attempts.beginEffect(attempt, request);
  }

  async finishEffect(attempt: AttemptRef, effect: string, outcome: EffectOutcome): Promise<FinishEffectReply> {
    return this.#attempts.finishEffect(attempt, effect, outcome);
  }

  async effects(runId: string): Promise<EffectRecord[]> {
    return this.#attempts.effects(runId);
  }

  async items(runId: string, effect: string): Promise<ItemRecord[]> {
    return this.#attempts.items(runId, effect);
  }

  async advanceItems(attempt: AttemptRef, effect: string, step: ItemsStep): Promise<'recorded' | 'stale'> {
    return this.#attempts.advanceItems(attempt, effect, step);
  }

  async resolve(runId: string, request: ResolveRequest): Promise<ResolveReply> {
    return this.#attempts.resolve(runId, request);
  }

  async finish(attempt: AttemptRef, outcome: AttemptOutcome): Promise<RunState | null> {
    return this.#attempts.finish(attempt, outcome);
  }

  async transaction(
    attempt: AttemptRef,
    request: TransactionRequest,
    work: (tx: SqlConnection) => Promise<string>,
  ): Promise<TransactionReply> {
    return this.#attempts.transaction(attempt, request, work);
  }

  async notifications(cron: string, limit: number): Promise<Notification[]> {
    return this.#history.notifications(cron, limit);
  }

  async settleNotifications(cron: string, receipts: readonly string[]): Promise<void> {
    return this.#history.settleNotifications(cron, receipts);
  }

  async readRun(runId: string): Promise<Run | null> {
    return this.#history.readRun(runId);
  }

  async runsIn(state: 'failed' | 'uncertain', crons: readonly string[], limit: number): Promise<Run[]> {
    return this.#history.runsIn(state, crons, limit);
  }

  async countRuns(crons: readonly string[]): Promise<number[]> {
    return this.#history.countRuns(crons);
  }

  async countKeys(cron: string): Promise<number> {
    return this.#history.countKeys(cron);
  }

  async runs(cron: string, limit: number): Promise<Run[]> {
    return this.#history.runs(cron, limit);
  }

  async skips(cron: string, limit: number): Promise<SkipRange[]> {
    return this.#history.skips(cron, limit);
  }

  async forget(cron: string, keep: number): Promise<number> {
    return this.#history.forget(cron, keep);
  }
}
