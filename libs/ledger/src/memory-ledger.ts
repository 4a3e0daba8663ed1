import type { Clock } from '@fencepost/lease';
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
import {
  checkBegin,
  checkClaim,
  checkOutcome,
  checkOverdue,
  checkPause,
  checkTrigger,
  checkWhole,
} from './ledger-request.js';
import { LEDGER_TIMING, type LedgerTiming } from './ledger-timing.js';
import { beginInMemory, currentRun, finishInMemory } from './memory-attempt.js';
import { cancelInMemory } from './memory-cancel.js';
import { claimInMemory } from './memory-claim.js';
import { confirmInMemory, redeliverInMemory } from './memory-delivery.js';
import { beginEffectInMemory, effectsInMemory, finishEffectInMemory } from './memory-effect.js';
import { MemoryHistory } from './memory-history.js';
import { advanceItemsInMemory, itemsInMemory } from './memory-items.js';
import { isAlive, snapshot, type MemoryCron, type MemoryRun } from './memory-ledger-record.js';
import { MemoryLedgerStore } from './memory-ledger-store.js';
import { pauseInMemory, resumeInMemory, triggerInMemory } from './memory-operations.js';
import { notificationsInMemory, settleInMemory } from './memory-notifications.js';
import { overdueInMemory } from './memory-overdue.js';
import { resolveInMemory } from './memory-resolve.js';
import type { RunState } from './run-state.js';
import type { OverdueOptions, OverdueRun, OverdueRuns } from './overdue.js';
import type { EffectRecord, OperatorAction, Pause, Run, SkipRange, WaitReason } from './run.js';
import { checkCronName, cronOfRun } from './occurrence.js';

const WAITING: readonly RunState[] = ['claimed', 'enqueued', 'orphaned'];

/**
 * The ledger in memory, for tests: an adapter like `RedisLedger`, on the same contract suite. One instance is one store, and
 * `clock` is the store's clock. Every method runs in one turn of the event loop, which is what makes it atomic.
 */
export class MemoryLedger implements Ledger {
  /** Everything it holds, to be taken and put back. */
  readonly state: Pick<MemoryLedgerStore, 'save' | 'restore'>;
  readonly #store: MemoryLedgerStore;
  readonly #history: MemoryHistory;
  readonly #timing: LedgerTiming;

  constructor(
    private readonly clock: Clock,
    timing: Partial<LedgerTiming> = {},
  ) {
    this.#timing = { ...LEDGER_TIMING, ...timing };
    this.state = this.#store = new MemoryLedgerStore(clock, this.#timing);
    this.#history = new MemoryHistory(this.#store);
  }

  async readCron(cron: string): Promise<CronRecord> {
    return this.#history.readCron(cron);
  }

