import { parseFence } from '@fencepost/lease';
import type { SqlConnection } from '@fencepost/lease/postgres';
import { cronOfRun } from '../occurrence.js';
import type {
  AttemptOutcome,
  AttemptRef,
  BeginEffectReply,
  BeginReply,
  BeginRequest,
  CancelReply,
  EffectOutcome,
  EffectRequest,
  FinishEffectReply,
  HeartbeatReply,
  ItemRecord,
  ItemsStep,
  OperatorOrder,
  ResolveReply,
  ResolveRequest,
} from '../ledger.js';
import { checkUnresolvedEffect, checkWhole } from '../ledger-request.js';
import { resolutionText } from '../resolution.js';
import type { RunState } from '../run-state.js';
import type { EffectRecord } from '../run.js';
import type { TransactionReply, TransactionRequest } from '../transactional-ledger.js';
import { askInTime, type PatientAccess } from './ask-in-time.js';
import { PostgresAttemptBatcher, proofOf } from './postgres-attempt-batcher.js';
import type { PostgresLedgerAccess } from './postgres-ledger-access.js';
import { transactionInPostgres } from './postgres-transaction.js';

/** How an effect is recorded after the answer. */
const RECORDED_AS = { done: 'done', 'not-done': 'failed', 'give-up': 'give-up' } as const;

type ResolveRow =
  | Exclude<ResolveReply, { readonly verdict: 'resolved' }>
  | {
      readonly verdict: 'resolved';
      readonly state: RunState;
      readonly delivery: number | null;
      readonly priority: number | null;
    };

type EffectRow = Omit<EffectRecord, 'fence'> & { readonly fence: string };

/** The half of the PostgreSQL ledger that workers talk to: what becomes of a run once it is claimed. */
export class PostgresAttempts {
  readonly #patient: PatientAccess;
  readonly #batcher: PostgresAttemptBatcher;

  /** @param patience how long the pool may take to give a connection, in milliseconds; 10 s by default */
  constructor(
    private readonly access: PostgresLedgerAccess,
    patience: Pick<PatientAccess, 'patienceMs'> = {},
  ) {
    this.#patient = { access, ...patience };
    this.#batcher = new PostgresAttemptBatcher(this.#patient);
  }

  /** @throws {FenceExhaustedError} */
  begin(request: BeginRequest): Promise<BeginReply> {
    return this.#batcher.begin(request);
  }

  heartbeat(attempt: AttemptRef, ttlMs: number): Promise<HeartbeatReply> {
    return this.#batcher.heartbeat(attempt, ttlMs);
  }

  finish(attempt: AttemptRef, outcome: AttemptOutcome): Promise<RunState | null> {
    return this.#batcher.finish(attempt, outcome);
  }

  async beginEffect(attempt: AttemptRef, request: EffectRequest): Promise<BeginEffectReply> {
    const { name, ifUnknown, payloadHash = null } = request;
    checkName('an effect', name);
    return this.#ask('begin_effect', [proofOf(attempt), name, ifUnknown, payloadHash]);
  }

  async finishEffect(attempt: AttemptRef, effect: string, outcome: EffectOutcome): Promise<FinishEffectReply> {
    checkName('an effect', effect);
    return this.#ask('finish_effect', [proofOf(attempt), effect, outcome]);
  }

  async effects(runId: string): Promise<EffectRecord[]> {
    const rows = await this.#ask<EffectRow[]>('list_effects', [runId]);
    return rows.map((row) => ({ ...row, fence: parseFence(row.fence) }));
  }

  items(runId: string, effect: string): Promise<ItemRecord[]> {
    return this.#ask('list_items', [runId, effect]);
  }

  async advanceItems(attempt: AttemptRef, effect: string, step: ItemsStep): Promise<'recorded' | 'stale'> {
    checkName('an effect', effect);
    for (const key of [...step.begun, ...step.finished.map((outcome) => outcome.key)]) checkName('an item', key);
    return this.#ask('advance_items', [proofOf(attempt), effect, { outcomes: step.finished }, [...step.begun]]);
  }

  async resolve(runId: string, request: ResolveRequest): Promise<ResolveReply> {
    checkUnresolvedEffect(request.question);
    const { answer, by, reason, nonce, question } = request;
    const order = { nonce, by, reason, question, kind: RECORDED_AS[answer.verdict] };
    const ending = answer.verdict === 'done' ? { result: answer.result } : { error: resolutionText(request) };
    const args = [cronOfRun(runId), runId, { ...order, ...ending }, this.access.timing.sweepMs];
    return resolveReply(await this.#ask<ResolveRow>('resolve_run', args), runId);
  }

  async cancel(runId: string, order: OperatorOrder & { readonly graceMs: number }): Promise<CancelReply> {
    const { by, reason, graceMs } = order;
    checkWhole('graceMs', graceMs, 0);
    return this.#ask('cancel_run', [cronOfRun(runId), runId, by, graceMs, reason]);
  }

  /** As `transaction` of `TransactionalLedger`. */
  async transaction(
    attempt: AttemptRef,
    request: TransactionRequest,
    work: (tx: SqlConnection) => Promise<string>,
  ): Promise<TransactionReply> {
    checkName('an effect', request.name);
    return transactionInPostgres(this.#patient, { attempt, request }, work);
  }

  #ask<T>(name: string, args: readonly unknown[]): Promise<T> {
    return askInTime<T>(this.#patient, name, [this.access.space, ...args]);
  }
}

/** Another character in its place would make two names one. @throws {RangeError} */
function checkName(what: string, name: string): void {
  if (!name.includes('\0')) return;
  throw new RangeError(
    `Expected a name of ${what} without NUL, which PostgreSQL can't store, got ${JSON.stringify(name)}.`,
  );
}

function resolveReply(row: ResolveRow, runId: string): ResolveReply {
  if (row.verdict !== 'resolved') return row;
  const { verdict, state, delivery, priority } = row;
  if (delivery === null) return { verdict, state, delivery };
  return { verdict, state, delivery: { runId, delivery, ...(priority === null ? {} : { priority }) } };
}
