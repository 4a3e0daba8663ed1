import type { LeaseObserver } from '@fencepost/lease';
import { hashResource } from '@fencepost/lease/internal';
import type { Telemetry } from './telemetry.js';

/** What leases have to say to an operator, as events of ours: so that it is in the journal, whichever pod noticed it. */
export function leaseWarnings(telemetry: Telemetry): LeaseObserver {
  return (event) => {
    if (event.name === 'store.warning') {
      telemetry.emit('store.warning', { code: event.code, found: event.message });
    } else if (event.name === 'lease.ttl-unfit') {
      const { resource, verdict, ttlMs, advisedTtlMs } = event;
      // A type stands in the code; a name may be a customer's.
      const about = resource.endsWith(':*') ? resource : hashResource(resource);
      telemetry.emit('lease.ttl-unfit', { about, verdict, ttlMs, advisedTtlMs });
    }
  };
}
