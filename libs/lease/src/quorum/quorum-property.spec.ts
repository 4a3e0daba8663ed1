import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atMost } from '../../../../test/support/run-length.js';
import { request } from '../../../../test/support/lease-requests.js';
import { isAway, losesReplies, memoryMembers, quorumOf, skewed, works } from './quorum.stage.js';
import type { Behaviour, UnreliableMember } from './quorum.stage.js';
import { sleep } from '../base/clock.js';
import { NO_FENCE } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { trustedUntil } from '../store/grant.js';
import type { Term } from '../store/grant.js';
import { ManualClock } from '../testing/manual-clock.js';
import type { QuorumLeaseStore } from './quorum-lease-store.js';

const TTL_MS = 1_000;
const MAX_TTL_MS = 1_500;

interface Held extends Term {
  readonly client: number;
  until: number;
}

type Network = 'works' | 'away' | 'loses replies' | 'slow requests' | 'slow replies';

type Step =
  | { readonly do: 'acquire' | 'renew' | 'release'; readonly client: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'network'; readonly node: number; readonly is: Network; readonly ms: number }
  | { readonly do: 'wipe'; readonly node: number };

/** Five servers, three processes and what happens to them. Says at each grant whether it was one too many. */
class World {
  readonly #clock = new ManualClock();
  readonly #members: UnreliableMember[];
  readonly #networks = new Map<number, Behaviour>();
  readonly #votesAgainAt = new Map<number, number>();
  readonly #clients: QuorumLeaseStore[];
  readonly #held: Held[] = [];
  readonly #underWay: Promise<void>[] = [];
  #lastFence: Fence = NO_FENCE;
  grants = 0;
  readonly wrongs: string[] = [];

