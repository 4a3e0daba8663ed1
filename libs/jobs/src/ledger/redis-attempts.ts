import { formatFence } from '@fencepost/lease';
import type {
  AttemptOutcome,
  AttemptRef,
  BeginEffectReply,
  BeginReply,
  BeginRequest,
  CancelReply,
  Delivery,
  FinishEffectReply,
  HeartbeatReply,
  OperatorOrder,
} from './ledger.js';
import { checkBegin, checkOutcome, checkWhole } from './ledger-request.js';
import { TURN_MS } from './ledger-timing.js';
import { writeAction } from './redis-action.js';
import { beginReply } from './redis-begin.js';
import { cancelReply } from './redis-cancel.js';
import type { RedisLedgerAccess } from './redis-ledger-access.js';
import { keysOfRun, type CronKeys } from './redis-ledger-keys.js';
import type { WaitReason } from './run.js';
import type { RunState } from './run-state.js';

/** The half of the Redis ledger that workers and the sweep talk to: what becomes of a run once it is claimed. */
export class RedisAttempts {
  constructor(private readonly access: RedisLedgerAccess) {}

  async redeliver({ runId, delivery }: Delivery, nonce: string): Promise<Delivery | null> {
    const keys = this.#keys(runId);
    const reply = await this.access.call(
      'redeliver-run',
      [keys.run(runId), keys.open, keys.watch, keys.pending, keys.effects(runId)],
      [runId, delivery, nonce, this.access.timing.keepMs],
    );
    return reply[0] === 'DELIVER' ? { runId, delivery: Number(reply[1]) } : null;
  }

  async begin(request: BeginRequest): Promise<BeginReply> {
    checkBegin(request);
    const { runId, nonce, worker, ttlMs, maxAttempts } = request;
    const keys = this.#keys(runId);
    const reply = await this.access.ask(
      'begin-attempt',
      [keys.cron, keys.run(runId), keys.open, keys.watch, keys.pending, keys.effects(runId), keys.runs],
      [runId, nonce, worker, ttlMs, maxAttempts, this.access.timing.keepMs, TURN_MS],
    );
    return beginReply(reply as unknown[], keys.name);
  }

  async heartbeat(attempt: AttemptRef, ttlMs: number): Promise<HeartbeatReply> {
    checkWhole('ttlMs', ttlMs, 1);
    const keys = this.#keys(attempt.runId);
    const reply = await this.access.call(
      'heartbeat-attempt',
      [keys.cron, keys.run(attempt.runId), keys.open, keys.watch],
      [formatFence(attempt.fence), attempt.nonce, attempt.runId, ttlMs],
    );
    return (reply[0] ?? '').toLowerCase() as HeartbeatReply;
  }

  async beginEffect(attempt: AttemptRef, effect: string): Promise<BeginEffectReply> {
    const reply = await this.#effect('begin-effect', attempt, [effect]);
    if (reply[0] === 'DONE') return { verdict: 'done', result: reply[1] ?? 'null' };
    if (reply[0] === 'STALE') return { verdict: 'stale' };
    return { verdict: 'go', unknown: reply[0] === 'GO_UNKNOWN' };
  }

  async finishEffect(attempt: AttemptRef, effect: string, result: string): Promise<FinishEffectReply> {
    const reply = await this.#effect('finish-effect', attempt, [effect, result]);
    return (reply[0] ?? '').toLowerCase() as FinishEffectReply;
  }

  async finish(attempt: AttemptRef, outcome: AttemptOutcome): Promise<RunState | null> {
    checkOutcome(outcome);
    const keys = this.#keys(attempt.runId);
    const error = outcome.kind === 'succeeded' ? '' : outcome.error;
    const delayMs = outcome.kind === 'retry' ? outcome.delayMs : 0;
    const { sweepMs, keepMs } = this.access.timing;
    const reply = await this.access.call(
      'finish-attempt',
      [keys.cron, keys.run(attempt.runId), keys.open, keys.watch, keys.effects(attempt.runId)],
      [formatFence(attempt.fence), attempt.nonce, attempt.runId, outcome.kind, error, delayMs, sweepMs, keepMs],
    );
    return reply[0] === 'FINISHED' ? (reply[1] as RunState) : null;
  }

  async cancel(runId: string, order: OperatorOrder & { readonly graceMs: number }): Promise<CancelReply> {
    const { by, reason, graceMs } = order;
    checkWhole('graceMs', graceMs, 0);
    const keys = this.#keys(runId);
    const reply = await this.access.call(
      'cancel-run',
      [keys.run(runId), keys.open, keys.watch, keys.pending, keys.effects(runId), keys.actions],
      [runId, by, graceMs, this.access.timing.keepMs, writeAction({ action: 'cancel', by, reason, runId })],
    );
    return cancelReply(reply);
  }

  async noteWaiting(runId: string, reason: WaitReason): Promise<void> {
    await this.access.call('note-waiting', [this.#keys(runId).run(runId)], [reason]);
  }

  #effect(script: 'begin-effect' | 'finish-effect', attempt: AttemptRef, rest: string[]): Promise<string[]> {
    const keys = this.#keys(attempt.runId);
    return this.access.call(
      script,
      [keys.cron, keys.run(attempt.runId), keys.effects(attempt.runId)],
      [formatFence(attempt.fence), attempt.nonce, ...rest],
    );
  }

  #keys(runId: string): CronKeys {
    return keysOfRun(this.access.keys, runId);
  }
}
