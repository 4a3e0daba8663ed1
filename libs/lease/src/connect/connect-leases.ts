import { systemClock } from '../base/clock.js';
import { processIdentity } from '../base/identity.js';
import { leaseSettings } from './lease-settings.js';
import type { LeaseModuleOptions } from './lease-settings.js';
import { Leases } from '../holding/leases.js';
import { openStore } from './open-store.js';

export interface ConnectLeasesOptions extends LeaseModuleOptions {
  /** Receives a line at the first connection error, then at most one every 5 s; default: `process.emitWarning`. */
  readonly onTrouble?: (message: string) => void;
}

/**
 * Leases in a Redis, connected and ready: `await connectLeases({ redis: 'redis://localhost:6379' })`. Closing them gives
 * back what is held and closes the connection.
 * @throws {SetupError} one sentence for each thing to change: an option, the address, a setting of the server
 */
export async function connectLeases(options: ConnectLeasesOptions): Promise<Leases> {
  const { onTrouble = (message: string) => process.emitWarning(message, 'FencepostWarning'), ...rest } = options;
  const settings = leaseSettings(rest, 'connectLeases');
  const opened = await openStore(settings, { clock: systemClock, onTrouble });
  const { ttlMs, holder, observe } = settings;
  return new Leases({
    store: opened.store,
    ttl: ttlMs,
    holder: processIdentity(holder),
    ...(observe ? { observe } : {}),
    onClose: () => opened.close(),
  });
}
