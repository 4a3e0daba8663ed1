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
  Ledger,
  Notification,
  OperatorOrder,
  ResolveReply,
  ResolveRequest,
  TriggerReply,
  TriggerRequest,
} from './ledger.js';
import type { OverdueOptions, OverdueRun, OverdueRuns } from './overdue.js';
import { RedisAttempts } from './redis-attempts.js';
import { claimAllInRedis, claimInRedis, confirmInRedis } from './redis-claim.js';
import { RedisEffects } from './redis-effects.js';
import { RedisRunHistory } from './redis-run-history.js';
import { RedisLedgerAccess, type RedisLedgerOptions } from './redis-ledger-access.js';
import { notificationsInRedis, settleInRedis } from './redis-notifications.js';
import { RedisOperations } from './redis-operations.js';
import { overdueInRedis } from './redis-overdue.js';
import { resolveInRedis } from './redis-resolve.js';
import type { EffectRecord, OperatorAction, Pause, Run, SkipRange, WaitReason } from './run.js';
import type { RunState } from './run-state.js';

/** The ledger in Redis. Each method is one script, and each script one atomic step; the scripts say what they refuse. */
export class RedisLedger implements Ledger {
  readonly #access: RedisLedgerAccess;
  readonly #history: RedisRunHistory;
  readonly #operations: RedisOperations;
  readonly #attempts: RedisAttempts;
  readonly #effects: RedisEffects;

  constructor(options: RedisLedgerOptions) {
    this.#access = new RedisLedgerAccess(options);
    this.#history = new RedisRunHistory(this.#access);
    this.#operations = new RedisOperations(this.#access);
    this.#attempts = new RedisAttempts(this.#access);
    this.#effects = new RedisEffects(this.#access);
  }

  async readCron(cron: string): Promise<CronRecord> {
    const [record] = await this.#history.readCrons([cron]);
    return record as CronRecord;
  }

  async readCrons(crons: readonly string[]): Promise<CronRecord[]> {
    return this.#history.readCrons(crons);
  }

  async claim(request: ClaimRequest): Promise<ClaimReply> {
    return claimInRedis(this.#access, request);
  }

  async claimAll(requests: readonly ClaimRequest[]): Promise<PromiseSettledResult<ClaimReply>[]> {
    return claimAllInRedis(this.#access, requests);
  }

  async trigger(request: TriggerRequest): Promise<TriggerReply> {
    return this.#operations.trigger(request);
  }

  async pause(cron: string, order: OperatorOrder & { readonly until: number | null }): Promise<Pause> {
    return this.#operations.pause(cron, order);
  }

  async resume(cron: string, order: OperatorOrder): Promise<Pause | null> {
    return this.#operations.resume(cron, order);
  }

  async actions(cron: string, limit: number): Promise<OperatorAction[]> {
    return this.#history.actions(cron, limit);
  }

  async account(...asked: AccountRequest): Promise<Account> {
    return this.#history.account(...asked);
  }

  async confirm(runIds: readonly string[]): Promise<void> {
    await confirmInRedis(this.#access, runIds);
  }

  async pending(cron: string): Promise<Delivery[]> {
    return this.#history.pending(cron);
  }

  async overdueAll(crons: readonly string[], options: OverdueOptions): Promise<PromiseSettledResult<OverdueRuns>[]> {
    return overdueInRedis(this.#access, crons, options);
  }

  async unstarted(cron: string, limit: number): Promise<OverdueRun[]> {
    return this.#history.unstarted(cron, limit);
  }

  async redeliver(last: Delivery, nonce: string): Promise<Delivery | null> {
    return this.#attempts.redeliver(last, nonce);
  }

  async begin(request: BeginRequest): Promise<BeginReply> {
    return this.#attempts.begin(request);
  }

  async heartbeat(attempt: AttemptRef, ttlMs: number): Promise<HeartbeatReply> {
    return this.#attempts.heartbeat(attempt, ttlMs);
  }

  async beginEffect(attempt: AttemptRef, request: EffectRequest): Promise<BeginEffectReply> {
    return this.#effects.begin(attempt, request);
  }

  async finishEffect(attempt: AttemptRef, effect: string, outcome: EffectOutcome): Promise<FinishEffectReply> {
    return this.#effects.finish(attempt, effect, outcome);
  }

  async effects(runId: string): Promise<EffectRecord[]> {
    return this.#effects.list(runId);
  }

  async items(runId: string, effect: string): Promise<ItemRecord[]> {
    return this.#effects.items(runId, effect);
  }

  async advanceItems(attempt: AttemptRef, effect: string, step: ItemsStep): Promise<'recorded' | 'stale'> {
    return this.#effects.advanceItems(attempt, effect, step);
  }

  async resolve(runId: string, request: ResolveRequest): Promise<ResolveReply> {
    return resolveInRedis(this.#access, runId, request);
  }

  async finish(attempt: AttemptRef, outcome: AttemptOutcome): Promise<RunState | null> {
    return this.#attempts.finish(attempt, outcome);
  }

  async cancel(runId: string, order: OperatorOrder & { readonly graceMs: number }): Promise<CancelReply> {
    return this.#attempts.cancel(runId, order);
  }

  async noteWaiting(runId: string, reason: WaitReason): Promise<void> {
    return this.#attempts.noteWaiting(runId, reason);
  }

  async notifications(cron: string, limit: number): Promise<Notification[]> {
    return notificationsInRedis(this.#access, cron, limit);
  }

  async settleNotifications(cron: string, receipts: readonly string[]): Promise<void> {
    return settleInRedis(this.#access, cron, receipts);
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
