import type {
  AttemptLog,
  AttemptOutcome,
  AttemptRef,
  BeginEffectReply,
  BeginReply,
  BeginRequest,
  EffectOutcome,
  EffectRequest,
  FinishEffectReply,
  HeartbeatReply,
  ItemsStep,
} from '../base/ledger.js';
import { checkBegin, checkOutcome, checkWhole } from '../base/ledger-request.js';
import { beginInMemory, currentRun, finishInMemory } from './memory-attempt.js';
import { advanceItemsInMemory, beginEffectInMemory, finishEffectInMemory } from './memory-effect.js';
import { isAlive, type MemoryRun } from './memory-ledger-record.js';
import { MemoryOperatorLog } from './memory-operator-log.js';
import { cronOfRun } from '../base/occurrence.js';
import type { RunState } from '../base/run-state.js';
import type { WaitReason } from '../base/run.js';

const WAITING: readonly RunState[] = ['claimed', 'enqueued', 'orphaned'];

export class MemoryAttemptLog extends MemoryOperatorLog implements AttemptLog {
  async begin(request: BeginRequest): Promise<BeginReply> {
    checkBegin(request);
    return beginInMemory(this.store.cron(cronOfRun(request.runId)), request, this.store.now());
  }

  async heartbeat(attempt: AttemptRef, ttlMs: number): Promise<HeartbeatReply> {
    checkWhole('ttlMs', ttlMs, 1);
    const run = this.#holding(attempt);
    if (!run) return this.#refuse(attempt, 'stale');
    const { cancel } = run.record;
    run.leaseMs = ttlMs;
    run.leaseUntil = run.lookAt = Math.min(this.store.now() + ttlMs, cancel?.until ?? Infinity);
    return cancel ? 'cancelled' : 'extended';
  }

  async beginEffect(attempt: AttemptRef, request: EffectRequest): Promise<BeginEffectReply> {
    const run = this.#holding(attempt);
    if (!run) return this.#refuse(attempt, { verdict: 'stale' });
    return beginEffectInMemory(run, request, { ...attempt, now: this.store.now() });
  }

  async finishEffect(attempt: AttemptRef, effect: string, outcome: EffectOutcome): Promise<FinishEffectReply> {
    const run = this.store.run(attempt.runId);
    if (!run) return this.#refuse(attempt, 'stale');
    const current = currentRun(run, attempt) !== null;
    const reply = finishEffectInMemory(run, effect, { ...attempt, current, outcome, now: this.store.now() });
    return reply === 'stale' || reply === 'late' ? this.#refuse(attempt, reply) : reply;
  }

  async advanceItems(attempt: AttemptRef, effect: string, step: ItemsStep): Promise<'recorded' | 'stale'> {
    const run = this.store.run(attempt.runId);
    if (!run) return this.#refuse(attempt, 'stale');
    const at = { ...attempt, holds: this.#holding(attempt) !== null, now: this.store.now() };
    const reply = advanceItemsInMemory(run, effect, { ...step, ...at });
    return reply === 'stale' ? this.#refuse(attempt, reply) : reply;
  }

  async finish(attempt: AttemptRef, outcome: AttemptOutcome): Promise<RunState | null> {
    checkOutcome(outcome);
    const run = this.store.run(attempt.runId);
    const current = currentRun(run, attempt);
    if (current) {
      const cron = this.store.cron(current.record.cron);
      return finishInMemory(cron, current, { outcome, ...this.store.time() });
    }
    return run?.finished?.nonce === attempt.nonce ? run.finished.state : this.#refuse(attempt, null);
  }

  async noteWaiting(runId: string, reason: WaitReason | null): Promise<void> {
    const record = this.store.run(runId)?.record;
    if (record && WAITING.includes(record.state)) record.waiting = reason;
  }

  /** The run of an attempt that is the current one and whose lease has not expired. */
  #holding(attempt: AttemptRef): MemoryRun | null {
    const run = currentRun(this.store.run(attempt.runId), attempt);
    return run && isAlive(run, this.store.now()) ? run : null;
  }

  #refuse<T>(attempt: AttemptRef, answer: T): T {
    this.store.cron(cronOfRun(attempt.runId)).refusals += 1;
    return answer;
  }
}
