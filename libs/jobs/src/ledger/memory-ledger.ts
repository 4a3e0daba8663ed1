import { NO_FENCE, type Clock } from '@fencepost/lease';
import type {
  AttemptOutcome,
  AttemptRef,
  BeginEffectReply,
  BeginReply,
  BeginRequest,
  ClaimReply,
  ClaimRequest,
  CronRecord,
  Delivery,
  FinishEffectReply,
  Ledger,
  OverdueRun,
} from './ledger.js';
import { checkBegin, checkClaim, checkOutcome, checkWhole } from './ledger-request.js';
import { LEDGER_BATCH, LEDGER_TIMING, type LedgerTiming } from './ledger-timing.js';
import { beginInMemory, currentRun, finishInMemory } from './memory-attempt.js';
import { claimInMemory } from './memory-claim.js';
import { beginEffectInMemory, finishEffectInMemory } from './memory-effect.js';
import { isAlive, move, newCron, snapshot, type MemoryCron, type MemoryRun } from './memory-ledger-record.js';
import { isTerminal, type RunState } from './run-state.js';
import type { Run, SkipRange } from './run.js';
import { cronOfRun } from '../schedule/occurrence.js';

/**
 * The ledger in memory, for tests: the twin of `RedisLedger`, on the same contract suite. One instance is one store, and
 * `clock` is the store's clock. Every method runs in one turn of the event loop, which is what makes it atomic.
 */
export class MemoryLedger implements Ledger {
  readonly #crons = new Map<string, MemoryCron>();
  readonly #timing: LedgerTiming;

  constructor(
    private readonly clock: Clock,
    timing: Partial<LedgerTiming> = {},
  ) {
    this.#timing = { ...LEDGER_TIMING, ...timing };
  }

  async readCron(cron: string): Promise<CronRecord> {
    const { fence, cursor, generation, refusals } = this.#cron(cron);
    return { fence, cursor, generation, refusals };
  }

  async claim(request: ClaimRequest): Promise<ClaimReply> {
    checkClaim(request);
    return claimInMemory(this.#cron(request.cron), request, { now: this.clock.now(), timing: this.#timing });
  }

  async confirm(runIds: readonly string[]): Promise<void> {
    for (const runId of runIds) {
      const run = this.#run(runId);
      if (run?.record.state !== 'claimed') continue;
      move(run, 'confirm');
      run.record.enqueuedAt = this.clock.now();
      run.lookAt = this.clock.now() + this.#timing.sweepMs;
    }
  }

  async pending(cron: string): Promise<Delivery[]> {
    const claimed = this.#runs(cron).filter(({ record }) => record.state === 'claimed');
    return claimed.slice(0, LEDGER_BATCH).map(({ record }) => ({ runId: record.id, delivery: record.delivery }));
  }

  async overdue(cron: string, againMs: number): Promise<OverdueRun[]> {
    checkWhole('againMs', againMs, 0);
    const now = this.clock.now();
    const due = this.#runs(cron)
      .flatMap((run) => (run.lookAt !== null && run.lookAt <= now ? [{ run, lookAt: run.lookAt }] : []))
      .toSorted((a, b) => a.lookAt - b.lookAt);
    return due.slice(0, LEDGER_BATCH).map(({ run }) => {
      run.lookAt = now + againMs;
      return { runId: run.record.id, delivery: run.record.delivery, state: run.record.state };
    });
  }

  async redeliver(last: Delivery, nonce: string): Promise<Delivery | null> {
    const run = this.#run(last.runId);
    if (!run) return null;
    const { record } = run;
    if (run.deliveryNonce === nonce) return { runId: record.id, delivery: record.delivery };
    if (isTerminal(record.state) || isAlive(run, this.clock.now()) || record.delivery !== last.delivery) return null;
    if (record.state === 'running') move(run, 'orphan');
    run.deliveryNonce = nonce;
    record.delivery += 1;
    return { runId: record.id, delivery: record.delivery };
  }

  async begin(request: BeginRequest): Promise<BeginReply> {
    checkBegin(request);
    return beginInMemory(this.#cron(cronOfRun(request.runId)), request, this.clock.now());
  }

  async heartbeat(attempt: AttemptRef, ttlMs: number): Promise<boolean> {
    checkWhole('ttlMs', ttlMs, 1);
    const run = this.#holding(attempt);
    if (!run) return this.#refuse(attempt, false);
    run.leaseMs = ttlMs;
    run.leaseUntil = run.lookAt = this.clock.now() + ttlMs;
    return true;
  }

  async beginEffect(attempt: AttemptRef, effect: string): Promise<BeginEffectReply> {
    const run = this.#holding(attempt);
    return run ? beginEffectInMemory(run, effect, attempt) : this.#refuse(attempt, { verdict: 'stale' });
  }

  async finishEffect(attempt: AttemptRef, effect: string, result: string): Promise<FinishEffectReply> {
    const run = this.#run(attempt.runId);
    if (!run) return this.#refuse(attempt, 'stale');
    const current = currentRun(run, attempt) !== null;
    const reply = finishEffectInMemory(run, effect, { ...attempt, current, result });
    return reply === 'stale' || reply === 'late' ? this.#refuse(attempt, reply) : reply;
  }

  async finish(attempt: AttemptRef, outcome: AttemptOutcome): Promise<RunState | null> {
    checkOutcome(outcome);
    const run = this.#run(attempt.runId);
    const current = currentRun(run, attempt);
    if (current) return finishInMemory(current, outcome, { now: this.clock.now(), timing: this.#timing });
    return run?.finished?.nonce === attempt.nonce ? run.finished.state : this.#refuse(attempt, null);
  }

  async readRun(runId: string): Promise<Run | null> {
    const run = this.#run(runId);
    return run ? snapshot(run) : null;
  }

  async runs(cron: string, limit: number): Promise<Run[]> {
    return this.#runs(cron).toReversed().slice(0, Math.max(0, limit)).map(snapshot);
  }

  async skips(cron: string, limit: number): Promise<SkipRange[]> {
    return structuredClone(this.#cron(cron).skips.toReversed().slice(0, Math.max(0, limit)));
  }

  async forget(cron: string, keep: number): Promise<number> {
    checkWhole('keep', keep, 0);
    const { runs, skips } = this.#cron(cron);
    skips.splice(0, Math.max(0, skips.length - keep));
    const surplus = this.#runs(cron).slice(0, Math.min(Math.max(0, runs.size - keep), LEDGER_BATCH));
    const forgotten = surplus.filter(({ record }) => isTerminal(record.state));
    for (const { record } of forgotten) runs.delete(record.id);
    return forgotten.length;
  }

  /** Finished runs whose time is up are gone at the next look, as keys that expire are. */
  #cron(cron: string): MemoryCron {
    const record = this.#crons.get(cron) ?? newCron(NO_FENCE);
    this.#crons.set(cron, record);
    const keptSince = this.clock.now() - this.#timing.keepMs;
    for (const [id, run] of record.runs) {
      if (run.record.finishedAt !== null && run.record.finishedAt <= keptSince) record.runs.delete(id);
    }
    return record;
  }

  #run(runId: string): MemoryRun | undefined {
    return this.#cron(cronOfRun(runId)).runs.get(runId);
  }

  #runs(cron: string): MemoryRun[] {
    return [...this.#cron(cron).runs.values()].toSorted((a, b) => a.record.scheduledAt - b.record.scheduledAt);
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
