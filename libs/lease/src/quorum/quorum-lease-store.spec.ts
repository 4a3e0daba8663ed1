import { describe, expect, it } from 'vitest';
import { leaseStoreContract } from '../../../../test/contracts/lease-store.contract.js';
import { request, win } from '../../../../test/support/lease-requests.js';
import { inTime, isAway, isSilent, memoryMembers, quorumOf, quorumStage } from './quorum.stage.js';
import { unreachable } from './quorum.stage.js';
import { SetupError } from '../base/errors.js';
import { ManualClock } from '../testing/manual-clock.js';
import { MemoryLeaseStore } from '../store/memory-lease-store.js';
import { QuorumLeaseStore, majorityHolding } from './quorum-lease-store.js';
import { QuorumUnavailableError } from './quorum-unavailable-error.js';

for (const size of [3, 5]) {
  leaseStoreContract(`a quorum of ${size} memory stores`, async () => {
    const clock = new ManualClock();
    const members = memoryMembers(
      clock,
      Array.from({ length: size }, (_, n) => 3 * n),
    );
    const store = quorumOf(members, { clock });
    return {
      store,
      untilFree: async (resource) => {
        const [holding] = await store.inspect([resource]);
        await clock.advance((holding?.remainingMs ?? 0) + 1);
      },
      clockGoesBack: async (_resource, ms) => clock.jumpWall(-ms),
      lose: async () => {
        for (const { inner } of members) inner.clear();
        await clock.advance(1);
      },
      close: async () => {
        await store.idle();
        expect(clock.pending).toBe(0);
      },
    };
  });
}

describe('a quorum', () => {
  const one = new MemoryLeaseStore();
  const named = (...names: string[]) => names.map((name) => ({ name, member: new MemoryLeaseStore() }));

  it.each([
    ['two nodes', named('a', 'b'), 'Expected an odd number of at least 3 nodes for a quorum, got 2.'],
    ['four nodes', named('a', 'b', 'c', 'd'), 'Expected an odd number of at least 3 nodes for a quorum, got 4.'],
    ['a single node', named('a'), 'got 1.'],
    ['a name that is there twice', named('a', 'b', 'a'), 'to be different servers, got "a" twice'],
    [
      'a store that is there twice',
      ['a', 'b', 'c'].map((name) => ({ name, member: one })),
      'one store under two names',
    ],
  ])('refuses %s', (_what, nodes, message) => {
    const build = () => new QuorumLeaseStore({ nodes, longestTtlMs: 1_000 });
    expect(build).toThrow(SetupError);
    expect(build).toThrow(message);
  });

  it('offers no sessions, as a majority of sessions is none of terms', () => {
    const members = named('a', 'b', 'c');
    expect(members.every(({ member }) => member.sessions !== undefined)).toBe(true);
    expect(new QuorumLeaseStore({ nodes: members, longestTtlMs: 1_000 }).sessions).toBeUndefined();
  });

  it('refuses a ttl above the longest one, also for a renewal', async () => {
    const store = quorumStage().client({ longestTtlMs: 1_000 });
    await expect(store.acquire(request({ ttlMs: 1_001 }))).rejects.toThrow(RangeError);
    await expect(store.renew([request()], 1_001)).rejects.toThrow('at most longestTtlMs, 1000 ms, got 1001 ms');
  });

  it('is held by a majority of the configured nodes, so a minority that is away changes nothing', async () => {
    const { members, store } = quorumStage(5);
    members[0].behaviour = isAway;
    members[3]!.behaviour = isAway;
    const term = await win(store);
    expect(await store.renew([term], 10_000)).toEqual([true]);
    expect(await store.inspect(['r'])).toMatchObject([{ holder: 'pod/1', fence: term.fence }]);
    expect(await store.release([term])).toEqual([true]);
  });

  it('that is cut in two has a holder on one side, never on both', async () => {
    const { clock, members, client } = quorumStage(5);
    const left = quorumOf(
      members.map((member, n) => (n < 2 ? member : unreachable(member))),
      { clock },
    );
    const right = quorumOf(
      members.map((member, n) => (n < 2 ? unreachable(member) : member)),
      { clock },
    );
    await expect(left.acquire(request({ holder: 'left' }))).rejects.toThrow(QuorumUnavailableError);
    expect(await right.acquire(request({ holder: 'right' }))).toMatchObject({ acquired: true });
    await expect(left.acquire(request({ holder: 'left' }))).rejects.toThrow(QuorumUnavailableError);
    expect(await client().inspect(['r'])).toMatchObject([{ holder: 'right' }]);
  });

  it('that can not be asked says of each node why', async () => {
    const { clock, members, store } = quorumStage();
    members[0].behaviour = isAway;
    members[2].behaviour = isSilent;
    const asked = inTime(clock, store.acquire(request()));
    await expect(asked).rejects.toThrow(
      'Expected 2 of the 3 configured nodes to answer, but node-1: connection refused; node-3: did not answer within 500 ms.',
    );
    await expect(asked).rejects.toMatchObject({ code: 'QUORUM_UNAVAILABLE', errors: { length: 2 } });
  });

  it.each(['acquire', 'renew', 'inspect', 'release', 'watch'] as const)(
    'does not wait for a silent node: %s',
    { timeout: 5_000 },
    async (call) => {
      const { members, store } = quorumStage();
      const term = await win(store);
      members[1].behaviour = isSilent;
      const calls = {
        acquire: () => store.acquire(request({ resource: 'other' })),
        renew: () => store.renew([term], 10_000),
        inspect: () => store.inspect(['r']),
        release: () => store.release([term]),
        watch: () => store.watchReleases(() => {}),
      };
      // The clock stands still: what comes back has waited for no timeout.
      await expect(calls[call]()).resolves.toBeDefined();
    },
  );
});

/** What five nodes show so far: the fences of one holder, and how many nodes are still to answer. */
function shown(fences: readonly number[], open: number) {
  const answers = fences.map((fence) => ({ answer: [{ holder: 'pod/1', fence, remainingMs: 1_000 }] }));
  return majorityHolding({ majority: 3 } as never, { answers, failures: [], open } as never, 0);
}

describe('what a quorum shows of a resource', () => {
  it('is decided by a majority that agrees, whoever has not answered yet', () => {
    expect(shown([7, 7, 7], 2)).toMatchObject({ holder: 'pod/1', fence: 7 });
  });

  it('waits where quick nodes have fences of their own, for the one that a majority of all has', () => {
    expect(shown([5, 9, 7], 2)).toBeUndefined();
    expect(shown([5, 9, 7, 7], 1)).toBeUndefined();
    expect(shown([5, 9, 7, 7, 7], 0)).toMatchObject({ fence: 7 });
  });

  it('is said all the same when nobody is left to answer', () => {
    expect(shown([5, 9, 7], 0)).toMatchObject({ fence: 7 });
  });
});
