import type { Lease } from '@fencepost/lease';
import type { LeaseKeeper } from '@fencepost/lease/internal';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import type { Telemetry } from '../telemetry/telemetry.js';

export interface LeaseReleasesDeps {
  readonly keeper: LeaseKeeper;
  readonly telemetry: Telemetry;
}

/** Ends terms, each call in one batch. A failure is reported and never thrown: the terms then expire by themselves. */
export class LeaseReleases {
  constructor(private readonly deps: LeaseReleasesDeps) {}

  release(leases: readonly Lease[]): Promise<void> {
    this.#emit(leases);
    return this.releaseLost(leases);
  }

  /** Everything that the keeper holds or is acquiring. */
  releaseAll(leases: readonly Lease[]): Promise<void> {
    this.#emit(leases);
    return this.#try(leases, () => this.deps.keeper.releaseAll());
  }

  /** Frees the rest of these terms, whose loss has been reported, for other pods. */
  releaseLost(leases: readonly Lease[]): Promise<void> {
    return this.#try(leases, () => this.deps.keeper.release(leases));
  }

  #emit(leases: readonly Lease[]): void {
    const { telemetry } = this.deps;
    for (const { resource, fence, holder } of leases)
      telemetry.emit('lease.released', { cron: resource, fence, holder });
  }

  async #try(leases: readonly Lease[], release: () => Promise<unknown>): Promise<void> {
    try {
      await release();
    } catch (error) {
      const about = aboutCrons(leases.map(({ resource }) => resource));
      reportStoreFailure(this.deps.telemetry, { operation: 'lease.release', ...about }, error);
    }
  }
}

/** The fields of an event about one cron or about many. */
export function aboutCrons(crons: readonly string[]): { readonly cron: string } | { readonly count: number } {
  const [cron] = crons;
  return crons.length === 1 && cron !== undefined ? { cron } : { count: crons.length };
}
