import { describe, expect, it } from 'vitest';
import { MAX_OVERDUE, OVERDUE_MS, type Membership } from '@fencepost/jobs/internal';
import { FIRST_FORMAT, FORMAT } from '@fencepost/ledger/format';

/** What a membership's spec has to offer, so that the contract can drive it. */
export interface MembershipHarness {
  /** Empty, and nobody else's. */
  readonly membership: Membership;
  /** The same store, as another process sees it. */
  readonly elsewhere: Membership;
  /** The same store, as a process of that format sees it. */
  readonly ofFormat: (format: number) => Membership;
  /** The store's clock, epoch milliseconds. */
  readonly now: () => Promise<number>;
  /** Has the catalog accept a change. */
  readonly change: () => Promise<void>;
  /** A pod of a build that announces no format. */
  readonly unannounced: (pod: string) => Promise<void>;
  /** Makes it so that the pod was heard so long ago; negative for a time that is still to come. */
  readonly heardAgo: (pod: string, ms: number) => Promise<void>;
  /** How many pods are remembered. */
  readonly remembered: () => Promise<number>;
}

/** A pod that was not heard for so long is no member any more. */
const MEMBER_GONE_MS = 3_500;
/** What a membership that was asked a moment ago may be off by. */
const SLACK_MS = 5_000;

/** The one suite that every adapter of the membership passes. */
export function membershipContract(name: string, makeHarness: () => Promise<MembershipHarness>): void {
  describe(`${name} keeps the membership contract`, () => {
    beating(makeHarness);
    alone(makeHarness);
    going(makeHarness);
    listing(makeHarness);
    announcing(makeHarness);
    agreeingOnAFormat(makeHarness);
  });
}

function beating(makeHarness: () => Promise<MembershipHarness>): void {
  it('answers with the clock of the store, the pod that asks, and nothing overdue', async () => {
    const { membership, now } = await makeHarness();
    const before = await now();
    const beat = await membership.heartbeat('a');
    expect(beat.now).toBeGreaterThanOrEqual(before);
    expect(beat.now).toBeLessThanOrEqual(await now());
    expect(beat).toMatchObject({
      catalogVersion: 0,
      members: [{ pod: 'a', sinceHeardMs: expect.any(Number) }],
      overdue: [],
    });
  });

  it('tells who else is there, by name, and how long each has been silent', async () => {
    const { membership, elsewhere, heardAgo } = await makeHarness();
    await elsewhere.heartbeat('c');
    await elsewhere.heartbeat('b');
    await heardAgo('b', 2_000);
    const { members } = await membership.heartbeat('a');
    expect(members.map(({ pod }) => pod)).toEqual(['a', 'b', 'c']);
    expect(members[1]?.sinceHeardMs).toBeGreaterThanOrEqual(2_000);
    expect(members[1]?.sinceHeardMs).toBeLessThan(MEMBER_GONE_MS);
  });

  it('tells the weight that each pod has announced with its last heartbeat, if it is another than 1', async () => {
    const { membership, elsewhere } = await makeHarness();
    await membership.heartbeat('a', 0.25);
    expect((await elsewhere.heartbeat('b')).members).toEqual([
      { pod: 'a', sinceHeardMs: expect.any(Number), weight: 0.25 },
      { pod: 'b', sinceHeardMs: expect.any(Number) },
    ]);
    await membership.beat('a', 'pod', 0.5);
    expect((await elsewhere.heartbeat('b')).members[0]?.weight).toBe(0.5);
    await membership.heartbeat('a', 1);
    expect((await elsewhere.heartbeat('b')).members.map(({ weight }) => weight)).toEqual([undefined, undefined]);
  });

  it('counts a pod as a member that is also heard as a worker, whichever it said last', async () => {
    const { membership, elsewhere } = await makeHarness();
    await elsewhere.heartbeat('watching');
    await membership.heartbeat('both', 0.5);
    await membership.beat('both', 'process');
    const member = { pod: 'both', sinceHeardMs: expect.any(Number), weight: 0.5 };
    expect((await elsewhere.heartbeat('watching')).members).toContainEqual(member);
  });

  it('hears a pod that says only that it is alive, and counts its format', async () => {
    const { membership, elsewhere, ofFormat, heardAgo } = await makeHarness();
    await membership.heartbeat('quiet');
    await heardAgo('quiet', 2_000);
    await ofFormat(FIRST_FORMAT).beat('quiet', 'pod');
    await ofFormat(NEXT).beat('worker', 'process');
    const { members, lowest } = await elsewhere.heartbeat('a');
    expect(members.map(({ pod }) => pod)).toEqual(['a', 'quiet']);
    expect(members[1]?.sinceHeardMs).toBeLessThan(2_000);
    expect(lowest).toEqual({ process: 'quiet', format: FIRST_FORMAT });
  });

  it('tells how far the catalog is, also a process that is no pod', async () => {
    const { membership, change } = await makeHarness();
    await change();
    const { catalogVersion } = await membership.heartbeat('a');
    await change();
    const reply = await membership.heartbeat('a');
    expect(reply.catalogVersion).toBeGreaterThan(catalogVersion ?? Infinity);
    expect((await membership.announce('worker')).catalogVersion).toBe(reply.catalogVersion);
  });
}

