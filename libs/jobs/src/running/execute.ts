import { shortNonce, sleep } from '@fencepost/lease/internal';
import { NotReplicatedError } from '@fencepost/lease/redis';
import type { BeginReply, BeginRequest } from '@fencepost/ledger';
import { cronOfRun } from '@fencepost/ledger/run';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import { Attempt } from './attempt.js';
import {
  afterFailure,
  isOver,
  needless,
  type AttemptDeps,
  type CronHandler,
  type Disposition,
  type Delivery,
} from './delivery.js';
import { withinLimits, type Found, type LimitedDeps, type Try, type WakeableDelivery } from './within-limits.js';

/** What executes a delivery; `limiter` is used for handlers with limits. */
export type ExecuteDeps = LimitedDeps;

/** A run that has no handler here, and belongs to no other queue, is offered again this soon. */
const UNHANDLED_MS = 1_000;

/** begin (ledger) → handler → effects → finish (ledger); only then may the queue complete its job. */
export async function execute(deps: ExecuteDeps, delivery: WakeableDelivery): Promise<Disposition> {
  const name = cronOfRun(delivery.runId);
  const own = deps.handlerOf(name);
  // The common case: allocates nothing that only limits or a lookup need.
  if (own && !own.limits) return tryOut(deps, delivery, { handler: own });
  const found = own ? { name, handler: own } : await handlerOfRun(deps, delivery);
  if ('kind' in found) return found;
  const attempt = (one: Try) => tryOut(deps, delivery, one);
  return found.handler.limits ? withinLimits(deps, { delivery, found, attempt }) : attempt(found);
}

async function tryOut(deps: AttemptDeps, delivery: Delivery, { handler, onBegun }: Try): Promise<Disposition> {
  const { runId, begun: ahead } = delivery;
  const { nonce, sentAt } = ahead ?? { nonce: shortNonce(), sentAt: deps.clock.monotonic() };
  let begun: BeginReply;
  try {
    begun = ahead ? ahead.reply() : await beginRun(deps, delivery, requestOf(deps, { runId, nonce, handler }));
  } catch (error) {
    // If the ledger began it nevertheless, no worker executes it and its run lease expires.
    return afterFailure(deps, { operation: 'attempt.begin', runId }, error);
  }
  if (begun.verdict !== 'begun') return notBegun(deps, delivery, begun);
  onBegun?.();
  const attempt = new Attempt(deps, { delivery, handler, begun, nonce, sentAt });
  if (!deps.tracing) return attempt.execute();
  const { run, attempt: number, fence } = begun;
  const about = { cron: run.cron, runId, delivery: run.delivery, attempt: number, fence, worker: deps.worker };
  return deps.tracing.attempt(about, () => attempt.execute());
}

interface Beginning {
  readonly runId: string;
  readonly nonce: string;
  readonly handler: CronHandler;
}

function requestOf(deps: AttemptDeps, { runId, nonce, handler }: Beginning): BeginRequest {
  const { attempts: maxAttempts } = handler.retry;
  const notify = deps.notifyOf?.(cronOfRun(runId)) ?? '';
  return { runId, nonce, worker: deps.worker, ttlMs: deps.ttlMs, maxAttempts, notify };
}

/** What a begin that comes with its job asks for; `null` for a handler whose limits have to be asked first. */
export function planOf(deps: Pick<AttemptDeps, 'handlerOf' | 'notifyOf'>, cron: string): string | null {
  const handler = deps.handlerOf(cron);
  return handler && !handler.limits ? `${handler.retry.attempts} ${deps.notifyOf?.(cron) ?? ''}` : null;
}

type NotBegun = Exclude<BeginReply, { verdict: 'begun' }>;

function notBegun(deps: AttemptDeps, { runId }: Delivery, reply: NotBegun): Disposition {
  switch (reply.verdict) {
    case 'busy':
    case 'not-due': {
      const { verdict, waitMs } = reply;
      deps.telemetry.emit('attempt.postponed', { cron: cronOfRun(runId), runId, verdict, waitMs });
      return { kind: 'later', waitMs };
    }
    case 'terminal':
      if (reply.exhausted) void reportExhausted(deps, runId);
      return needless(deps, runId, reply.state);
    case 'missing':
    case 'uncertain':
      return needless(deps, runId, reply.verdict);
  }
}

/** Nobody else reports this failure: the worker of the last attempt is gone. */
async function reportExhausted({ ledger, telemetry }: AttemptDeps, runId: string): Promise<void> {
  const run = await ledger.readRun(runId).catch(() => null);
  const { attempt = 0, error } = run ?? {};
  const reason = error ?? 'every attempt is used up';
  telemetry.emit('run.exhausted', { cron: cronOfRun(runId), runId, attempt, reason });
}

/** A cron created at run time names its handler: stored in the run and in the ledger. */
async function handlerOfRun(deps: AttemptDeps, delivery: Delivery): Promise<Found | Disposition> {
  const { ledger, telemetry } = deps;
  const { runId } = delivery;
  const cron = cronOfRun(runId);
  try {
    const run = await ledger.readRun(runId);
    if (run === null || isOver(run)) return needless(deps, runId, run?.state ?? 'missing');
    const handler = run.handler === null ? undefined : deps.handlerOf(run.handler);
    if (handler && run.handler !== null) return { name: run.handler, handler };
    telemetry.emit('attempt.unhandled', { cron, runId });
    if (await delivery.pass?.()) return { kind: 'passed' };
    if (run.waiting === null) await ledger.noteWaiting(runId, 'no-capable-worker');
  } catch (error) {
    return afterFailure(deps, { operation: 'handler.find', runId }, error);
  }
  return { kind: 'later', waitMs: UNHANDLED_MS };
}

/**
 * Begins the attempt, and retries with the same nonce while replicas do not acknowledge: giving up would use up an attempt
 * that no handler has seen, and an outage of the replicas would use up all of them.
 *
 * For at most half the run lease, counted from the first try: a later reply leaves too little time for a heartbeat.
 */
async function beginRun(deps: AttemptDeps, delivery: Delivery, request: BeginRequest): Promise<BeginReply> {
  const { ledger, clock, telemetry } = deps;
  const until = clock.monotonic() + request.ttlMs / 2;
  for (;;) {
    try {
      return await ledger.begin(request);
    } catch (error) {
      const isTooLate = delivery.givenUp.over || clock.monotonic() >= until;
      if (!(error instanceof NotReplicatedError) || isTooLate) throw error;
      const { runId } = request;
      reportStoreFailure(telemetry, { operation: 'attempt.begin', cron: cronOfRun(runId), runId }, error);
      await sleep(clock, request.ttlMs / 12);
    }
  }
}
