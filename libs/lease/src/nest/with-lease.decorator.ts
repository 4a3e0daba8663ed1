import { Inject } from '@nestjs/common';
import { LeaseBusyError, SetupError } from '../base/errors.js';
import type { Lease } from '../holding/held-lease.js';
import { Leases, type WaitOptions } from '../holding/leases.js';
import { takenName, type ResourceName } from '../base/resource.js';

/** Injects the {@link Leases} of `LeaseModule`, also where types are erased: `constructor(@InjectLeases() leases: Leases)`. */
export const InjectLeases = (): ParameterDecorator & PropertyDecorator => Inject(Leases);

export interface WithLeaseOptions extends Omit<WaitOptions, 'signal'> {
  /**
   * What a call does while another holder has the lease. Default `'wait'`.
   *
   * - `'wait'` waits for `wait` and throws `LeaseBusyError` afterwards.
   * - `'skip'` returns `undefined` at once, which is what a cron on many replicas wants. A route may not: its client would
   *   take the empty answer for done.
   * - A function is called at once, and what it returns or throws is the answer: `(busy) => { throw busy; }`.
   */
  readonly busy?: 'skip' | 'wait' | ((busy: LeaseBusyError) => unknown);
}

type Method = (this: object, ...args: never[]) => Promise<unknown>;
type ResourceOf<A extends never[]> = ResourceName | ((...args: A) => ResourceName);

/** Where Nest puts the leases on an instance; a symbol, so that it meets no property of the class. */
const LEASES = Symbol('fencepost:leases');

/**
 * Runs each call of an async method under a lease: `@WithLease('nightly-report')`, or from the call's arguments
 * `@WithLease((order: Order) => ({ type: 'order', id: order.id }))`. `currentLease()` has its fence and signal inside.
 *
 * For providers and controllers of a Nest application that imports `LeaseModule`. Where several decorators stand above a
 * method, this one may stand anywhere: what the others have noted on the method is kept.
 * @throws {SetupError} from a call, when the class was not made by Nest or a route is to be skipped; at once for a name that
 *   can't be a resource
 * @throws {LeaseLostError} from the call, when the lease was lost before the method ended
 */
export function WithLease<A extends never[] = never[]>(resource: ResourceOf<A>, options: WithLeaseOptions = {}) {
  if (typeof resource !== 'function') takenName(resource);
  return <M extends (...args: A) => Promise<unknown>>(
    target: object,
    name: string | symbol,
    descriptor: TypedPropertyDescriptor<M>,
  ): void => {
    const method = descriptor.value as unknown as Method;
    Inject(Leases)(target, LEASES);
    const guarded: Method = async function (...args) {
      const leases = Reflect.get(this, LEASES) as Leases | undefined;
      if (!leases) throw new SetupError(notMadeByNest(target, name));
      if (options.busy === 'skip' && isRoute(guarded)) throw new SetupError(skipsRoute(target, name));
      const wanted = typeof resource === 'function' ? resource(...(args as A)) : resource;
      return call({ leases, wanted, options }, () => method.apply(this, args));
    };
    keepNotes(method, guarded);
    descriptor.value = guarded as never;
  };
}

interface Guarded {
  readonly leases: Leases;
  readonly wanted: ResourceName;
  readonly options: WithLeaseOptions;
}

async function call({ leases, wanted, options }: Guarded, work: () => Promise<unknown>): Promise<unknown> {
  const { busy = 'wait', ...rest } = options;
  if (busy === 'wait') return leases.using(wanted, rest, work);
  const lease = await atOnce(leases.acquire(wanted, { ...rest, wait: 0 }));
  if (!(lease instanceof LeaseBusyError)) return leases.run(lease, work);
  return busy === 'skip' ? undefined : busy(lease);
}

async function atOnce(acquiring: Promise<Lease>): Promise<Lease | LeaseBusyError> {
  try {
    return await acquiring;
  } catch (error) {
    if (error instanceof LeaseBusyError) return error;
    throw error;
  }
}

/** `@Get` and the like note the method of HTTP, above or below this decorator. */
function isRoute(method: Method): boolean {
  return Reflect.hasMetadata('method', method);
}

/** Other decorators (`@Cron`, `@Get`) note on the function what it is for, and look for it on whatever stands there later. */
function keepNotes(from: Method, to: Method): void {
  Object.defineProperty(to, 'name', { value: from.name });
  for (const key of Reflect.getMetadataKeys(from) as unknown[]) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, from), to);
  }
}

function notMadeByNest(target: object, name: string | symbol): string {
  return (
    `Expected ${target.constructor.name}.${String(name)} to be called on an instance made by Nest, with LeaseModule imported ` +
    `where it is provided, found no leases on it. Import LeaseModule there, or call leases.using(…) yourself.`
  );
}

function skipsRoute(target: object, name: string | symbol): string {
  return (
    `${target.constructor.name}.${String(name)} is a route: expected "wait" or a function in the option "busy" of @WithLease, ` +
    `got "skip", whose empty answer a client would take for done. Answer a busy lease with busy: (busy) => { throw busy; } ` +
    `and LeaseProblemFilter, or with a body of your own.`
  );
}