function alone(makeHarness: () => Promise<MembershipHarness>): void {
  it('calls no process alone that has just begun to listen, or that heard another lately', async () => {
    const { membership, elsewhere } = await makeHarness();
    expect((await membership.heartbeat('a')).isAlone).toBe(false);
    expect((await elsewhere.announce('worker')).isAlone).toBe(false);
  });
}

function going(makeHarness: () => Promise<MembershipHarness>): void {
  it('counts a pod no more that was not heard for long, and forgets it', async () => {
    const { membership, heardAgo, remembered } = await makeHarness();
    await membership.heartbeat('gone');
    await heardAgo('gone', MEMBER_GONE_MS);
    expect((await membership.heartbeat('a')).members.map(({ pod }) => pod)).toEqual(['a']);
    expect(await remembered()).toBe(1);
  });

  it('does not keep the dead among the living because a clock went back', async () => {
    const { membership, heardAgo } = await makeHarness();
    await membership.heartbeat('dead');
    await heardAgo('dead', -3_600_000);
    expect((await membership.heartbeat('a')).members).toContainEqual({ pod: 'dead', sinceHeardMs: expect.any(Number) });
    await heardAgo('dead', MEMBER_GONE_MS);
    expect((await membership.heartbeat('a')).members.map(({ pod }) => pod)).toEqual(['a']);
  });
}

function listing(makeHarness: () => Promise<MembershipHarness>): void {
  it('lists all live processes, and which of them are scheduler pods, for one that is none of them', async () => {
    const { membership, elsewhere, ofFormat, heardAgo, unannounced } = await makeHarness();
    expect(await elsewhere.processes()).toEqual([]);
    await membership.announce('worker');
    await membership.heartbeat('pod');
    await ofFormat(FORMAT).beat('both', 'process');
    await ofFormat(FORMAT).beat('both', 'pod');
    await unannounced('former');
    await membership.leave('left');
    const found = await elsewhere.processes();
    expect(found.map(({ process, isScheduler }) => `${process} ${isScheduler}`)).toEqual([
      'both true',
      'former true',
      'pod true',
      'worker false',
    ]);
    for (const { sinceHeardMs } of found) expect(sinceHeardMs).toBeLessThan(MEMBER_GONE_MS);
    await membership.leave('pod');
    await heardAgo('worker', MEMBER_GONE_MS);
    expect((await elsewhere.processes()).map(({ process }) => process)).not.toContain('worker');
    expect((await elsewhere.processes()).map(({ process }) => process)).not.toContain('pod');
  });

  it('lists a pod that is only heard as a worker any more as no scheduler', async () => {
    const { membership, elsewhere, heardAgo } = await makeHarness();
    await membership.heartbeat('both');
    await heardAgo('both', MEMBER_GONE_MS);
    await membership.beat('both', 'process');
    expect(await elsewhere.processes()).toMatchObject([{ process: 'both', isScheduler: false }]);
  });
}

