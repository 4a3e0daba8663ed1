import type { LeaseStore } from '@fencepost/lease';
import type { Catalog } from '@fencepost/ledger/catalog';
import type { Ledger } from '@fencepost/ledger';
import type { Membership, PodRegistry, RunQueue } from '@fencepost/jobs/internal';
import type { Network } from './network.js';
import type { SimProcess } from './sim-process.js';

/** The stores as one process reaches them. */
export interface Ports {
  readonly ledger: Ledger;
  readonly leases: LeaseStore;
  readonly catalog: Catalog;
  readonly membership: Membership;
  readonly registry: PodRegistry;
  readonly queue: RunQueue;
}

export function portsOf(network: Network, process: SimProcess, targets: Ports): Ports {
  const { ledger, leases, catalog, membership, registry, queue } = targets;
  return {
    ledger: network.link(process, 'ledger', ledger),
    leases: network.link(process, 'leases', leases),
    catalog: network.link(process, 'catalog', catalog),
    membership: network.link(process, 'membership', membership),
    registry: network.link(process, 'registry', registry),
    queue: network.link(process, 'queue', queue),
  };
}
