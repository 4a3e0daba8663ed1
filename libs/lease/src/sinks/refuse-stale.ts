import { StaleFenceError } from '../base/errors.js';
import type { Fence } from '../base/fence.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';

/** Who refuses, as metrics call it, and who is told. */
export interface Refuser {
  readonly downstream: string;
  readonly observe: LeaseObserver;
}

/**
 * Tells of the refusal, so that it is counted where it happened and not only where somebody caught it.
 * @throws {StaleFenceError} always
 */
export function refuseStale(
  { downstream, observe }: Refuser,
  { resource, fence, detail }: { readonly resource: string; readonly fence: Fence; readonly detail: string },
): never {
  observe({ name: 'fence.rejected', resource, downstream, fence });
  throw new StaleFenceError(resource, fence, detail);
}
