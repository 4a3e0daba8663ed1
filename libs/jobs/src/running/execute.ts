import { randomUUID } from 'node:crypto';
import { sleep } from '@fencepost/lease/internal';
import { NotReplicatedError } from '@fencepost/lease/redis';
import type { BeginReply, BeginRequest } from '@fencepost/ledger';
import { cronOfRun } from '@fencepost/ledger/run';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import { isOver, needless, afterFailure } from './answers.js';
import { Attempt } from './attempt.js';
import type { AttemptDeps, Disposition, Delivery } from './delivery.js';
import { withinLimits, type Found, type LimitedDeps, type Try, type WakeableDelivery } from './within-limits.js';

/** What a delivery is carried out with; `limiter` is asked for handlers that have limits. */
export type ExecuteDeps = LimitedDeps;

/** How soon a run without a handler here is offered to the next worker. */
const UNHANDLED_MS = 1_000;

/** begin (ledger) → handler → effects → finish (ledger); only then may the queue complete its job. */
export async function execute(deps: ExecuteDeps, delivery: WakeableDelivery): Promise<Disposition> {
  const name = cronOfRun(delivery.runId);
  const own = deps.handlerOf(name);
  // Nearly all: nothing is made for them that only limits or a look-up need.
  if (own && !own.limits) return tryOut(deps, delivery, { handler: own });
  const found = own ? { name, handler: own } : await handlerOfRun(deps, delivery);
  if ('kind' in found) return found;
  const attempt = (one: Try) => tryOut(deps, delivery, one);
  return found.handler.limits ? withinLimits(deps, { delivery, found, attempt }) : attempt(found);
}

async function tryOut(deps: AttemptDeps, delivery: Delivery, { handler, onBegun }: Try): Promise<Disposition> {
  const { clock } = deps;
  const { runId } = delivery;
  const [nonce, sentAt] = [randomUUID(), clock.monotonic()];
  const { attempts: maxAttempts } = handler.retry;
  const notify = deps.notifyOf?.(cronOfRun(runId)) ?? '';
  const request = { runId, nonce, worker: deps.worker, ttlMs: deps.ttlMs, maxAttempts, notify };
  const begun = await beginRun(deps, delivery, request).catch((error: unknown) =>
    // If it has begun all the same it is nobody's, and its lease runs out.
    afterFailure(deps, { operation: 'attempt.begin', runId }, error),
  );
  if ('kind' in begun) return begun;
  if (begun.verdict !== 'begun') return notBegun(deps, delivery, begun);
  onBegun?.();
  const attempt = new Attempt(deps, { delivery, handler, begun, nonce, sentAt });
  if (!deps.tracing) return attempt.execute();
  const { run, attempt: number, fence } = begun;
  const about = { cron: run.cron, runId, delivery: run.delivery, attempt: number, fence, worker: deps.worker };
  return deps.tracing.attempt(about, () => attempt.execute());
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
      return needless(deps, runId, reply.state);
    case 'missing':
    case 'uncertain':
      return needless(deps, runId, reply.verdict);
  }
}

/** A cron that was made at run time names whose handler carries its runs out: the run knows, and so does the ledger. */
async function handlerOfRun(deps: AttemptDeps, { runId }: Delivery): Promise<Found | Disposition> {
  const { ledger, telemetry } = deps;
  const cron = cronOfRun(runId);
  try {
    const run = await ledger.readRun(runId);
    if (run === null || isOver(run)) return needless(deps, runId, run?.state ?? 'missing');
    const handler = run.handler === null ? undefined : deps.handlerOf(run.handler);
    if (handler && run.handler !== null) return { name: run.handler, handler };
    telemetry.emit('attempt.unhandled', { cron, runId });
    if (run.waiting === null) await ledger.noteWaiting(runId, 'no-capable-worker');
  } catch (error) {
    return afterFailure(deps, { operation: 'handler.find', runId }, error);
  }
  return { kind: 'later', waitMs: UNHANDLED_MS };
}

/**
 * Begins, and asks again with the same nonce while replicas are away: an attempt that was given up then would be used up
 * without a handler having seen it, and an outage of the replicas would use up all of them.
 *
 * For half the run lease at the most, counted from the first time: a later answer leaves too little of it for a heartbeat.
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
