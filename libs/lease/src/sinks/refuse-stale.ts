import { StaleFenceError } from '../base/errors.js';
import type { Fence } from '../base/fence.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';

/** The refusing system's name in metrics, and the observer. */
export interface Refuser {
  readonly downstream: string;
  readonly observe: LeaseObserver;
}

/**
 * Emits the refusal, so that it is counted where it happened and not only where the error is caught.
 * @throws {StaleFenceError} always
 */
export function refuseStale(
  { downstream, observe }: Refuser,
  { resource, fence, detail }: { readonly resource: string; readonly fence: Fence; readonly detail: string },
): never {
  observe({ name: 'fence.rejected', resource, downstream, fence });
  throw new StaleFenceError(resource, fence, detail);
}
