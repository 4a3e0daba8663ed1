import { describe, expect, it } from 'vitest';
import { request, win } from '../../../../test/support/lease-requests.js';
import {
  answersAfter,
  gate,
  hearsAfter,
  holdersOf,
  inTime,
  isAway,
  isSilent,
  losesReplies,
  pausable,
  quorumStage,
  works,
} from './quorum.stage.js';
import type { UnreliableMember } from './quorum.stage.js';
import { QuorumUnavailableError } from './quorum-unavailable-error.js';

const NOBODY = [undefined, undefined, undefined];
const raises = (members: readonly UnreliableMember[]) => members.map((member) => member.countOf('raiseFence'));

describe('who does not win', () => {
  it('gives back everywhere, also where nothing was heard', async () => {
    const { clock, members, store } = quorumStage();
    members[0].behaviour = losesReplies;
    members[1].behaviour = isAway;
    await expect(inTime(clock, store.acquire(request()))).rejects.toThrow(QuorumUnavailableError);
    await store.idle();
    expect(members.map((member) => member.countOf('release'))).toEqual([1, 1, 1]);
    expect(await holdersOf(members)).toEqual(NOBODY);
  });

  it('gives back a grant that comes after its node was given up', async () => {
    const { clock, members, store } = quorumStage();
    const slow = gate();
    members[0].behaviour = isAway;
    members[1].behaviour = isAway;
    members[2].behaviour = hearsAfter(slow.opened);
    const asked = store.acquire(request());
    // The release overtakes it.
    members[2].behaviour = works;
    await expect(inTime(clock, asked)).rejects.toThrow(QuorumUnavailableError);
    slow.open();
    await store.idle();
    expect(await holdersOf(members)).toEqual(NOBODY);
  });

  it('is whoever hears of the grants when the term is over, and gives it back', async () => {
    const { clock, members, client } = quorumStage();
    const own = pausable(clock);
    const store = client({ clock: own });
    const slow = gate();
    for (const member of members) member.behaviour = answersAfter(slow.opened);
    const asked = store.acquire(request({ ttlMs: 1_000 }));
    own.pause(988);
    slow.open();
    expect(await asked).toEqual({ acquired: false, remainingMs: 0 });
    for (const member of members) member.behaviour = works;
    await store.idle();
    expect(await holdersOf(members)).toEqual(NOBODY);
  });

  it('is told when enough nodes could be free for a majority', async () => {
    const { members, store } = quorumStage(5);
    for (const [n, ttlMs] of [5_000, 1_000, 3_000, 4_000, 2_000].entries()) {
      await members[n]!.inner.acquire(request({ holder: 'other', ttlMs }));
    }
    // The answers of three nodes decide, and all three have to be free.
    expect(await store.acquire(request())).toEqual({ acquired: false, remainingMs: 5_000 });
  });

  it('hears the same when its nonce comes again, because what it gave back may still be on its way', async () => {
    const { clock, members, store } = quorumStage();
    const asked = request();
    members[0].behaviour = isAway;
    members[1].behaviour = isSilent;
    await expect(inTime(clock, store.acquire(asked))).rejects.toThrow(QuorumUnavailableError);
    for (const member of members) member.behaviour = works;
    await expect(store.acquire(asked)).rejects.toThrow(QuorumUnavailableError);
    expect(await store.acquire(request())).toMatchObject({ acquired: true });
  });
});

describe('who wins', () => {
  it('keeps a grant that comes late, with the fence of the others', async () => {
    const { clock, members, store } = quorumStage(3, [10_000, 10_000, 0]);
    const slow = gate();
    members[2].behaviour = hearsAfter(slow.opened);
    const { fence } = await win(store);
    await clock.advance(500);
    members[2].behaviour = works;
    slow.open();
    await store.idle();
    expect(await members[2].inner.inspect(['r'])).toMatchObject([{ holder: 'pod/1', fence }]);
  });
});

describe('the fence of a quorum', () => {
  it('is the largest of those a majority issued', async () => {
    const { members, client } = quorumStage(3, [0, 5_000, 0]);
    members[0].behaviour = isAway;
    const before = await win(client());
    await client().release([before]);
    members[0].behaviour = works;
    members[2].behaviour = isAway;
    // The first answer is that of the node that has not seen the fence before.
    expect((await win(client())).fence).toBeGreaterThan(before.fence);
  });

  it('is written to a majority before it counts, so that every later majority has seen it', async () => {
    const { members, client } = quorumStage(3, [0, 5_000, 0]);
    members[2].behaviour = isAway;
    const before = await win(client());
    await client().release([before]);
    members[2].behaviour = works;
    members[1].behaviour = isAway;
    expect((await win(client())).fence).toBeGreaterThan(before.fence);
  });

  it('that could not be written to a majority is no lease', async () => {
    const { clock, members, store } = quorumStage(3, [0, 5_000, 0]);
    members[2].behaviour = isAway;
    const served = members[0].inner;
    served.raiseFence = async () => false;
    expect(await inTime(clock, store.acquire(request()))).toEqual({ acquired: false, remainingMs: 0 });
    await store.idle();
    expect(await holdersOf(members)).toEqual(NOBODY);
  });

  it('needs one round when the nodes agree, which the floor sees to although their clocks differ', async () => {
    const { clock, members, store } = quorumStage(5, [0, 3, 700, 120, 41]);
    await win(store, { resource: 'first' });
    expect(Math.max(...raises(members))).toBe(1);
    const before = raises(members);
    for (const resource of ['a', 'b', 'c']) {
      await store.release([await win(store, { resource })]);
      await win(store, { resource });
      await clock.advance(1_000);
    }
    expect(raises(members)).toEqual(before);
  });

  it.each([
    ['was there from the start', 0],
    ['has been put there', 1],
  ])('is not carried into the future by a client whose clock %s', async (_how, termsBefore) => {
    const { clock, client } = quorumStage(3, [0, 1, 2]);
    const own = pausable(clock);
    let aheadMs = 0;
    const store = client({ clock: { ...own, now: () => clock.now() + aheadMs } });
    for (let n = 0; n < termsBefore; n++) await win(store, { resource: 'before' });
    aheadMs = 365 * 86_400_000;
    for (const resource of ['a', 'b']) {
      expect((await win(store, { resource })).fence).toBeLessThan((clock.now() + 10_000) * 1_000);
    }
  });
});
