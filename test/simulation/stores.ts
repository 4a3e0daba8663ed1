import { MemoryLeaseStore } from '@fencepost/lease/testing';
import { MemoryCatalog, MemoryLedger } from '@fencepost/ledger/memory';
import { MemoryMembership, MemoryPodRegistry } from '@fencepost/jobs/internal/scheduling';
import type { Cadence } from './cadence.js';
import { SimQueue } from './sim-queue.js';
import type { VirtualClock } from './virtual-clock.js';

export interface StoresOptions {
  readonly clock: VirtualClock;
  readonly cadence: Cadence;
  readonly random: () => number;
  /** Whether the ledger outlives the other stores, as with PostgreSQL beside Redis. */
  readonly durable: boolean;
  /** Whether the definitions are where the ledger is. */
  readonly keepsCatalog: boolean;
  /** Called when a store has lost what it knew, or goes on with what it knew earlier. */
  readonly onLost: (store: 'catalog' | 'registry') => void;
}

/** Where everything that outlives a process is kept. What is lost is lost by a whole server, never by one part of it. */
export class Stores {
  readonly leases: MemoryLeaseStore;
  readonly catalog: MemoryCatalog;
  readonly membership: MemoryMembership;
  readonly registry: MemoryPodRegistry;
  readonly queue: SimQueue;
  readonly ledger: MemoryLedger;
  readonly durable: boolean;
  readonly #keepsCatalog: boolean;
  readonly #onLost: StoresOptions['onLost'];

  constructor({ clock, cadence, random, durable, keepsCatalog, onLost }: StoresOptions) {
    const { pod, soonestMs, stalledMs, tombstoneMs, podGoneMs } = cadence;
    this.durable = durable;
    this.#keepsCatalog = keepsCatalog;
    this.#onLost = onLost;
    this.leases = new MemoryLeaseStore({ clock });
    this.catalog = new MemoryCatalog(clock, { effectiveAfterMs: pod.effectiveAfterMs, tombstoneMs });
    this.membership = new MemoryMembership({ clock, version: () => this.catalog.version, timing: pod });
    this.registry = new MemoryPodRegistry(clock, podGoneMs);
    this.queue = new SimQueue({ clock, random, soonestMs, stalledMs });
    this.ledger = new MemoryLedger(clock, cadence.ledger);
  }

  /** As after a restart without its data: of the server that has no ledger. */
  wipe(): void {
    this.leases.clear();
    this.wipeCatalog();
    this.membership.wipe();
    this.registry.wipe();
    this.#onLost('registry');
    this.queue.wipe();
  }

  /** Unless it is in the database. */
  wipeCatalog(): void {
    if (this.#keepsCatalog) return;
    this.catalog.wipe();
    this.#onLost('catalog');
  }

  #restoreCatalog(saved: ReturnType<MemoryCatalog['save']>): void {
    if (this.#keepsCatalog) return;
    this.catalog.restore(saved);
    this.#onLost('catalog');
  }

  /** @returns what brings the server back to where it is now, whatever it has acknowledged until then */
  snapshot(): () => void {
    const [leases, catalog, queue] = [this.leases.save(), this.catalog.save(), this.queue.save()];
    const registry = this.registry.save();
    const ledger = this.durable ? null : this.ledger.state.save();
    return () => {
      this.leases.restore(leases);
      this.#restoreCatalog(catalog);
      // Older than a heartbeat: whoever is there comes back by itself.
      this.membership.wipe();
      this.registry.restore(registry);
      this.#onLost('registry');
      if (ledger) this.ledger.state.restore(ledger);
      this.queue.restore(queue);
    };
  }
}
