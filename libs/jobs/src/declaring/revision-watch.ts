import type { Clock } from '@fencepost/lease';
import type { AppRevision, Catalog, DefinitionSet, KnownRevision, Revision } from '@fencepost/ledger/catalog';
import type { PodRegistry, RegistryReading } from '../pods/pod-registry.js';
import { keyOf, recentRevisions, podsOf, standingOf, type DeclaringTiming, type Standing } from './standing.js';

export interface RevisionWatchDeps {
  readonly registry: Pick<PodRegistry, 'look'>;
  readonly catalog: Pick<Catalog, 'revisions'>;
  readonly clock: Clock;
  readonly timing: DeclaringTiming;
  /** The counter of the registry as of this pod's last report; `null` before the first. */
  readonly change: () => number | null;
}

/** So many pods of a revision act for it: one may be stuck, and more would ask the stores the same. */
const MAX_SPEAKERS = 2;

const NOTHING_READ: RegistryReading = { now: 0, bornAt: 0, pods: [], revisions: [] };

/** Which revisions are live, as this process last saw them. It reads them again when a pod has come or gone, or time is up. */
export class RevisionWatch {
  reading: RegistryReading = NOTHING_READ;
  readonly #names = new Map<string, ReadonlyMap<string, string>>();
  readonly #missingSince = new Map<string, number>();
  #ours: readonly AppRevision[] = [];
  #holders: readonly AppRevision[] = [];
  #isEnrolled = false;
  #change: number | null = null;
  #lookAt = -Infinity;

  /**
   * @param own enrolled
   * @param set what the process declares
   */
  constructor(
    private readonly deps: RevisionWatchDeps,
    private readonly own: AppRevision,
    private readonly set: Pick<DefinitionSet, 'explicit' | 'hash'>,
  ) {}

  /** Whether this pod is one of the first of its revision. One that the registry doesn't have is cut off, and judges nobody. */
  speaks(pod: string): boolean {
    const place = this.#placeOf(pod);
    return place >= 0 && place < MAX_SPEAKERS;
  }

  /** Whether the catalog has the set of this process under its number; not after it was lost. */
  get isEnrolled(): boolean {
    return this.#isEnrolled;
  }

  /**
   * A pod that the registry had forgotten looks until it is there again: its return may be no change to the registry.
   * @returns whether it was read again
   */
  async lookIfNeeded(pod: string): Promise<boolean> {
    const { change, clock } = this.deps;
    const isListed = this.#placeOf(pod) >= 0;
    if (isListed && change() === this.#change && clock.monotonic() < this.#lookAt) return false;
    await this.look();
    return true;
  }

  async look(): Promise<void> {
    const { registry, catalog, clock } = this.deps;
    const { app } = this.own;
    const [change, at] = [this.deps.change(), clock.monotonic()];
    const [reading, known] = await Promise.all([registry.look(), catalog.revisions.of(app)]);
    this.#ours = known.map(({ revision }) => ({ app, revision }));
    this.#isEnrolled = known.some((one) => this.#isOwn(one));
    [this.reading, this.#change] = [reading, change];
    this.#noteMissing();
    this.#lookAt = at + this.standing().changesInMs;
  }

  standing(): Standing {
    const { clock, timing } = this.deps;
    const now = clock.monotonic();
    const missingMs = (one: AppRevision) => now - (this.#missingSince.get(keyOf(one)) ?? now) + 1;
    const known = [...this.#ours, ...this.#holders];
    return standingOf({ reading: this.reading, own: this.own, known, missingMs, timing });
  }

  /**
   * Which revisions of other apps have given up the crons that they hold: each has had no live pod for long, and no live pod of
   * its app declares any of them.
   * @param holders of each revision the crons that it holds
   */
  async givenUp(holders: ReadonlyMap<AppRevision, readonly string[]>): Promise<AppRevision[]> {
    this.#holders = [...holders.keys()];
    this.#noteMissing();
    const standing = this.standing();
    this.#lookAt = Math.min(this.#lookAt, this.deps.clock.monotonic() + standing.changesInMs);
    const abandoned = new Set(standing.abandoned.map(keyOf));
    const found: AppRevision[] = [];
    for (const [holder, crons] of holders) {
      if (abandoned.has(keyOf(holder)) && !(await this.#isDeclared(holder.app, crons))) found.push(holder);
    }
    return found;
  }

  /** The crons of a revision; `null` where they are not kept any more. A revision never changes, so they are read once. */
  async namesOf(revision: AppRevision): Promise<ReadonlyMap<string, string> | null> {
    const known = this.#names.get(keyOf(revision));
    if (known) return known;
    const [names = null] = await this.deps.catalog.revisions.declaredBy(revision.app, [revision.revision]);
    if (names) this.#names.set(keyOf(revision), names);
    return names;
  }

  /** The crons of each of these revisions of the app; `null` when those of one are not kept any more. */
  async declaredBy(revisions: readonly Revision[]): Promise<ReadonlyMap<string, string>[] | null> {
    const { app } = this.own;
    const sets = await Promise.all(revisions.map((revision) => this.namesOf({ app, revision })));
    const kept = sets.flatMap((names) => names ?? []);
    return kept.length === revisions.length ? kept : null;
  }

  #isOwn({ revision, hash, explicit }: KnownRevision): boolean {
    return revision === this.own.revision && hash === this.set.hash && explicit === this.set.explicit;
  }

  #placeOf(pod: string): number {
    return podsOf(this.reading, this.own).findIndex((one) => one.pod === pod);
  }

  async #isDeclared(app: string, crons: readonly string[]): Promise<boolean> {
    for (const revision of recentRevisions(this.reading, app, this.deps.timing.removeAfterMs)) {
      const names = await this.namesOf({ app, revision });
      if (names === null || crons.some((cron) => names.has(cron))) return true;
    }
    return false;
  }

  /** A registry that was lost has heard of no revision: each has as long as if it had been heard just before. */
  #noteMissing(): void {
    const heard = new Set(this.reading.revisions.map(keyOf));
    const missing = [...this.#ours, ...this.#holders].map(keyOf).filter((key) => !heard.has(key));
    const now = this.deps.clock.monotonic();
    for (const key of [...this.#missingSince.keys()]) if (!missing.includes(key)) this.#missingSince.delete(key);
    for (const key of missing) if (!this.#missingSince.has(key)) this.#missingSince.set(key, now);
  }
}
