import type { BeginReply } from '@fencepost/ledger';
import { hasLateness, type Run } from '@fencepost/ledger/run';
import type { Delivery, CronHandler } from './delivery.js';
import type { EffectSession } from './effect-session.js';
import { runEffect } from './effect-call.js';
import { withSignal, type LazyAbort } from './lazy-abort.js';
import { PayloadError } from './errors.js';
import { runForEach } from './for-each.js';
import { runForEachTransaction } from './for-each-transaction.js';
import type { RunLog, TransactionalRunContext } from './run-context.js';
import { runTransaction } from './transaction.js';

interface ContextParts {
  readonly begun: Extract<BeginReply, { verdict: 'begun' }>;
  readonly handler: CronHandler;
  readonly delivery: Delivery;
  readonly end: LazyAbort;
  readonly log: (level: keyof RunLog, message: string) => void;
  /** Made by the first effect: most runs are short. */
  readonly session: () => EffectSession;
  readonly previous: () => Promise<Run | null>;
}

/** Returns a promise only if the payload needs to be read. @throws {PayloadError} by rejecting it */
export function makeRunContext(parts: ContextParts): TransactionalRunContext | Promise<TransactionalRunContext> {
  const { run } = parts.begun;
  const { readPayload } = parts.handler;
  const payload: unknown = run.payload === null ? null : JSON.parse(run.payload);
  if (!readPayload) return contextOf(parts, payload);
  return read(run.id, payload, readPayload).then((known) => contextOf(parts, known));
}

function contextOf(parts: ContextParts, payload: unknown): TransactionalRunContext {
  const { begun, delivery, end, session } = parts;
  const { run } = begun;
  const line = (level: keyof RunLog) => (message: string) => parts.log(level, message);
  const progress = (value: number | object) => delivery.progress(value);
  return withSignal<TransactionalRunContext>(end, {
    id: run.id,
    cron: run.cron,
    scheduledAt: new Date(run.scheduledAt),
    dueAt: new Date(run.dueAt),
    lateByMs: lateByMs(begun),
    reason: run.reason,
    missed: run.missed && { ...run.missed, from: new Date(run.missed.from), to: new Date(run.missed.to) },
    attempt: begun.attempt,
    fence: begun.fence,
    idempotencyKey: run.id,
    payload,
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
    progress,
    previous: async () => previousOf(await parts.previous()),
    effect: (name, act, options) => tracked(session(), name, (one) => runEffect(one, { name, act }, options)),
    transaction: (work, options) =>
      tracked(session(), options?.name ?? 'transaction', (one) => runTransaction(one, work, options)),
    forEachTransaction: (items, options, act) =>
      tracked(session(), options?.name ?? 'items', (one) =>
        runForEachTransaction(one, { items, act, progress }, options),
      ),
    forEach: (items, keyOf, ...[act, options]) =>
      tracked(session(), options?.name ?? 'items', (one) => runForEach(one, { items, keyOf, act, progress }, options)),
  });
}

function previousOf(run: Run | null): Awaited<ReturnType<TransactionalRunContext['previous']>> {
  if (run === null || run.finishedAt === null) return null;
  const { id, scheduledAt, finishedAt, result } = run;
  const parsed: unknown = result === null ? null : JSON.parse(result);
  return { id, scheduledAt: new Date(scheduledAt), finishedAt: new Date(finishedAt), result: parsed };
}

function tracked<T>(session: EffectSession, name: unknown, start: (session: EffectSession) => Promise<T>): Promise<T> {
  return session.awaited.track(String(name), start(session));
}

export function lateByMs({ run: { attemptedAt, dueAt, reason } }: ContextParts['begun']): number {
  return hasLateness({ reason }) ? Math.max(0, (attemptedAt ?? dueAt) - dueAt) : 0;
}

type ReadPayload = NonNullable<CronHandler['readPayload']>;

async function read(runId: string, payload: unknown, readPayload: ReadPayload): Promise<unknown> {
  try {
    return await readPayload(payload);
  } catch (cause) {
    throw new PayloadError(runId, cause);
  }
}
