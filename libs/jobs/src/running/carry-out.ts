import { randomUUID } from 'node:crypto';
import { isTerminal } from '../ledger/run-state.js';
import { cronOfRun } from '../schedule/occurrence.js';
import { Attempt } from './attempt.js';
import type { AttemptDeps, Carried, Carrier, CronHandler } from './carrier.js';

/** How soon a run without a handler here is offered to the next worker. */
const UNHANDLED_MS = 1_000;

/** When nobody knows whether the attempt has begun: if it has, it is nobody's, and its lease runs out. */
const UNKNOWN_MS = 1_000;

/** begin (ledger) → handler → effects → finish (ledger); only then may the queue complete its job. */
export async function carryOut(deps: AttemptDeps, carrier: Carrier): Promise<Carried> {
  const { ledger, clock, telemetry } = deps;
  const { runId } = carrier;
  const cron = cronOfRun(runId);
  const handler = deps.handlerOf(cron) ?? (await handlerOfRun(deps, carrier));
  if ('kind' in handler) return handler;
  const [nonce, sentAt] = [randomUUID(), clock.monotonic()];
  const { attempts: maxAttempts } = handler.retry;
  const request = { runId, nonce, worker: deps.worker, ttlMs: deps.ttlMs, maxAttempts };
  const reply = await ledger.begin(request).catch((error: unknown) => {
    telemetry.emit('store.trouble', { doing: `beginning ${runId}`, error: String(error) });
    return null;
  });
  // The delivery is kept: a failed one would only come back with the sweep.
  if (reply === null) return { kind: 'later', waitMs: UNKNOWN_MS };
  switch (reply.verdict) {
    case 'busy':
    case 'not-due':
      telemetry.emit('attempt.postponed', { cron, runId, verdict: reply.verdict, waitMs: reply.waitMs });
      return { kind: 'later', waitMs: reply.waitMs };
    case 'missing':
    case 'terminal':
      telemetry.emit('attempt.needless', {
        cron,
        runId,
        state: reply.verdict === 'terminal' ? reply.state : 'missing',
      });
      return { kind: 'settled' };
    case 'begun':
      return new Attempt(deps, { carrier, handler, begun: reply, nonce, sentAt }).carryOut();
  }
}

/** A cron that was made at run time names whose handler carries its runs out: the run knows, and so does the ledger. */
async function handlerOfRun(deps: AttemptDeps, { runId }: Carrier): Promise<CronHandler | Carried> {
  const { ledger, telemetry } = deps;
  const cron = cronOfRun(runId);
  try {
    const run = await ledger.readRun(runId);
    // Nobody may ever come that could begin it, and so find out.
    if (run === null || isTerminal(run.state)) {
      telemetry.emit('attempt.needless', { cron, runId, state: run?.state ?? 'missing' });
      return { kind: 'settled' };
    }
    const handler = run.handler === null ? undefined : deps.handlerOf(run.handler);
    if (handler) return handler;
    telemetry.emit('attempt.unhandled', { cron, runId });
    if (run.waiting === null) await ledger.noteWaiting(runId, 'no-capable-worker');
  } catch (error) {
    telemetry.emit('store.trouble', { doing: `looking for a handler of ${runId}`, error: String(error) });
  }
  return { kind: 'later', waitMs: UNHANDLED_MS };
}
