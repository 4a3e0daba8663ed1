import { describe, expect, it, vi } from 'vitest';
import { request, win } from '../../../../test/support/lease-requests.js';
import { answersAfter, gate, inTime, isAway, isSilent, pausable, quorumStage, works } from './quorum.stage.js';
import type { QuorumLeaseStore } from './quorum-lease-store.js';
import { QuorumUnavailableError } from './quorum-unavailable-error.js';

describe('renewing on a quorum', () => {
  it('holds with a majority that says so, and is over when a majority knows the term no more', async () => {
    const { members, store } = quorumStage();
    const term = await win(store);
    members[0].inner.clear();
    expect(await store.renew([term], 10_000)).toEqual([true]);
    members[1].inner.clear();
    expect(await store.renew([term], 10_000)).toEqual([false]);
  });

  it('is unknown, and no refusal, while the nodes that would tell are away', async () => {
    const { clock, members, store } = quorumStage();
    const term = await win(store);
    members[0].inner.clear();
    members[2].behaviour = isSilent;
    await expect(inTime(clock, store.renew([term], 10_000))).rejects.toThrow(QuorumUnavailableError);
    members[2].behaviour = works;
    expect(await store.renew([term], 10_000)).toEqual([true]);
  });

  it('is refused where the answer came when the term was over', async () => {
    const { clock, members, client } = quorumStage();
    const own = pausable(clock);
    const store = client({ clock: own });
    const term = await win(store, { ttlMs: 1_000 });
    const slow = gate();
    for (const member of members) member.behaviour = answersAfter(slow.opened);
    const asked = store.renew([term], 1_000);
    own.pause(988);
    slow.open();
    expect(await asked).toEqual([false]);
  });
});

describe('releasing on a quorum', () => {
  it('reaches a node that is left out because it failed', async () => {
    const { members, store } = quorumStage();
    const term = await win(store);
    members[2].behaviour = isAway;
    for (let n = 0; n < 5; n++) await store.inspect(['r']);
    await store.idle();
    expect(members[2].countOf('inspect')).toBeLessThan(5);
    members[2].behaviour = works;
    expect(await store.release([term])).toEqual([true]);
    await store.idle();
    expect(await members[2].inner.inspect(['r'])).toEqual([null]);
  });

  it('tells that the term was over when those who are there do not confirm it', async () => {
    const { members, store } = quorumStage();
    const term = await win(store);
    members[0].inner.clear();
    members[2].behaviour = isAway;
    expect(await store.release([term])).toEqual([false]);
    members[1].behaviour = isAway;
    await expect(store.release([term])).rejects.toThrow(QuorumUnavailableError);
  });
});

describe('looking at a quorum', () => {
  it('shows no holder for a term that a minority has', async () => {
    const { members, store } = quorumStage();
    await members[0].inner.acquire(request());
    expect(await store.inspect(['r'])).toEqual([null]);
  });

  it('shows until when a majority has it, and with which fence', async () => {
    const { members, store } = quorumStage();
    const { nonce, fence } = await win(store, { ttlMs: 2_000 });
    await members[0].inner.acquire(request({ nonce, ttlMs: 4_000 }));
    await members[1].inner.acquire(request({ nonce, ttlMs: 6_000 }));
    await members[2].inner.acquire(request({ nonce, ttlMs: 10_000 }));
    await store.idle();
    // All three are asked, and two of them decide.
    members[2].behaviour = isAway;
    expect(await store.inspect(['r'])).toMatchObject([{ holder: 'pod/1', fence, remainingMs: 4_000 }]);
    members[2].behaviour = works;
    members[0].behaviour = isAway;
    expect(await store.inspect(['r'])).toMatchObject([{ remainingMs: 6_000 }]);
  });
});

describe('listing a quorum', () => {
  const namesOf = async (store: QuorumLeaseStore) => {
    const names: string[] = [];
    for (let after: string | null = null; ;) {
      const { items, next } = await store.list(after, 1);
      names.push(...items.map(({ resource }) => resource));
      if (next === null) return [...new Set(names)].toSorted();
      after = next;
    }
  };

  it('shows what a majority has, whichever nodes they are, and nothing that a minority has', async () => {
    const { members, store } = quorumStage();
    for (const [resource, holders] of [
      ['first-two', [0, 1]],
      ['last-two', [1, 2]],
      ['only-first', [0]],
    ] as const) {
      const asked = request({ resource });
      for (const at of holders) await members[at]?.inner.acquire(asked);
    }
    expect(await namesOf(store)).toEqual(['first-two', 'last-two']);
  });

  it('reads another node in place of one that is away, and gives up where too many are', async () => {
    const { members, store } = quorumStage();
    const asked = request({ resource: 'last-two' });
    for (const at of [1, 2]) await members[at]?.inner.acquire(asked);
    members[0].behaviour = isAway;
    expect(await namesOf(store)).toEqual(['last-two']);
    members[1].behaviour = isAway;
    await expect(namesOf(store)).rejects.toThrow(QuorumUnavailableError);
  });

  it.each(['', '7:0:', 'x'])('refuses the cursor %j, which no page had', async (cursor) => {
    await expect(quorumStage().store.list(cursor, 1)).rejects.toThrow(RangeError);
  });
});

describe('watching a quorum', () => {
  it('hears of a release once, and of the next one again', async () => {
    const { store } = quorumStage(5);
    const heard = vi.fn<(resource: string) => void>();
    const stop = await store.watchReleases(heard);
    await store.release([await win(store)]);
    await store.idle();
    expect(heard.mock.calls).toEqual([['r']]);
    await store.release([await win(store)]);
    await store.idle();
    expect(heard).toHaveBeenCalledTimes(2);
    await stop();
  });

  it('hears nothing of a contender that gives back what is less than a majority', async () => {
    const { members, store, client } = quorumStage();
    await members[0].inner.acquire(request({ holder: 'other' }));
    await members[1].inner.acquire(request({ holder: 'other' }));
    const heard = vi.fn<(resource: string) => void>();
    const stop = await store.watchReleases(heard);
    const contender = client();
    await contender.acquire(request());
    await contender.idle();
    expect(heard).not.toHaveBeenCalled();
    await stop();
  });
});