function announcing(makeHarness: () => Promise<MembershipHarness>): void {
  it('tells what is overdue, the longest first, and nothing that was due just now', async () => {
    const { membership, elsewhere, now } = await makeHarness();
    const at = await now();
    const dues = { later: at + SLACK_MS, just: at - OVERDUE_MS + SLACK_MS, late: at - OVERDUE_MS, asked: 0 };
    await membership.publishDue(new Map(Object.entries(dues)));
    const beat = await elsewhere.heartbeat('a');
    expect(beat.overdue.map(({ cron }) => cron)).toEqual(['asked', 'late']);
    expect(beat.overdue.map(({ overdueMs }) => overdueMs)).toEqual([beat.now, beat.now - dues.late]);
  });

  it('takes many at once, also none, and tells the longest overdue when there are too many', async () => {
    const { membership } = await makeHarness();
    const count = 2 * MAX_OVERDUE + 1;
    await membership.publishDue(new Map());
    await membership.publishDue(new Map(Array.from({ length: count }, (_, n) => [`cron-${n}`, count - n])));
    const { overdue } = await membership.heartbeat('a');
    expect(overdue).toHaveLength(MAX_OVERDUE);
    expect(overdue[0]).toMatchObject({ cron: `cron-${count - 1}` });
    expect(overdue.at(-1)).toMatchObject({ cron: `cron-${count - MAX_OVERDUE}` });
    await membership.publishDue(new Map(Array.from({ length: count }, (_, n) => [`cron-${n}`, null])));
    expect((await membership.heartbeat('a')).overdue).toEqual([]);
  });
}

const NEXT = FIRST_FORMAT + 1;

function agreeingOnAFormat(makeHarness: () => Promise<MembershipHarness>): void {
  it('tells each process the lowest format of all, scheduler pods or not, and who has it', async () => {
    const { membership, ofFormat } = await makeHarness();
    expect(await membership.lowestFormat()).toEqual({ process: null, format: FORMAT });
    expect((await ofFormat(NEXT).heartbeat('pod')).lowest).toEqual({ process: 'pod', format: NEXT });
    expect(await ofFormat(FIRST_FORMAT).announce('worker')).toMatchObject({ process: 'worker', format: FIRST_FORMAT });
    const lowest = { process: 'worker', format: FIRST_FORMAT };
    expect((await ofFormat(NEXT).heartbeat('pod')).lowest).toEqual(lowest);
    expect(await ofFormat(NEXT).lowestFormat()).toEqual(lowest);
  });

  it('writes the higher format again when the last process of the lower one has left, or died', async () => {
    const { ofFormat, heardAgo } = await makeHarness();
    const [older, newer] = [ofFormat(FIRST_FORMAT), ofFormat(NEXT)];
    await older.announce('leaving');
    expect((await newer.heartbeat('pod')).lowest.format).toBe(FIRST_FORMAT);
    await older.leave('leaving');
    expect((await newer.heartbeat('pod')).lowest.format).toBe(NEXT);
    await older.heartbeat('dying');
    expect((await newer.announce('worker')).format).toBe(FIRST_FORMAT);
    await heardAgo('dying', MEMBER_GONE_MS);
    expect(await newer.lowestFormat()).toMatchObject({ format: NEXT });
    expect((await newer.announce('worker')).format).toBe(NEXT);
  });

  it('takes a pod that announces no format for one of the first', async () => {
    const { ofFormat, unannounced } = await makeHarness();
    await ofFormat(NEXT).announce('worker');
    await unannounced('old');
    const lowest = { process: 'old', format: FIRST_FORMAT };
    expect(await ofFormat(NEXT).lowestFormat()).toEqual(lowest);
    expect(await ofFormat(NEXT).announce('worker')).toMatchObject(lowest);
  });

  it('refuses a process that cannot read what was written, and counts it nowhere', async () => {
    const { ofFormat } = await makeHarness();
    const [first, third] = [ofFormat(FIRST_FORMAT), ofFormat(NEXT + 1)];
    await third.announce('new');
    const sentence = `reads records up to format ${NEXT}, but its deployment writes format ${NEXT + 1}. Upgrade it.`;
    await expect(first.heartbeat('old')).rejects.toThrow(sentence);
    await expect(first.announce('old')).rejects.toThrow(sentence);
    await expect(first.lowestFormat()).rejects.toThrow(sentence);
    expect(await third.lowestFormat()).toEqual({ process: 'new', format: NEXT + 1 });
    expect((await ofFormat(NEXT).announce('next')).format).toBe(NEXT);
  });
}
