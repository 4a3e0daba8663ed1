import { cronOfRun, type Run } from '@fencepost/ledger/run';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import { isOver, needless, afterFailure } from './answers.js';
import type { AttemptDeps, Disposition, Delivery, CronHandler } from './delivery.js';
import { concurrencyKeyOf } from './concurrency-key.js';
import type { Limiter, Admission } from './limits.js';

export interface LimitedDeps extends AttemptDeps {
  /** For handlers that have limits: where there is none, their runs don't begin. */
  readonly limiter?: Pick<Limiter, 'admit' | 'leave'>;
}

/** A handler, and the name it was declared with. */
export interface Found {
  readonly name: string;
  readonly handler: CronHandler;
}

export interface Try {
  readonly handler: CronHandler;
  /** Called as soon as the ledger has begun the attempt. */
  readonly onBegun?: () => void;
}

/** A delivery that can be woken while it waits. */
export interface WakeableDelivery extends Delivery {
  readonly jobId?: string | undefined;
}

export interface Limited {
  readonly delivery: WakeableDelivery;
  readonly found: Found;
  /** Tries the run without asking any limit. */
  readonly attempt: (one: Try) => Promise<Disposition>;
}

/**
 * Tries a run when the limits of its handler let it begin, and has it brought again when they don't.
 *
 * They are asked before the ledger is: an attempt that waited for a place would be one, and hold a run lease.
 * @throws {TypeError} where nobody could be asked
 */
export async function withinLimits(deps: LimitedDeps, limited: Limited): Promise<Disposition> {
  const { runId } = limited.delivery;
  let run: Run | null;
  try {
    run = await deps.ledger.readRun(runId);
  } catch (error) {
    return afterFailure(deps, { operation: 'run.read', runId }, error);
  }
  if (run === null) return needless(deps, runId, 'missing');
  const key = await keyOf(limited.found, run);
  if (isOver(run)) {
    if ('key' in key) await leave(deps, limited, key.key);
    return needless(deps, runId, run.state);
  }
  return 'key' in key ? admitted(deps, limited, key.key) : limited.attempt({ handler: failing(limited.found, key) });
}

type Key = { readonly key: string | null } | { readonly error: unknown };

async function keyOf({ name, handler }: Found, { payload }: Run): Promise<Key> {
  try {
    return { key: await concurrencyKeyOf(name, handler, payload === null ? null : JSON.parse(payload)) };
  } catch (error) {
    return { error };
  }
}

/** A run whose key nobody knows is begun all the same, so that the ledger has why it failed. */
function failing({ handler }: Found, { error }: { readonly error: unknown }): CronHandler {
  const handle = () => {
    throw error;
  };
  return { ...handler, handle };
}

async function admitted(deps: LimitedDeps, limited: Limited, key: string | null): Promise<Disposition> {
  const { delivery, found } = limited;
  const { runId } = delivery;
  const reply = await limiterOf(deps, found)
    .admit(asked(limited, key))
    .catch((error: unknown) => afterFailure(deps, { operation: 'permit.acquire', runId }, error));
  if ('kind' in reply) return reply;
  if (reply.verdict === 'admitted') return under(reply.admission, limited);
  const { verdict, waitMs } = reply;
  deps.telemetry.emit('attempt.postponed', { cron: cronOfRun(runId), runId, verdict, waitMs });
  return { kind: 'later', waitMs };
}

async function under(admission: Admission, { delivery, found, attempt }: Limited): Promise<Disposition> {
  // In a place that is lost another run may go on already.
  admission.watch((reason) => delivery.givenUp.end(reason));
  try {
    return await attempt({ handler: found.handler, onBegun: () => admission.begun() });
  } finally {
    await admission.end();
  }
}

async function leave(deps: LimitedDeps, limited: Limited, key: string | null): Promise<void> {
  try {
    await limiterOf(deps, limited.found).leave(asked(limited, key));
  } catch (error) {
    // Its turn ends by itself soon.
    const { runId } = limited.delivery;
    reportStoreFailure(deps.telemetry, { operation: 'wait-queue.leave', cron: cronOfRun(runId), runId }, error);
  }
}

function asked({ delivery: { runId, jobId }, found: { name, handler } }: Limited, key: string | null) {
  return { runId, jobId, name, key, limits: handler.limits ?? {} };
}

function limiterOf({ limiter }: LimitedDeps, { name }: Found): Pick<Limiter, 'admit' | 'leave'> {
  if (limiter) return limiter;
  throw new TypeError(`The handler "${name}" has limits, but this worker has no limiter.`);
}
