import type { Clock } from '@fencepost/lease';
import type { CatalogVersion } from '@fencepost/ledger/postgres';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type {
  Announced,
  HeartbeatReply,
  LiveProcess,
  LowestFormat,
  Member,
  Membership,
  ProcessKind,
} from './membership.js';

export interface CatalogMembershipDeps {
  readonly membership: Membership;
  readonly catalog: { readVersion(): Promise<CatalogVersion> };
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** A heartbeat must not wait for a slow database. */
const MAX_WAIT_MS = 500;

/**
 * Membership in Redis for a catalog in another store: each heartbeat reads the version of the catalog from that store, with
 * one call at a time.
 */
export class CatalogMembership implements Membership {
  #asking: Promise<CatalogVersion | null> | null = null;

  constructor(private readonly deps: CatalogMembershipDeps) {}

  async heartbeat(pod: string, weight?: number): Promise<HeartbeatReply> {
    const [reply, known] = await Promise.all([this.deps.membership.heartbeat(pod, weight), this.#versionInTime()]);
    return { ...reply, catalogVersion: known?.version ?? null, ...(known ? { catalogNow: known.now } : {}) };
  }

  /** The version in Redis is none of this catalog. */
  async announce(process: string): Promise<Announced> {
    return { ...(await this.deps.membership.announce(process)), catalogVersion: null };
  }

  beat(process: string, kind: ProcessKind, weight?: number): Promise<void> {
    return this.deps.membership.beat(process, kind, weight);
  }

  members(): Promise<readonly Member[]> {
    return this.deps.membership.members();
  }

  processes(): Promise<readonly LiveProcess[]> {
    return this.deps.membership.processes();
  }

  lowestFormat(): Promise<LowestFormat> {
    return this.deps.membership.lowestFormat();
  }

  leave(pod: string): Promise<void> {
    return this.deps.membership.leave(pod);
  }

  publishDue(dues: ReadonlyMap<string, number | null>): Promise<void> {
    return this.deps.membership.publishDue(dues);
  }

  lastHeard(): Promise<number | null> {
    return this.deps.membership.lastHeard();
  }

  /** `null` when the store did not reply in time; a late reply is dropped. */
  async #versionInTime(): Promise<CatalogVersion | null> {
    // The reply to an earlier call is older than this heartbeat, and would count as new.
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
      reportStoreFailure(this.deps.telemetry, { operation: 'catalog.read-version' }, error);
      return null;
    }
  }
}
