import { systemClock, type Clock } from '../base/clock.js';
import { processIdentity } from '../base/identity.js';
import { leaseSettings, type LeaseModuleOptions, type LeaseSettings } from './lease-settings.js';
import { Leases } from '../holding/leases.js';
import { SetupError } from '../base/errors.js';
import { closeRedis, connectRedis, type ConnectOptions } from '../redis/redis-connection.js';
import { RedisLeaseStore } from '../redis/redis-lease-store.js';
import type { RedisClient } from '../redis/redis-script.js';
import type { Finding } from '../store/finding.js';
import type { LeaseStore } from '../store/lease-store.js';
import { observers, unobserved, type LeaseObserver } from '../telemetry/lease-events.js';

export interface ConnectLeasesOptions extends LeaseModuleOptions {
  /**
   * Receives what the store can't guarantee, once, and a line at the first connection error, then at most one every 5 s; default:
   * `process.emitWarning`.
   */
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
  const { ttlMs, holder, observe } = settings;
  const opened = await openStore(
    { ...settings, observe: observers(warningsTo(onTrouble), observe ?? unobserved) },
    { clock: systemClock, onTrouble },
  );
  return new Leases({
    store: opened.store,
    ttl: ttlMs,
    holder: processIdentity(holder),
    ...(observe ? { observe } : {}),
    onClose: () => opened.close(),
  });
}

/** A guarantee that is missing is told, whoever else observes: metrics alone would count it and say nothing. */
function warningsTo(onTrouble: (message: string) => void): LeaseObserver {
  return (event) => {
    if (event.name === 'store.warning') onTrouble(event.message);
  };
}

export interface OpenedStore {
  readonly store: LeaseStore;
  /** `null` where the store was given and stays the caller's. */
  readonly redis: RedisClient | null;
  /** Closes the connections opened here. */
  close(): Promise<void>;
}

export interface Opening {
  readonly clock: Clock;
  readonly onTrouble: (message: string) => void;
}

/**
 * The store that the settings name, connected and judged.
 * @throws {SetupError} one sentence for each thing to change; nothing stays open then
 */
export async function openStore(settings: LeaseSettings, opening: Opening): Promise<OpenedStore> {
  const { store, redis: target, waitForReplicas: replicas, prefix, tenant } = settings;
  if (store) {
    await judgeStore(store, settings);
    return { store, redis: null, close: async () => {} };
  }
  if (!target) throw new SetupError('Expected an address of Redis or a store, got neither.');
  const options = connectOptions({ ...settings, redis: target }, opening);
  const redis = await connectRedis(options);
  // The first one's warnings are about the same server.
  const acquiring =
    replicas > 0 ? await connectRedis({ ...options, observe: unobserved }).catch(closing(redis)) : undefined;
  const replication = acquiring && { redis: acquiring, replicas, timeoutMs: Math.round(options.commandTimeoutMs / 2) };
  return {
    store: new RedisLeaseStore({ redis, prefix, tenant, ...(replication ? { replication } : {}) }),
    redis,
    close: async () => {
      await Promise.all([closeRedis(redis), acquiring && closeRedis(acquiring)]);
    },
  };
}

type Settings = LeaseSettings & Required<Pick<LeaseSettings, 'redis'>>;

function connectOptions(
  { redis, ttlMs, criticality, waitForReplicas, observe }: Settings,
  opening: Opening,
): ConnectOptions {
  return {
    ...redis,
    ...opening,
    name: 'fencepost-lease',
    commandTimeoutMs: commandTimeoutMs(ttlMs),
    criticality,
    awaitedReplicas: waitForReplicas,
    ...(observe ? { observe } : {}),
  };
}

/**
 * Short enough for a second attempt before a holder has to stop, long enough for a server, or a process, that is busy: the
 * deadline of a lease is watched by a timer of its own and doesn't wait for this.
 */
export function commandTimeoutMs(ttlMs: number): number {
  return Math.min(Math.max(500, Math.round(ttlMs / 6)), 2_000);
}

function closing(redis: RedisClient): (error: unknown) => Promise<never> {
  return async (error) => {
    await closeRedis(redis);
    throw error;
  };
}

const UNKNOWN: Finding = {
  code: 'UNCHECKED',
  danger: 'warn',
  message:
    'The lease store has no "probe", so whether it keeps acknowledged leases is unknown. Check it by hand, or implement "probe".',
};

/**
 * Holds a store that was handed in against `criticality`, as `connectRedis` does with a server that it opens.
 * @throws {SetupError} one sentence for each thing to change
 */
export async function judgeStore(
  store: LeaseStore,
  { criticality, observe }: Pick<LeaseSettings, 'criticality' | 'observe'>,
): Promise<void> {
  const unknown = criticality === 'correctness' ? [UNKNOWN] : [];
  const findings = store.probe ? await store.probe(criticality) : unknown;
  const refused = findings.filter(({ danger }) => danger === 'refuse');
  if (refused.length > 0) throw new SetupError(refused.map(({ message }) => message).join(' '));
  for (const { code, message } of findings) observe?.({ name: 'store.warning', code, message });
}
