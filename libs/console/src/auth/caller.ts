import { AsyncLocalStorage } from 'node:async_hooks';
import type { AccessRole } from '@fencepost/operations/access-tokens';
import type { Identity } from './authenticate.js';

/** Who gives an order, and from where. */
export interface Caller extends Identity {
  readonly address: string;
}

const callers = new AsyncLocalStorage<Caller>();

/** Everything that comes out of `work` is done by this caller. */
export function asCaller<Result>(caller: Caller, work: () => Result): Result {
  return callers.run(caller, work);
}

/** Whoever sent the request that is being answered; `null` for a place that is open to all. */
export function currentCaller(): Caller | null {
  return callers.getStore() ?? null;
}

/** @throws {Error} where nobody was let in: the access boundary is missing, and nothing may be done */
export function callerHere(): Caller {
  const caller = currentCaller();
  if (caller) return caller;
  throw new Error('Expected a request that came through the access boundary.');
}

/** For whoever is at the machine itself, as long as there are no tokens. */
export const LOCAL: { readonly name: string; readonly role: AccessRole } = { name: 'local', role: 'admin' };
