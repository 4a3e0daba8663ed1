import type { SqlConnection } from '@fencepost/lease/postgres';
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
import { POSITION_MS } from '../base/ledger-timing.js';
import { MicroBatcher } from '@fencepost/lease/internal';
import { cronOfRun } from '../base/occurrence.js';
import type { RunState } from '../base/run-state.js';
import type { WaitReason } from '../base/run.js';
import type { TransactionReply, TransactionRequest } from '../base/transactional-ledger.js';
import { decodeBegin, encodeFinish, proofOf, type BeginRow } from './postgres-attempt-codec.js';
import type { PostgresLedgerAccess } from './postgres-ledger-access.js';
import { PostgresOperatorLog } from './postgres-operator-log.js';
import { transactionInPostgres } from './postgres-transaction.js';

/** The rows of all their crons are locked until the statement ends: so many of these take a few milliseconds. */
const MAX = 100;

/**
 * Each takes a connection. One of each kind: a second about the same crons would only wait in the server until the first has
 * committed, which costs it more than what is saved by sending sooner. What comes meanwhile goes together.
 */
const UNDER_WAY = 1;

type Batched = 'begin_attempts' | 'heartbeat_attempts' | 'finish_attempts';

/**
 * What every attempt costs: its begin, its heartbeats and its end. Those of one turn of the event loop, of whatever runs, are one
 * statement and one commit. Whatever is no request is refused before it gets among others, and a statement whose reply was
 * lost may be sent again: each of its parts is idempotent.
 */
export class PostgresAttemptLog extends PostgresOperatorLog implements AttemptLog {
  readonly #begins: MicroBatcher<object, BeginRow>;
  readonly #heartbeats: MicroBatcher<object, HeartbeatReply>;
  readonly #ends: MicroBatcher<object, RunState | null>;

  constructor(access: PostgresLedgerAccess) {
    super(access);
    this.#begins = this.#batch('begin_attempts', [POSITION_MS]);
    this.#heartbeats = this.#batch('heartbeat_attempts', []);
    this.#ends = this.#batch('finish_attempts', [access.timing.sweepMs]);
  }

  async begin(request: BeginRequest): Promise<BeginReply> {
    checkBegin(request);
    const { runId, nonce, worker, ttlMs, maxAttempts, notify = '' } = request;
    const item = { cron: cronOfRun(runId), runId, nonce, worker, ttlMs, maxAttempts, notify };
    return decodeBegin(await this.#begins.ask(item), request);
  }

  async heartbeat(attempt: AttemptRef, ttlMs: number): Promise<HeartbeatReply> {
    checkWhole('ttlMs', ttlMs, 1);
    return this.#heartbeats.ask({ ...proofOf(attempt), ttlMs });
  }

  async finish(attempt: AttemptRef, outcome: AttemptOutcome): Promise<RunState | null> {
    checkOutcome(outcome);
    return this.#ends.ask(encodeFinish(attempt, outcome));
  }

  async beginEffect(attempt: AttemptRef, request: EffectRequest): Promise<BeginEffectReply> {
    const { name, ifUnknown, payloadHash = null } = request;
    checkName('an effect', name);
    return this.#inTime('begin_effect', [proofOf(attempt), name, ifUnknown, payloadHash]);
  }

  async finishEffect(attempt: AttemptRef, effect: string, outcome: EffectOutcome): Promise<FinishEffectReply> {
    checkName('an effect', effect);
    return this.#inTime('finish_effect', [proofOf(attempt), effect, outcome]);
  }

  async advanceItems(attempt: AttemptRef, effect: string, step: ItemsStep): Promise<'recorded' | 'stale'> {
    checkName('an effect', effect);
    for (const key of [...step.begun, ...step.finished.map((outcome) => outcome.key)]) checkName('an item', key);
    return this.#inTime('advance_items', [proofOf(attempt), effect, { outcomes: step.finished }, [...step.begun]]);
  }

  async noteWaiting(runId: string, reason: WaitReason | null): Promise<void> {
    await this.ask('note_waiting', cronOfRun(runId), runId, reason);
  }

  /** As `transaction` of `TransactionalLedger`. */
  async transaction(
    attempt: AttemptRef,
    request: TransactionRequest,
    work: (tx: SqlConnection) => Promise<string>,
  ): Promise<TransactionReply> {
    checkName('an effect', request.name);
    for (const key of request.items ?? []) checkName('an item', key);
    return transactionInPostgres(this.access, { attempt, request }, work);
  }

  #inTime<T>(name: string, args: readonly unknown[]): Promise<T> {
    return this.access.askInTime<T>(name, [this.access.space, ...args]);
  }

  #batch<A>(name: Batched, settings: readonly number[]): MicroBatcher<object, A> {
    const { access } = this;
    const send = (items: readonly object[]) => access.askInTime<A[]>(name, [access.space, items, ...settings]);
    return new MicroBatcher({ send, most: MAX, inFlight: UNDER_WAY });
  }
}

/** Another character in its place would make two names one. @throws {RangeError} */
function checkName(what: string, name: string): void {
  if (!name.includes('\0')) return;
  throw new RangeError(
    `Expected a name of ${what} without NUL, which PostgreSQL can't store, got ${JSON.stringify(name)}.`,
  );
}
