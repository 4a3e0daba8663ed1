import type {
  AttemptOutcome,
  AttemptRef,
  BeginReply,
  BeginRequest,
  CancelReply,
  Delivery,
  HeartbeatReply,
  OperatorOrder,
} from './ledger.js';
import { checkWhole } from './ledger-request.js';
import { writeAction } from './redis-action.js';
import { RedisAttemptBatcher } from './redis-attempt-batcher.js';
import { cancelReply } from './redis-cancel.js';
import type { RedisLedgerAccess } from './redis-ledger-access.js';
import { keysOfRun, type CronKeys } from './redis-ledger-keys.js';
import { deliveryOf } from './redis-run-record.js';
import type { WaitReason } from './run.js';
import type { RunState } from './run-state.js';

/** The half of the Redis ledger that workers and the sweep talk to: what becomes of a run once it is claimed. */
export class RedisAttempts {
  readonly #batcher: RedisAttemptBatcher;

  constructor(private readonly access: RedisLedgerAccess) {
    this.#batcher = new RedisAttemptBatcher(access);
  }

  async redeliver({ runId, delivery }: Delivery, nonce: string): Promise<Delivery | null> {
    const keys = this.#keys(runId);
    const reply = await this.access.call(
      'redeliver-run',
      [keys.run(runId), keys.open, keys.watch, keys.pending, keys.effects(runId), keys.items(runId)],
      [runId, delivery, nonce, this.access.timing.keepMs],
    );
    return reply[0] === 'DELIVER' ? deliveryOf(runId, reply[1], reply[2]) : null;
  }

  begin(request: BeginRequest): Promise<BeginReply> {
    return this.#batcher.begin(request);
  }

  heartbeat(attempt: AttemptRef, ttlMs: number): Promise<HeartbeatReply> {
    return this.#batcher.heartbeat(attempt, ttlMs);
  }

  finish(attempt: AttemptRef, outcome: AttemptOutcome): Promise<RunState | null> {
    return this.#batcher.finish(attempt, outcome);
  }

  async cancel(runId: string, order: OperatorOrder & { readonly graceMs: number }): Promise<CancelReply> {
    const { by, reason, graceMs } = order;
    checkWhole('graceMs', graceMs, 0);
    const keys = this.#keys(runId);
    const reply = await this.access.call(
      'cancel-run',
      [
        keys.run(runId),
        keys.open,
        keys.watch,
        keys.pending,
        keys.effects(runId),
        keys.actions,
        keys.uncertain,
        keys.items(runId),
      ],
      [runId, by, graceMs, this.access.timing.keepMs, writeAction({ action: 'cancel', by, reason, runId })],
    );
    return cancelReply(reply);
  }

  async noteWaiting(runId: string, reason: WaitReason): Promise<void> {
    await this.access.call('note-waiting', [this.#keys(runId).run(runId)], [reason]);
  }

  #keys(runId: string): CronKeys {
    return keysOfRun(this.access.keys, runId);
  }
}
