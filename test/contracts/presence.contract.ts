import { describe, expect, it } from 'vitest';
import { MEMBER_GONE_MS, MOST_OVERDUE, OVERDUE_MS, type Presence } from '../../libs/jobs/src/scheduling/presence.js';

/** What a presence's spec has to offer, so that the contract can drive it. */
export interface PresenceHarness {
  /** Empty, and nobody else's. */
  readonly presence: Presence;
  /** The same store, as another process sees it. */
  readonly elsewhere: Presence;
  /** The store's clock, epoch milliseconds. */
  readonly now: () => Promise<number>;
  /** Has the catalog accept a change. */
  readonly change: () => Promise<void>;
  /** Makes it so that the pod was heard so long ago; negative for a time that is still to come. */
  readonly heardAgo: (pod: string, ms: number) => Promise<void>;
  /** How many pods are remembered. */
  readonly remembered: () => Promise<number>;
}

/** What a presence that was asked a moment ago may be off by. */
const SLACK_MS = 5_000;

/** The one suite that every presence passes. */
export function presenceContract(name: string, makeHarness: () => Promise<PresenceHarness>): void {
  describe(`${name} keeps the presence contract`, () => {
    beating(makeHarness);
    going(makeHarness);
    announcing(makeHarness);
  });
}

function beating(makeHarness: () => Promise<PresenceHarness>): void {
  it('answers with the clock of the store, the pod that asks, and nothing overdue', async () => {
    const { presence, now } = await makeHarness();
    const before = await now();
    const beat = await presence.beat('a');
    expect(beat.now).toBeGreaterThanOrEqual(before);
    expect(beat.now).toBeLessThanOrEqual(await now());
    expect(beat).toMatchObject({ catalogVersion: 0, members: [{ pod: 'a', silentMs: 0 }], overdue: [] });
  });

  it('tells who else is there, by name, and how long each has been silent', async () => {
    const { presence, elsewhere, heardAgo } = await makeHarness();
    await elsewhere.beat('c');
    await elsewhere.beat('b');
    await heardAgo('b', 2_000);
    const { members } = await presence.beat('a');
    expect(members.map(({ pod }) => pod)).toEqual(['a', 'b', 'c']);
    expect(members[1]?.silentMs).toBeGreaterThanOrEqual(2_000);
    expect(members[1]?.silentMs).toBeLessThan(MEMBER_GONE_MS);
  });

  it('tells how far the catalog is', async () => {
    const { presence, change } = await makeHarness();
    await change();
    const { catalogVersion } = await presence.beat('a');
    await change();
    expect((await presence.beat('a')).catalogVersion).toBeGreaterThan(catalogVersion ?? Infinity);
  });

  it('remembers when any pod was last heard, also when all are gone', async () => {
    const { presence, elsewhere } = await makeHarness();
    expect(await presence.lastHeard()).toBeNull();
    const { now } = await presence.beat('a');
    await presence.leave('a');
    expect(await elsewhere.lastHeard()).toBe(now);
  });
}

function going(makeHarness: () => Promise<PresenceHarness>): void {
  it('counts a pod no more that was not heard for long, and forgets it', async () => {
    const { presence, heardAgo, remembered } = await makeHarness();
    await presence.beat('gone');
    await heardAgo('gone', MEMBER_GONE_MS);
    expect((await presence.beat('a')).members.map(({ pod }) => pod)).toEqual(['a']);
    expect(await remembered()).toBe(1);
  });

  it('counts a pod no more that has left', async () => {
    const { presence, elsewhere } = await makeHarness();
    await presence.beat('a');
    await elsewhere.beat('b');
    await elsewhere.leave('b');
    expect((await presence.beat('a')).members.map(({ pod }) => pod)).toEqual(['a']);
    await elsewhere.leave('b');
  });

  it('does not keep the dead among the living because a clock went back', async () => {
    const { presence, heardAgo } = await makeHarness();
    await presence.beat('dead');
    await heardAgo('dead', -3_600_000);
    expect((await presence.beat('a')).members).toContainEqual({ pod: 'dead', silentMs: 0 });
    await heardAgo('dead', MEMBER_GONE_MS);
    expect((await presence.beat('a')).members.map(({ pod }) => pod)).toEqual(['a']);
  });
}

function announcing(makeHarness: () => Promise<PresenceHarness>): void {
  it('tells what is overdue, the longest first, and nothing that was due just now', async () => {
    const { presence, elsewhere, now } = await makeHarness();
    const at = await now();
    const dues = { later: at + SLACK_MS, just: at - OVERDUE_MS + SLACK_MS, late: at - OVERDUE_MS, asked: 0 };
    await presence.announce(new Map(Object.entries(dues)));
    const beat = await elsewhere.beat('a');
    expect(beat.overdue.map(({ cron }) => cron)).toEqual(['asked', 'late']);
    expect(beat.overdue.map(({ overdueMs }) => overdueMs)).toEqual([beat.now, beat.now - dues.late]);
  });

  it('goes by what was announced last', async () => {
    const { presence, now } = await makeHarness();
    const at = await now();
    await presence.announce(
      new Map([
        ['a', 0],
        ['b', 0],
        ['c', at + SLACK_MS],
      ]),
    );
    await presence.announce(
      new Map([
        ['a', at + SLACK_MS],
        ['b', null],
        ['c', 0],
      ]),
    );
    const { overdue } = await presence.beat('a');
    expect(overdue.map(({ cron }) => cron)).toEqual(['c']);
  });

  it('takes many at once, also none, and tells the longest overdue when there are too many', async () => {
    const { presence } = await makeHarness();
    const count = 2 * MOST_OVERDUE + 1;
    await presence.announce(new Map());
    await presence.announce(new Map(Array.from({ length: count }, (_, n) => [`cron-${n}`, count - n])));
    const { overdue } = await presence.beat('a');
    expect(overdue).toHaveLength(MOST_OVERDUE);
    expect(overdue[0]).toMatchObject({ cron: `cron-${count - 1}` });
    expect(overdue.at(-1)).toMatchObject({ cron: `cron-${count - MOST_OVERDUE}` });
    await presence.announce(new Map(Array.from({ length: count }, (_, n) => [`cron-${n}`, null])));
    expect((await presence.beat('a')).overdue).toEqual([]);
  });
}
