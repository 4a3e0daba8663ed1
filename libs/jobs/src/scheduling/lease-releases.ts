import type { Lease, LeaseLostError } from '@fencepost/lease';
import type { LeaseKeeper } from '@fencepost/lease/internal';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import type { Telemetry } from '../telemetry/telemetry.js';

export interface LeaseReleasesDeps {
  readonly keeper: LeaseKeeper;
  readonly telemetry: Telemetry;
}

/** Terms lost at once that are reported one by one; more are one event. */
const MAX_REPORTED = 100;

/** Names in an event about many crons. */
const MAX_NAMED = 10;

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

  /** A pod that loses its session loses all of its leases: a hundred thousand events would bury what else happens. */
  reportLoss(lost: readonly (readonly [Lease, LeaseLostError])[]): void {
    const { telemetry, keeper } = this.deps;
    const crons = lost.slice(0, MAX_NAMED).map(([{ resource }]) => resource);
    const cause = lost[0]?.[1].message ?? '';
    if (lost.length > MAX_REPORTED)
      return telemetry.emit('leases.lost', { count: lost.length, crons, holder: keeper.holder, cause });
    for (const [{ resource, fence, holder }, { message }] of lost)
      telemetry.emit('lease.lost', { cron: resource, fence, holder, cause: message });
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
