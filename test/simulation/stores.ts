import { MemoryLeaseStore } from '@fencepost/lease/testing';
import { MemoryCatalog, MemoryLedger } from '@fencepost/ledger/memory';
import { MemoryMembership } from '@fencepost/jobs/internal/scheduling';
import type { Cadence } from './cadence.js';
import { SimQueue } from './sim-queue.js';
import type { VirtualClock } from './virtual-clock.js';

export interface StoresOptions {
  readonly clock: VirtualClock;
  readonly cadence: Cadence;
  readonly random: () => number;
  /** Whether the ledger outlives the other stores, as with PostgreSQL beside Redis. */
  readonly durable: boolean;
}

/** Where everything that outlives a process is kept. What is lost is lost by a whole server, never by one part of it. */
export class Stores {
  readonly leases: MemoryLeaseStore;
  readonly catalog: MemoryCatalog;
  readonly membership: MemoryMembership;
  readonly queue: SimQueue;
  readonly ledger: MemoryLedger;
  readonly durable: boolean;

  constructor({ clock, cadence, random, durable }: StoresOptions) {
    const { pod, soonestMs, stalledMs } = cadence;
    this.durable = durable;
    this.leases = new MemoryLeaseStore({ clock });
    this.catalog = new MemoryCatalog(clock, { effectiveAfterMs: pod.effectiveAfterMs });
    this.membership = new MemoryMembership({ clock, version: () => this.catalog.version, timing: pod });
    this.queue = new SimQueue({ clock, random, soonestMs, stalledMs });
    this.ledger = new MemoryLedger(clock, cadence.ledger);
  }

  /** As after a restart without its data: of the server that has no ledger. */
  wipe(): void {
    this.leases.clear();
    this.catalog.wipe();
    this.membership.wipe();
    this.queue.wipe();
  }

  /** @returns what brings the server back to where it is now, whatever it has acknowledged until then */
  snapshot(): () => void {
    const [leases, catalog, queue] = [this.leases.save(), this.catalog.save(), this.queue.save()];
    const ledger = this.durable ? null : this.ledger.state.save();
    return () => {
      this.leases.restore(leases);
      this.catalog.restore(catalog);
      // Older than a heartbeat: whoever is there comes back by itself.
      this.membership.wipe();
      if (ledger) this.ledger.state.restore(ledger);
      this.queue.restore(queue);
    };
  }
}
