import { FenceExhaustedError, formatFence } from '@fencepost/lease';
import { cronOfRun } from '../occurrence.js';
import { begunRun, type BegunRow } from '../begun-run.js';
import type { AttemptOutcome, AttemptRef, BeginReply, BeginRequest, HeartbeatReply } from '../ledger.js';
import { checkBegin, checkOutcome, checkWhole } from '../ledger-request.js';
import { POSITION_MS } from '../ledger-timing.js';
import type { RunState } from '../run-state.js';
import { MicroBatcher } from '../micro-batcher.js';
import { askInTime, type PatientAccess } from './ask-in-time.js';
import { storable } from './postgres-value.js';

/** The rows of all their crons are locked until the statement ends: so many of these take a few milliseconds. */
const MAX = 100;

/**
 * Each takes a connection. One of each kind: a second about the same crons would only wait in the server until the first has
 * committed, which costs it more than what is saved by sending sooner. What comes meanwhile goes together.
 */
const UNDER_WAY = 1;

type Batched = 'begin_attempts' | 'heartbeat_attempts' | 'finish_attempts';

type BeginRow = BegunRow | Exclude<BeginReply, { readonly verdict: 'begun' }> | { readonly verdict: 'fence-exhausted' };

/**
 * What every attempt costs: its begin, its heartbeats and its end. Those of one turn of the event loop, of whatever runs, are one
 * statement and one commit. Whatever is no request is refused before it gets among others, and a statement whose reply was
 * lost may be sent again: each of its parts is idempotent.
 */
export class PostgresAttemptBatcher {
  readonly #begins: MicroBatcher<object, BeginRow>;
  readonly #beats: MicroBatcher<object, HeartbeatReply>;
  readonly #ends: MicroBatcher<object, RunState | null>;

  constructor(private readonly patient: PatientAccess) {
    this.#begins = this.#batch('begin_attempts', [POSITION_MS]);
    this.#beats = this.#batch('heartbeat_attempts', []);
    this.#ends = this.#batch('finish_attempts', [patient.access.timing.sweepMs]);
  }

  async begin(request: BeginRequest): Promise<BeginReply> {
    checkBegin(request);
    const { runId, nonce, worker, ttlMs, maxAttempts, notify = '' } = request;
    return beginReply(
      await this.#begins.ask({ cron: cronOfRun(runId), runId, nonce, worker, ttlMs, maxAttempts, notify }),
      request,
    );
  }

  async heartbeat(attempt: AttemptRef, ttlMs: number): Promise<HeartbeatReply> {
    checkWhole('ttlMs', ttlMs, 1);
    return this.#beats.ask({ ...proofOf(attempt), ttlMs });
  }

  async finish(attempt: AttemptRef, outcome: AttemptOutcome): Promise<RunState | null> {
    checkOutcome(outcome);
    return this.#ends.ask({ ...outcome, ...proofOf(attempt) });
  }

  #batch<A>(name: Batched, settings: readonly number[]): MicroBatcher<object, A> {
    const { space } = this.patient.access;
    const send = (items: readonly object[]) => askInTime<A[]>(this.patient, name, [space, items, ...settings]);
    return new MicroBatcher({ send, most: MAX, inFlight: UNDER_WAY });
  }
}

/** What the functions compare with the run. */
export function proofOf({ runId, fence, nonce }: AttemptRef): object {
  return { cron: cronOfRun(runId), runId, fence: formatFence(fence), nonce };
}

/** @throws {FenceExhaustedError} */
function beginReply(row: BeginRow, request: BeginRequest): BeginReply {
  if ('verdict' in row) {
    if (row.verdict === 'fence-exhausted') throw new FenceExhaustedError(cronOfRun(request.runId));
    return row;
  }
  // As they are recorded.
  const run = begunRun(row, { runId: storable(request.runId), worker: storable(request.worker) });
  if (run === null) throw new Error(`Expected the record of a begun run, got ${JSON.stringify(row)}.`);
  return { verdict: 'begun', fence: run.fence, attempt: run.attempt, run };
}
