import type { Telemetry } from '../telemetry/telemetry.js';
import type { Engine } from './engine.js';
import type { LeaseAcquirer } from './lease-acquirer.js';
import type { HeartbeatReply } from '../membership/membership.js';
import { candidates, firstOf } from './rendezvous.js';
import type { CatalogCache } from './catalog-cache.js';

export interface AssignmentDeps {
  readonly pod: string;
  readonly catalogCache: CatalogCache;
  readonly acquirer: LeaseAcquirer;
  readonly telemetry: Telemetry;
  readonly engine: Pick<Engine, 'held'>;
  /** A member without a heartbeat for longer than this is suspected. */
  readonly suspectAfterMs: number;
}

/** Assigns crons to pods by rendezvous hashing over the live members. */
export class Assignment {
  #members: HeartbeatReply['members'] = [];
  #names = '';
  /** A cron belongs to a suspected member, or its lease may still be granted to this pod: assign again at the next heartbeat. */
  #unsettled = false;
  #size = 0;

  constructor(private readonly deps: AssignmentDeps) {}

  /** Assigns again when a pod has joined or left. */
  applyHeartbeat({ members }: HeartbeatReply): void {
    this.#members = members;
    const names = members.map(({ pod }) => pod).join('\n');
    if (names === this.#names && !this.#unsettled) return;
    const changed = names !== this.#names;
    this.#names = names;
    const assigned = this.assign();
    if (changed) this.deps.telemetry.emit('pods.changed', { pods: members.length, assigned });
  }

  /** The number of crons assigned to this pod. */
  get size(): number {
    return this.#size;
  }

  /** @returns the number of crons assigned to this pod */
  assign(): number {
    if (this.#members.length === 0) return 0;
    const { pod, catalogCache, acquirer, engine } = this.deps;
    const members = candidates(this.#members.map((member) => member.pod));
    const unsuspected = new Set(
      this.#members.filter(({ sinceHeardMs }) => sinceHeardMs <= this.deps.suspectAfterMs).map((member) => member.pod),
    );
    const [assigned, reassigned] = [new Set<string>(), [] as string[]];
    this.#unsettled = false;
    for (const { entry, hash } of catalogCache.entries()) {
      const { name } = entry.definition;
      const first = firstOf(hash, members) ?? pod;
      if (first === pod) assigned.add(name);
      else if (engine.held(name) === undefined) continue;
      // A suspected member may be dead: the cron would not fire until that member is known to be gone.
      else if (unsuspected.has(first)) reassigned.push(name);
      else this.#unsettled = true;
    }
    // A lease granted from now on would stay here until a pod joins or leaves.
    if (acquirer.want(assigned)) this.#unsettled = true;
    this.#size = assigned.size;
    acquirer.handOver(reassigned);
    return assigned.size;
  }
}
