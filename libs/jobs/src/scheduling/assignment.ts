import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Engine } from './engine.js';
import type { LeaseAcquirer } from './lease-acquirer.js';
import type { HeartbeatReply } from '../membership/membership.js';
import { assignBound, candidates, firstOf, isBound, type Candidate } from './rendezvous.js';
import type { CatalogCache } from './catalog-cache.js';

export interface AssignmentDeps {
  readonly pod: string;
  readonly catalogCache: Pick<CatalogCache, 'entries' | 'get' | 'size'>;
  readonly acquirer: Pick<LeaseAcquirer, 'want' | 'wantChanged' | 'handOver'>;
  readonly telemetry: Telemetry;
  readonly engine: Pick<Engine, 'held'>;
  /** A member without a heartbeat for longer than this is suspected. */
  readonly suspectAfterMs: number;
}

/**
 * Announced weights count when they have not changed for this long: pods that are behind for the same reason announce their
 * weights within seconds of each other, and no cron should move for the difference.
 */
const WEIGHTS_SETTLE_MS = 3_000;

/** Assigns crons to pods by rendezvous hashing over the live members. */
export class Assignment {
  #members: HeartbeatReply['members'] = [];
  #pods: readonly Candidate[] = [];
  #names = '';
  readonly #weights = new SettledWeights();
  /** A cron belongs to a suspected member, or its lease may still be granted to this pod: assign again at the next heartbeat. */
  #unsettled = false;
  #assigned = new Set<string>();
  /** How many crons the last assignment was about. */
  #crons = 0;

  constructor(private readonly deps: AssignmentDeps) {}

  /** Assigns again when a pod has joined or left, or gets another share. */
  applyHeartbeat({ members, now }: HeartbeatReply): void {
    this.#members = members;
    const names = members.map(({ pod }) => pod).join('\n');
    const joined = names !== this.#names;
    const reweighted = this.#weights.apply(members, now);
    if (!joined && !reweighted && !this.#unsettled) return;
    this.#names = names;
    this.#pods = candidates(
      members.map(({ pod }) => pod),
      this.#weights.settled,
    );
    const assigned = this.assign();
    if (joined || reweighted) this.deps.telemetry.emit('pods.changed', { pods: members.length, assigned });
  }

  /** The number of crons assigned to this pod. */
  get size(): number {
    return this.#assigned.size;
  }

  /** @returns the number of crons assigned to this pod */
  assign(): number {
    if (this.#members.length === 0) return 0;
    const { pod, acquirer, engine } = this.deps;
    const unsuspected = new Set(
      this.#members.filter(({ sinceHeardMs }) => sinceHeardMs <= this.deps.suspectAfterMs).map((member) => member.pod),
    );
    const [assigned, reassigned] = [new Set<string>(), [] as string[]];
    this.#unsettled = false;
    for (const [name, first] of this.#firsts()) {
      if (first === pod) assigned.add(name);
      else if (engine.held(name) === undefined) continue;
      // A suspected member may be dead: the cron would not fire until that member is known to be gone.
      else if (unsuspected.has(first)) reassigned.push(name);
      else this.#unsettled = true;
    }
    this.#assigned = assigned;
    // A lease granted from now on would stay here until a pod joins or leaves.
    if (acquirer.want(assigned)) this.#unsettled = true;
    acquirer.handOver(reassigned);
    return assigned.size;
  }

  /** Assigns the crons that are new and forgets those that are gone; unless crons are bound, a look at these is enough. */
  catalogChanged(changed: readonly CatalogEntry[], gone: readonly string[]): void {
    const { pod, catalogCache, acquirer } = this.deps;
    if (this.#members.length === 0) return;
    const before = this.#crons;
    const wasBound = isBound(before, this.#pods.length);
    if (wasBound || isBound(catalogCache.size, this.#pods.length)) {
      if (gone.length > 0 || catalogCache.size !== before) this.assign();
      return;
    }
    this.#crons = catalogCache.size;
    const added: string[] = [];
    for (const { definition } of changed) {
      const hash = catalogCache.get(definition.name)?.hash;
      if (hash !== undefined && firstOf(hash, this.#pods) === pod) added.push(definition.name);
    }
    for (const name of added) this.#assigned.add(name);
    const dropped = gone.filter((name) => this.#assigned.delete(name));
    acquirer.wantChanged(added, dropped);
  }

  /** The pod of each cron. */
  *#firsts(): Iterable<readonly [string, string]> {
    const { pod, catalogCache } = this.deps;
    this.#crons = catalogCache.size;
    if (isBound(this.#crons, this.#pods.length)) {
      const crons = Array.from(catalogCache.entries(), ({ entry, hash }) => ({ name: entry.definition.name, hash }));
      return yield* assignBound(crons, this.#pods);
    }
    for (const { entry, hash } of catalogCache.entries()) {
      yield [entry.definition.name, firstOf(hash, this.#pods) ?? pod];
    }
  }
}

/** The weights of the members, as of the last time that none of them had changed for {@link WEIGHTS_SETTLE_MS}. */
class SettledWeights {
  settled: ReadonlyMap<string, number> = new Map();
  #announced = '';
  /** By the store's clock. */
  #since = 0;

  /** @returns whether members have other weights than before */
  apply(members: HeartbeatReply['members'], now: number): boolean {
    const shed = members.flatMap(({ pod, weight = 1 }) => (weight === 1 ? [] : [[pod, weight] as const]));
    const announced = JSON.stringify(shed);
    if (announced !== this.#announced) [this.#announced, this.#since] = [announced, now];
    if (now - this.#since < WEIGHTS_SETTLE_MS || announced === JSON.stringify([...this.settled])) return false;
    this.settled = new Map(shed);
    return true;
  }
}
