import { Inject } from '@nestjs/common';
import { SetupError } from '../base/errors.js';
import { Leases, type WaitOptions } from '../holding/leases.js';
import { takenName, type ResourceName } from '../base/resource.js';

/** Injects the {@link Leases} of `LeaseModule`, also where types are erased: `constructor(@InjectLeases() leases: Leases)`. */
export const InjectLeases = (): ParameterDecorator & PropertyDecorator => Inject(Leases);

export interface WithLeaseOptions extends Omit<WaitOptions, 'signal'> {
  /**
   * What a call does while another holder has the lease: `'skip'` returns `undefined` at once, which is what a cron on many
   * replicas wants; `'wait'` waits for `wait` and throws `LeaseBusyError` afterwards. Default `'wait'`.
   */
  readonly busy?: 'skip' | 'wait';
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
 * @throws {SetupError} at the first call, when the class was not made by Nest; at once for a name that can't be a resource
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
  const lease = await leases.tryAcquire(wanted, rest);
  return lease ? leases.run(lease, work) : undefined;
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