  constructor(size: number, aheadMs: readonly number[]) {
    this.#members = memoryMembers(this.#clock, aheadMs.slice(0, size));
    this.#clients = aheadMs
      .slice(0, 3)
      .map((ms) =>
        quorumOf(this.#members, { clock: skewed(this.#clock, -ms), longestTtlMs: MAX_TTL_MS, nodeTimeoutMs: 100 }),
      );
  }

  async live(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await this.#take(step);
    await this.#clock.advance(5_000);
    await Promise.all(this.#underWay);
    await Promise.all(this.#clients.map((client) => client.idle()));
    expect(this.#clock.pending).toBe(0);
  }

  async #take(step: Step): Promise<void> {
    if (step.do === 'pass') return this.#clock.advance(step.ms);
    if (step.do === 'network') return this.#change(step.node % this.#members.length, this.#behaviour(step));
    if (step.do === 'wipe') return this.#wipe(step.node % this.#members.length);
    this.#underWay.push(this[step.do](step.client).catch(() => {}));
    await this.#clock.advance(0);
  }

  protected async acquire(client: number): Promise<void> {
    const asked = request({ holder: `pod/${client}`, ttlMs: TTL_MS });
    const sentAt = this.#clock.monotonic();
    const reply = await this.#client(client).acquire(asked);
    if (!reply.acquired) return;
    this.grants += 1;
    const held = { ...asked, client, until: trustedUntil(sentAt, TTL_MS) };
    this.#check(held, 'was granted');
    if (reply.fence <= this.#lastFence) this.wrongs.push(`fence ${reply.fence} after ${this.#lastFence}`);
    this.#lastFence = reply.fence;
    this.#held.push(held);
  }

  protected async renew(client: number): Promise<void> {
    const held = this.#heldBy(client);
    if (!held) return;
    const sentAt = this.#clock.monotonic();
    const [renewed] = await this.#client(client).renew([held], TTL_MS);
    if (!renewed) held.until = 0;
    // Who was told to stop meanwhile, or has released, doesn't begin again.
    if (!renewed || held.until <= this.#clock.monotonic()) return;
    held.until = Math.max(held.until, trustedUntil(sentAt, TTL_MS));
    this.#check(held, 'was renewed');
  }

  protected async release(client: number): Promise<void> {
    const held = this.#heldBy(client);
    if (!held) return;
    held.until = 0;
    await this.#client(client).release([held]);
  }

  #check(held: Held, how: string): void {
    const now = this.#clock.monotonic();
    const other = this.#held.find((one) => one.nonce !== held.nonce && one.until > now);
    if (other && held.until > now) this.wrongs.push(`pod/${held.client} ${how} while pod/${other.client} holds it`);
  }

  #heldBy(client: number): Held | undefined {
    return this.#held.findLast((one) => one.client === client && one.until > this.#clock.monotonic());
  }

  #client(client: number): QuorumLeaseStore {
    return this.#clients[client % this.#clients.length]!;
  }

  #behaviour({ is, ms }: Extract<Step, { do: 'network' }>): Behaviour {
    if (is === 'works') return works;
    if (is === 'away') return isAway;
    if (is === 'loses replies') return losesReplies;
    if (is === 'slow requests') return (serve) => sleep(this.#clock, ms).then(serve);
    return async (serve) => {
      const answer = await serve();
      await sleep(this.#clock, ms);
      return answer;
    };
  }

  #change(node: number, network: Behaviour): void {
    this.#networks.set(node, network);
    this.#members[node]!.behaviour = (serve) => (this.#networks.get(node) ?? works)(() => this.#served(node, serve));
  }

  /** A restart without data: nothing is answered until no term from before can still run. */
  #wipe(node: number): void {
    const now = this.#clock.monotonic();
    const others = [...this.#votesAgainAt].filter(([other, at]) => other !== node && at > now);
    if (others.length + 1 > (this.#members.length - 1) / 2) return;
    this.#votesAgainAt.set(node, now + MAX_TTL_MS);
    this.#members[node]!.inner.clear();
    this.#change(node, this.#networks.get(node) ?? works);
  }

  #served<T>(node: number, serve: () => Promise<T>): Promise<T> {
    const isBack = this.#clock.monotonic() >= (this.#votesAgainAt.get(node) ?? 0);
    return isBack ? serve() : Promise.reject(new Error('restarted'));
  }
}

const client = fc.nat(2);
const node = fc.nat(4);
const acts = fc.record({ do: fc.constantFrom('acquire', 'acquire', 'renew', 'release', 'release'), client });
const passes = fc.record({ do: fc.constant('pass'), ms: fc.constantFrom(1, 10, 60, 300, 1_100) });
const networks = fc.record({
  do: fc.constant('network'),
  node,
  is: fc.constantFrom<Network>('works', 'works', 'away', 'away', 'loses replies', 'slow requests', 'slow replies'),
  ms: fc.constantFrom(5, 40, 90, 130, 900),
});
const wipes = fc.record({ do: fc.constant('wipe'), node });

function histories(...arbitraries: readonly fc.Arbitrary<unknown>[]): fc.Arbitrary<Step[]> {
  return fc.array(fc.oneof(acts, acts, passes, networks, ...arbitraries) as fc.Arbitrary<Step>, {
    minLength: 20,
    maxLength: 80,
    size: 'max',
  });
}

function clocks(apartMs: number): fc.Arbitrary<number[]> {
  return fc.array(fc.integer({ min: -apartMs, max: apartMs }), { minLength: 5, maxLength: 5 });
}

/** The history of each world, as long as nothing is wrong in any. */
async function expectNoWrongs(apartMs: number, lives: fc.Arbitrary<Step[]>): Promise<void> {
  let grants = 0;
  const property = fc.asyncProperty(fc.constantFrom(3, 5), clocks(apartMs), lives, async (size, aheadMs, steps) => {
    const world = new World(size, aheadMs);
    await world.live(steps);
    grants += world.grants;
    expect(world.wrongs).toEqual([]);
  });
  await fc.assert(property, atMost(300));
  // A world in which nobody ever gets in proves nothing.
  expect(grants).toBeGreaterThan(100);
}

describe('nobody holds a resource together with somebody else, and fences increase from grant to grant', () => {
  it('whatever happens to the network, and however far the clocks of the nodes are apart', async () => {
    await expectNoWrongs(20_000, histories());
  });

  it('even if a minority forgets everything, while clocks are less than the longest TTL apart', async () => {
    await expectNoWrongs(150, histories(wipes));
  });
});
