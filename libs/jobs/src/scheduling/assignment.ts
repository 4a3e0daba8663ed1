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

/** Which crons this pod tries for first: those that it ranks first for among the pods that are there. */
export class Assignment {
  #members: HeartbeatReply['members'] = [];
  #names = '';
  /** Something is another pod's, which was not heard just then, or may still be granted to this one. */
  #unsettled = false;
  #size = 0;

  constructor(private readonly deps: AssignmentDeps) {}

  /** Works the share out again when somebody has come or gone. */
  hear({ members }: HeartbeatReply): void {
    this.#members = members;
    const names = members.map(({ pod }) => pod).join('\n');
    if (names === this.#names && !this.#unsettled) return;
    const changed = names !== this.#names;
    this.#names = names;
    const assigned = this.assign();
    if (changed) this.deps.telemetry.emit('pods.changed', { pods: members.length, share: assigned });
  }

  /** How many crons it has. */
  get size(): number {
    return this.#size;
  }

  /** @returns how many crons it has */
  assign(): number {
    if (this.#members.length === 0) return 0;
    const { pod, catalogCache, acquirer, engine } = this.deps;
    const there = candidates(this.#members.map((member) => member.pod));
    const heard = new Set(
      this.#members.filter(({ sinceHeardMs }) => sinceHeardMs <= this.deps.suspectAfterMs).map((member) => member.pod),
    );
    const [assigned, reassigned] = [new Set<string>(), [] as string[]];
    this.#unsettled = false;
    for (const { entry, hash } of catalogCache.entries()) {
      const { name } = entry.definition;
      const first = firstOf(hash, there) ?? pod;
      if (first === pod) assigned.add(name);
      else if (engine.held(name) === undefined) continue;
      // Given to a pod that may be dead, it would have nobody until that one is known to be gone.
      else if (heard.has(first)) reassigned.push(name);
      else this.#unsettled = true;
    }
    // Granted after this, they would stay here until a pod comes or goes.
    if (acquirer.want(assigned)) this.#unsettled = true;
    this.#size = assigned.size;
    acquirer.handOver(reassigned);
    return assigned.size;
  }
}
