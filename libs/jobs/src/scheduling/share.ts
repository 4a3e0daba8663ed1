import type { Telemetry } from '../telemetry/telemetry.js';
import type { Campaign } from './campaign.js';
import type { Beat } from './presence.js';
import { candidates, firstOf } from './rendezvous.js';
import type { Roster } from './roster.js';

export interface ShareDeps {
  readonly pod: string;
  readonly roster: Roster;
  readonly campaign: Campaign;
  readonly telemetry: Telemetry;
  readonly isHeld: (cron: string) => boolean;
  /** Called with crons that this pod holds and that are now another one's share. */
  readonly onForeign: (crons: readonly string[]) => void;
  /** A pod that was not heard for longer may be dead. */
  readonly silentMs: number;
}

/** Which crons this pod tries for first: those that it ranks first for among the pods that are there. */
export class Share {
  #members: Beat['members'] = [];
  #names = '';
  /** Something is another pod's, which was not heard just then, or may still be granted to this one. */
  #unsettled = false;
  #size = 0;

  constructor(private readonly deps: ShareDeps) {}

  /** Works the share out again when somebody has come or gone. */
  hear({ members }: Beat): void {
    this.#members = members;
    const names = members.map(({ pod }) => pod).join('\n');
    if (names === this.#names && !this.#unsettled) return;
    const changed = names !== this.#names;
    this.#names = names;
    const share = this.workOut();
    if (changed) this.deps.telemetry.emit('pods.changed', { pods: members.length, share });
  }

  /** How many crons it has. */
  get size(): number {
    return this.#size;
  }

  /** @returns how many crons it has */
  workOut(): number {
    if (this.#members.length === 0) return 0;
    const { pod, roster, campaign, isHeld, onForeign } = this.deps;
    const there = candidates(this.#members.map((member) => member.pod));
    const heard = new Set(
      this.#members.filter(({ silentMs }) => silentMs <= this.deps.silentMs).map((member) => member.pod),
    );
    const [share, foreign] = [new Set<string>(), [] as string[]];
    this.#unsettled = false;
    for (const { entry, hash } of roster.entries()) {
      const { name } = entry.definition;
      const first = firstOf(hash, there) ?? pod;
      if (first === pod) share.add(name);
      else if (!isHeld(name)) continue;
      // Given to a pod that may be dead, it would have nobody until that one is known to be gone.
      else if (heard.has(first)) foreign.push(name);
      else this.#unsettled = true;
    }
    // Granted after this, they would stay here until a pod comes or goes.
    if (campaign.want(share)) this.#unsettled = true;
    this.#size = share.size;
    if (foreign.length > 0) onForeign(foreign);
    return share.size;
  }
}
