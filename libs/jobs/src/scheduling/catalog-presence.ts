import type { Clock } from '@fencepost/lease';
import type { CatalogVersion } from '@fencepost/ledger/catalog';
import { tellTrouble } from '../telemetry/tell-trouble.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Beat, Presence } from './presence.js';

export interface CatalogPresenceDeps {
  readonly presence: Presence;
  readonly catalog: { readVersion(): Promise<CatalogVersion> };
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** A beat says that a pod is alive, and must not wait for a database that is slow. */
const MAX_WAIT_MS = 500;

/**
 * Membership in Redis, for a catalog that is in another store: each beat asks that store for the catalog's version, once a
 * second and pod, with one question at a time.
 */
export class CatalogPresence implements Presence {
  #asking: Promise<CatalogVersion | null> | null = null;

  constructor(private readonly deps: CatalogPresenceDeps) {}

  async beat(pod: string): Promise<Beat> {
    const [beat, known] = await Promise.all([this.deps.presence.beat(pod), this.#versionInTime()]);
    return { ...beat, catalogVersion: known?.version ?? null, ...(known ? { catalogNow: known.now } : {}) };
  }

  leave(pod: string): Promise<void> {
    return this.deps.presence.leave(pod);
  }

  announce(dues: ReadonlyMap<string, number | null>): Promise<void> {
    return this.deps.presence.announce(dues);
  }

  lastHeard(): Promise<number | null> {
    return this.deps.presence.lastHeard();
  }

  /** `null` when the store did not answer in time; its late answer belongs to nobody. */
  async #versionInTime(): Promise<CatalogVersion | null> {
    // An answer to an earlier question is older than this beat, and would count as new.
    if (this.#asking) return null;
    const asking = this.#version().finally(() => (this.#asking = null));
    this.#asking = asking;
    return new Promise((resolve) => {
      const cancel = this.deps.clock.after(MAX_WAIT_MS, () => resolve(null));
      void asking.then(resolve).finally(cancel);
    });
  }

  async #version(): Promise<CatalogVersion | null> {
    try {
      return await this.deps.catalog.readVersion();
    } catch (error) {
      tellTrouble(this.deps.telemetry, "asking for the catalog's version", error);
      return null;
    }
  }
}
