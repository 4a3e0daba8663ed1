import { randomUUID } from 'node:crypto';
import type { SqlConnection } from '@fencepost/lease/postgres';
import type { AttemptRef, TransactionReply, TransactionRequest } from '@fencepost/ledger';
import type { Answer } from '@fencepost/ledger/run';
import type { CronHandler } from './delivery.js';
import type { TransactionalRunContext } from './run-context.js';
import { RUN, RUN_LEASE_MS, type WorkerStage } from '../../../../test/support/worker-stage.js';

/** What a handler meets: its value, or the error it threw. The handler itself lets nothing pass. */
export async function inHandler<T>(
  stage: WorkerStage,
  work: (run: TransactionalRunContext) => Promise<T>,
  handler: Omit<CronHandler, 'handle' | 'retry'> = {},
): Promise<T> {
  let met: Promise<T> | undefined;
  const handle = async (run: TransactionalRunContext) => {
    met = work(run);
    await met.catch(() => {});
  };
  await stage.deliver(handle, { handler });
  if (!met) throw new Error('Expected the handler to be called.');
  return met;
}

const TX: SqlConnection = { query: () => Promise.resolve({ rows: [], rowCount: 0 }), on: () => {}, release: () => {} };

/** Lets the ledger of a stage commit what its effects are; the one in PostgreSQL has its own suite. */
export function makeTransactional({ memoryLedger }: WorkerStage): {
  tx: SqlConnection;
  requests: TransactionRequest[];
} {
  const requests: TransactionRequest[] = [];
  const transaction = async (
    attempt: AttemptRef,
    request: TransactionRequest,
    work: (tx: SqlConnection) => Promise<string>,
  ): Promise<TransactionReply> => {
    requests.push(request);
    const { name, items, payloadHash = null } = request;
    const begun = items ? { verdict: 'go' } : await memoryLedger.beginEffect(attempt, { ...request, ifUnknown: 'go' });
    if (begun.verdict !== 'go') return begun as TransactionReply;
    const result = await work(TX);
    if (!items) await memoryLedger.finishEffect(attempt, name, { kind: 'done', result });
    const finished = (items ?? []).map((key) => ({ key, kind: 'done' }) as const);
    if (items && (await memoryLedger.advanceItems(attempt, name, { finished, begun: [] })) === 'stale') {
      return { verdict: 'stale' };
    }
    return { verdict: 'done', result, payloadHash };
  };
  const triggerIn = () => Promise.reject(new Error('Expected no trigger in a transaction.'));
  Object.assign(memoryLedger, { transaction, triggerIn });
  return { tx: TX, requests };
}

/** An attempt of another worker, which leaves the run as a crash does once its lease has run out. */
export async function lostAttempt(
  stage: WorkerStage,
  work: (attempt: AttemptRef) => Promise<unknown>,
): Promise<AttemptRef> {
  const nonce = randomUUID();
  const request = { runId: RUN, nonce, worker: 'other/1', ttlMs: RUN_LEASE_MS, maxAttempts: 9 };
  const begun = await stage.memoryLedger.begin(request);
  if (begun.verdict !== 'begun') throw new Error(`Expected the attempt to begin, got ${begun.verdict}.`);
  const attempt = { runId: RUN, fence: begun.fence, nonce };
  await work(attempt);
  await stage.manual.advance(RUN_LEASE_MS);
  return attempt;
}

export async function answer(stage: WorkerStage, given: Answer): Promise<void> {
  const run = await stage.memoryLedger.readRun(RUN);
  if (!run?.unresolvedEffect) throw new Error(`Expected the run to wait for an answer, it is ${run?.state}.`);
  const unresolvedEffect = { ...run.unresolvedEffect, attempt: run.attempt };
  const order = { by: 'ada', reason: 'asked the bank', nonce: randomUUID(), answer: given, unresolvedEffect };
  const reply = await stage.memoryLedger.resolve(RUN, order);
  if (reply.verdict !== 'resolved') throw new Error(`Expected the run to wait for an answer, got ${reply.verdict}.`);
}

/** A promise and how to settle it. */
export function gate<T>(): {
  readonly opened: Promise<T>;
  readonly open: (value: T) => void;
  readonly fail: (error: Error) => void;
} {
  let open: (value: T) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const opened = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { opened, open: (value) => open(value), fail: (error) => fail(error) };
}
