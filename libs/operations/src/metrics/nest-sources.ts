import type { Clock } from '@fencepost/lease';
import type { Catalog, CatalogEntry } from '@fencepost/ledger/catalog';
import type { OccurrenceLog, RunHistory } from '@fencepost/ledger';
import type { BullmqRunQueue } from '@fencepost/jobs/internal';
import type { SchedulerPod } from '@fencepost/jobs/internal/scheduling';
import type { PodRegistry } from '../pods/pod-registry.js';
import { CRON_METRICS } from './cron-metrics.js';
import type { MetricSources } from './sources.js';

export interface PodPorts {
  readonly ledger: OccurrenceLog & RunHistory;
  readonly catalog: Pick<Catalog, 'read'>;
  readonly queue: BullmqRunQueue;
  readonly registry: Pick<PodRegistry, 'list'>;
  readonly clock: Clock;
  readonly pod: string;
  /** `undefined` in a process that is no scheduler, `null` in one that is and has not started. */
  readonly scheduler: () => SchedulerPod | null | undefined;
}

/** A pod that knows the catalog only from here reads all of it for this. */
const CATALOG_LASTS_MS = 60_000;
const CATALOG_CACHE_MS = 10_000;

/** What a pod of `JobsModule` has to show. */
export class PodSources implements MetricSources {
  readonly ledger: OccurrenceLog & RunHistory;
  readonly pod: string;
  #entries: readonly CatalogEntry[] | null = null;
  #readAt = -Infinity;

  constructor(private readonly ports: PodPorts) {
    this.ledger = ports.ledger;
    this.pod = ports.pod;
  }

  async catalog(): Promise<readonly CatalogEntry[]> {
    const scheduler = this.ports.scheduler();
    const now = this.ports.clock.monotonic();
    const lastsMs = scheduler ? CATALOG_CACHE_MS : CATALOG_LASTS_MS;
    if (this.#entries && now - this.#readAt < lastsMs) return this.#entries;
    const entries = scheduler
      ? [...scheduler.catalogCache.entries()].map(({ entry }) => entry)
      : (await this.ports.catalog.read()).entries;
    // One without any has not been read yet, or stands at its beginning.
    if (entries.length > 0) [this.#entries, this.#readAt] = [entries, now];
    return entries;
  }

  held() {
    const scheduler = this.ports.scheduler();
    if (scheduler === undefined) return null;
    return scheduler ? scheduler.engine.heldNames().flatMap((name) => scheduler.engine.held(name) ?? []) : [];
  }

  queueJobs(): Promise<Readonly<Record<string, number>>> {
    return this.ports.queue.queue.getJobCounts(...CRON_METRICS.queueJobs.labels.state);
  }

  pods() {
    return this.ports.registry.list();
  }
}