  async readCrons(crons: readonly string[]): Promise<CronRecord[]> {
    return crons.map((cron) => this.#history.readCron(cron));
  }

  async claim(request: ClaimRequest): Promise<ClaimReply> {
    checkClaim(request);
    return claimInMemory(this.#cron(request.cron), request, { now: this.clock.now(), timing: this.#timing });
  }

  async claimAll(requests: readonly ClaimRequest[]): Promise<PromiseSettledResult<ClaimReply>[]> {
    return Promise.allSettled(requests.map((request) => this.claim(request)));
  }

  async trigger(request: TriggerRequest): Promise<TriggerReply> {
    checkTrigger(request);
    const cron = this.#cron(cronOfRun(request.runId));
    return triggerInMemory(cron, request, { now: this.clock.now(), timing: this.#timing });
  }

  async pause(cron: string, order: OperatorOrder & { readonly until: number | null }): Promise<Pause> {
    checkPause(cron, order);
    return pauseInMemory(this.#cron(cron), order, this.clock.now());
  }

  async resume(cron: string, order: OperatorOrder): Promise<Pause | null> {
    checkCronName(cron);
    return resumeInMemory(this.#cron(cron), order, this.clock.now());
  }

  async actions(cron: string, limit: number): Promise<OperatorAction[]> {
    return this.#history.actions(cron, limit);
  }

  async account(...asked: AccountRequest): Promise<Account> {
    return this.#history.account(...asked);
  }

  async confirm(runIds: readonly string[]): Promise<void> {
    for (const runId of runIds) {
      const run = this.#run(runId);
      if (run) confirmInMemory(run, this.clock.now(), this.#timing);
    }
  }

  async pending(cron: string): Promise<Delivery[]> {
    return this.#history.pending(cron);
  }

  async overdueAll(crons: readonly string[], options: OverdueOptions): Promise<PromiseSettledResult<OverdueRuns>[]> {
    checkOverdue(options);
    return crons.map((cron) => ({ status: 'fulfilled', value: overdueInMemory(this.#store, cron, options) }));
  }

  async unstarted(cron: string, limit: number): Promise<OverdueRun[]> {
    return this.#history.unstarted(cron, limit);
  }

  async redeliver(last: Delivery, nonce: string): Promise<Delivery | null> {
    const run = this.#run(last.runId);
    return run ? redeliverInMemory(run, { last: last.delivery, nonce, now: this.clock.now() }) : null;
  }

  async begin(request: BeginRequest): Promise<BeginReply> {
    checkBegin(request);
    return beginInMemory(this.#cron(cronOfRun(request.runId)), request, this.clock.now());
  }

  async heartbeat(attempt: AttemptRef, ttlMs: number): Promise<HeartbeatReply> {
    checkWhole('ttlMs', ttlMs, 1);
    const run = this.#holding(attempt);
    if (!run) return this.#refuse(attempt, 'stale');
    const { cancel } = run.record;
    run.leaseMs = ttlMs;
    run.leaseUntil = run.lookAt = Math.min(this.clock.now() + ttlMs, cancel?.until ?? Infinity);
    return cancel ? 'cancelled' : 'extended';
  }

  async beginEffect(attempt: AttemptRef, request: EffectRequest): Promise<BeginEffectReply> {
    const run = this.#holding(attempt);
    if (!run) return this.#refuse(attempt, { verdict: 'stale' });
    return beginEffectInMemory(run, request, { ...attempt, now: this.clock.now() });
  }

  async finishEffect(attempt: AttemptRef, effect: string, outcome: EffectOutcome): Promise<FinishEffectReply> {
    const run = this.#run(attempt.runId);
    if (!run) return this.#refuse(attempt, 'stale');
    const current = currentRun(run, attempt) !== null;
    const reply = finishEffectInMemory(run, effect, { ...attempt, current, outcome, now: this.clock.now() });
    return reply === 'stale' || reply === 'late' ? this.#refuse(attempt, reply) : reply;
  }

  async effects(runId: string): Promise<EffectRecord[]> {
    const run = this.#run(runId);
    return run ? effectsInMemory(run) : [];
  }

  async items(runId: string, effect: string): Promise<ItemRecord[]> {
    const run = this.#run(runId);
    return run ? itemsInMemory(run, effect) : [];
  }

  async advanceItems(attempt: AttemptRef, effect: string, step: ItemsStep): Promise<'recorded' | 'stale'> {
    const run = this.#run(attempt.runId);
    if (!run) return this.#refuse(attempt, 'stale');
    const at = { ...attempt, holds: this.#holding(attempt) !== null, now: this.clock.now() };
    const reply = advanceItemsInMemory(run, effect, { ...step, ...at });
    return reply === 'stale' ? this.#refuse(attempt, reply) : reply;
  }

  async resolve(runId: string, request: ResolveRequest): Promise<ResolveReply> {
    const at = { now: this.clock.now(), timing: this.#timing };
    return resolveInMemory(this.#cron(cronOfRun(runId)), this.#run(runId), { ...request, ...at });
  }

  async finish(attempt: AttemptRef, outcome: AttemptOutcome): Promise<RunState | null> {
    checkOutcome(outcome);
    const run = this.#run(attempt.runId);
    const current = currentRun(run, attempt);
    const at = { now: this.clock.now(), timing: this.#timing };
    if (current) return finishInMemory(this.#cron(current.record.cron), current, { outcome, ...at });
    return run?.finished?.nonce === attempt.nonce ? run.finished.state : this.#refuse(attempt, null);
  }

  async cancel(runId: string, order: OperatorOrder & { readonly graceMs: number }): Promise<CancelReply> {
    checkWhole('graceMs', order.graceMs, 0);
    return cancelInMemory(this.#cron(cronOfRun(runId)), this.#run(runId), { ...order, now: this.clock.now() });
  }

  async noteWaiting(runId: string, reason: WaitReason): Promise<void> {
    const record = this.#run(runId)?.record;
    if (record && WAITING.includes(record.state)) record.waiting = reason;
  }

  async notifications(cron: string, limit: number): Promise<Notification[]> {
    return notificationsInMemory(this.#cron(cron), limit);
  }

  async settleNotifications(cron: string, receipts: readonly string[]): Promise<void> {
    settleInMemory(this.#cron(cron), receipts);
  }

  async readRun(runId: string): Promise<Run | null> {
    const run = this.#run(runId);
    return run ? snapshot(run) : null;
  }

  async runsIn(state: 'failed' | 'uncertain', crons: readonly string[], limit: number): Promise<Run[]> {
    return this.#history.runsIn(state, crons, limit);
  }

  async countRuns(crons: readonly string[]): Promise<number[]> {
    return this.#history.countRuns(crons, this.#timing.keepMs);
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

  #cron(cron: string): MemoryCron {
    return this.#store.cron(cron);
  }

  #run(runId: string): MemoryRun | undefined {
    return this.#store.run(runId);
  }

  /** The run of an attempt that is the current one and whose lease has not expired. */
  #holding(attempt: AttemptRef): MemoryRun | null {
    const run = currentRun(this.#run(attempt.runId), attempt);
    return run && isAlive(run, this.clock.now()) ? run : null;
  }

  #refuse<T>(attempt: AttemptRef, answer: T): T {
    this.#cron(cronOfRun(attempt.runId)).refusals += 1;
    return answer;
  }
}
