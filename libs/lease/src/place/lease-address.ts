import type { Clock } from '../base/clock.js';
import { SetupError } from '../base/errors.js';
import { commandTimeoutMs, judgeStore } from '../connect/connect-leases.js';
import { shownAddresses } from '../redis/redis-target.js';
import type { KeySpace, LeaseKind } from '../store/keys.js';
import type { LeaseStore } from '../store/lease-store.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';

/** Whose leases a store is to keep, and for whom it is opened. */
export interface LeasePlace extends KeySpace {
  readonly kind: LeaseKind;
  /** No lease lasts longer, milliseconds. */
  readonly ttlMs: number;
  /** How long one command may take, milliseconds. */
  readonly commandTimeoutMs: number;
  readonly clock: Clock;
  readonly observe: LeaseObserver;
}

/** A store, and what closes its connections: called once, after the leases in it were released. */
export interface OwnedLeaseStore {
  readonly store: LeaseStore;
  readonly close: () => Promise<void>;
}

/** What opens a store of one's own. */
export type OpenLeaseStore = (place: LeasePlace) => OwnedLeaseStore | Promise<OwnedLeaseStore>;

type OpenSystem = (addresses: readonly string[], place: LeasePlace) => Promise<OwnedLeaseStore>;

/** Loaded when one is chosen: a process whose leases are in its Redis loads none of them. */
const SYSTEMS: Readonly<Record<string, OpenSystem>> = {
  quorum: openQuorum,
  etcd: openEtcd,
  zookeeper: openZookeeper,
  consul: openConsul,
};

/**
 * Opens the store and holds it against what leases need.
 * @param where a system and its addresses, such as `etcd:http://a:2379,http://b:2379`, or a function that opens it
 * @throws {SetupError} for a text that is no such place, for a store that can't be used, and where it can't be reached at the start
 */
export async function openLeaseStore(
  where: string | OpenLeaseStore,
  { ttlMs, observe, ...rest }: Omit<LeasePlace, 'commandTimeoutMs'>,
): Promise<OwnedLeaseStore> {
  const open = typeof where === 'function' ? where : openerOf(where);
  const opened = await open({ ...rest, ttlMs, observe, commandTimeoutMs: commandTimeoutMs(ttlMs) });
  try {
    await judgeStore(opened.store, { criticality: 'efficiency', observe });
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

function openerOf(text: string): OpenLeaseStore {
  const [, name = '', rest = ''] = /^([a-z]+):(.*)$/s.exec(text) ?? [];
  const addresses = rest.split(',').map((one) => one.trim());
  const open = Object.hasOwn(SYSTEMS, name) ? SYSTEMS[name] : undefined;
  if (open && addresses.every((one) => one !== '')) return (place) => open(addresses, place);
  throw new SetupError(
    `Expected the leases to be in "redis", in "postgres", or in ${Object.keys(SYSTEMS).join(' or ')} with its addresses, such as ` +
      `"quorum:redis://a:6379,redis://b:6379,redis://c:6379" or "etcd:http://a:2379,http://b:2379"; got "${shownAddresses(text)}".`,
  );
}

async function openQuorum(urls: readonly string[], { ttlMs, ...place }: LeasePlace): Promise<OwnedLeaseStore> {
  const { connectQuorum } = await import('../quorum/redis-quorum.js');
  return connectQuorum({ ...place, urls, longestTtlMs: ttlMs });
}

/** Each call of them is bounded, and none of them holds on to a connection that has to be closed. */
const boundTo = (place: LeasePlace) => ({ ...place, timeoutMs: place.commandTimeoutMs });
const close = async () => {};

async function openEtcd(endpoints: readonly string[], place: LeasePlace): Promise<OwnedLeaseStore> {
  const { EtcdLeaseStore } = await import('../etcd/etcd-lease-store.js');
  return { store: new EtcdLeaseStore({ ...boundTo(place), endpoints }), close };
}

async function openZookeeper(servers: readonly string[], place: LeasePlace): Promise<OwnedLeaseStore> {
  const { ZookeeperLeaseStore } = await import('../zookeeper/zookeeper-lease-store.js');
  return { store: new ZookeeperLeaseStore({ ...boundTo(place), servers }), close };
}

async function openConsul(endpoints: readonly string[], place: LeasePlace): Promise<OwnedLeaseStore> {
  const { ConsulLeaseStore } = await import('../consul/consul-lease-store.js');
  return { store: new ConsulLeaseStore({ ...boundTo(place), endpoints }), close };
}
