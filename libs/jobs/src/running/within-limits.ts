import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { cronOfRun, type Run } from '@fencepost/ledger/run';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import {
  afterFailure,
  isOver,
  needless,
  type AttemptDeps,
  type Disposition,
  type Delivery,
  type CronHandler,
} from './delivery.js';
import type { Limiter, Admission } from './limits.js';
import { FinalError } from './errors.js';

export interface LimitedDeps extends AttemptDeps {
  /** For handlers with limits: without it, their runs don't begin. */
  readonly limiter?: Pick<Limiter, 'admit' | 'leave'>;
}

/** A handler, and the name under which it was declared. */
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
  /** Begins the run without any limit. */
  readonly attempt: (one: Try) => Promise<Disposition>;
}

/**
 * Begins a run if the limits of its handler allow it, and otherwise has it delivered again later.
 *
 * Limits are checked before `begin`: an attempt waiting for a permit would already count and hold the run lease.
 * @throws {TypeError} without a limiter
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

/** A run without a valid key begins too, so that the ledger records why it failed. */
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
    .admit(requestOf(limited, key))
    .catch((error: unknown) => afterFailure(deps, { operation: 'permit.acquire', runId }, error));
  if ('kind' in reply) return reply;
  if (reply.verdict === 'admitted') return under(reply.admission, limited);
  const { verdict, waitMs } = reply;
  deps.telemetry.emit('attempt.postponed', { cron: cronOfRun(runId), runId, verdict, waitMs });
  return { kind: 'later', waitMs };
}

async function under(admission: Admission, { delivery, found, attempt }: Limited): Promise<Disposition> {
  // Another run may already have the permit that was lost.
  admission.watch((reason) => delivery.givenUp.end(reason));
  try {
    return await attempt({ handler: found.handler, onBegun: () => admission.begun() });
  } finally {
    await admission.end();
  }
}

async function leave(deps: LimitedDeps, limited: Limited, key: string | null): Promise<void> {
  try {
    await limiterOf(deps, limited.found).leave(requestOf(limited, key));
  } catch (error) {
    // Its position expires soon.
    const { runId } = limited.delivery;
    reportStoreFailure(deps.telemetry, { operation: 'wait-queue.leave', cron: cronOfRun(runId), runId }, error);
  }
}

function requestOf({ delivery: { runId, jobId }, found: { name, handler } }: Limited, key: string | null) {
  return { runId, jobId, name, key, limits: handler.limits ?? {} };
}

function limiterOf({ limiter }: LimitedDeps, { name }: Found): Pick<Limiter, 'admit' | 'leave'> {
  if (limiter) return limiter;
  throw new TypeError(`The handler "${name}" has limits, but this worker has no limiter.`);
}

/** `concurrencyKey` returned no key, so the limits of the run are unknown and it doesn't begin. */
export class ConcurrencyKeyError extends FinalError {
  readonly code = 'CONCURRENCY_KEY';

  constructor(handler: string, got: string, cause?: unknown) {
    super(
      `Expected concurrencyKey of "${handler}" to return a non-empty string for the payload of the run, ` +
        `${got}. Correct it, then run it again with "fencepost retry".`,
      { cause },
    );
  }
}

/**
 * The hashed key of a run: the key may contain personal data, and is kept in the store.
 * @throws {ConcurrencyKeyError} when the function throws or returns no text
 * @throws what the payload check of the handler throws
 */
async function concurrencyKeyOf(
  name: string,
  { limits, readPayload }: CronHandler,
  payload: unknown,
): Promise<string | null> {
  if (!limits?.key) return null;
  const read = readPayload ? await readPayload(payload) : payload;
  const key = checkedKey(name, limits.key, read);
  return createHash('sha256').update(key).digest('hex').slice(0, 32);
}

function checkedKey(name: string, key: (payload: unknown) => unknown, payload: unknown): string {
  let got: unknown;
  try {
    got = key(payload);
  } catch (error) {
    throw new ConcurrencyKeyError(name, `it threw ${String(error)}`, error);
  }
  if (typeof got === 'string' && got !== '') return got;
  // An unhandled rejection would end the process.
  if (got instanceof Promise) got.catch(() => {});
  throw new ConcurrencyKeyError(name, `got ${inspect(got, { depth: 0, maxStringLength: 100 })}`);
}
