import type { LeaseObserver } from '@fencepost/lease';
import { hashResource } from '@fencepost/lease/internal';
import type { Telemetry } from './telemetry.js';

/** Warnings of leases as events, so that the journal has those of all pods. */
export function leaseWarnings(telemetry: Telemetry): LeaseObserver {
  return (event) => {
    if (event.name === 'store.warning') {
      telemetry.emit('store.warning', { code: event.code, found: event.message });
    } else if (event.name === 'lease.ttl-unfit') {
      const { resource, verdict, ttlMs, advisedTtlMs } = event;
      // A type comes from the code; a name may contain customer data.
      const about = resource.endsWith(':*') ? resource : hashResource(resource);
      telemetry.emit('lease.ttl-unfit', { about, verdict, ttlMs, advisedTtlMs });
    }
  };
}
