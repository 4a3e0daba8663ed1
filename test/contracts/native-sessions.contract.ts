import { describe, expect, it } from 'vitest';
import { SetupError, type LeaseStore } from '@fencepost/lease';
import { ABOVE_THE_CLOCK, request, TTL_MS, win } from '../support/lease-requests.js';
import { manyWanted, newSession, openSession, sessionsOf, wanted, winUnder } from '../support/lease-sessions.js';

/** What a store sends. */
export type Step = 'open' | 'acquire' | 'renew' | 'evict' | 'end';

export interface NativeSessions {
  /** A store that nothing holds up. */
  readonly store: () => LeaseStore;
  /** A store in which something happens once, right before this is sent: after the look, and before the transaction. */
  readonly heldUp: (step: 'acquire' | 'evict', happening: () => Promise<unknown>) => LeaseStore;
  /** Asks a store that loses the reply to this once. */
  readonly losing: <T>(step: Exclude<Step, 'evict'>, ask: (store: LeaseStore) => Promise<T>) => Promise<T>;
}

/** What holds in every store whose own sessions carry the terms, beside the contract of all lease stores. */
export function nativeSessionsContract(name: string, harness: NativeSessions): void {
  describe(`a session in ${name}`, () => {
    limits(harness);
  });
  describe(`what happens between a look at ${name} and the transaction of a session`, () => {
    races(harness);
  });
  describe(`a reply of ${name} about a session that gets lost`, () => {
    lostReplies(harness);
  });
}

function limits({ store }: NativeSessions): void {
  it('is refused a renewal for longer than it was opened with', async () => {
    const session = await openSession(store());
    const term = await winUnder(store(), session);
    const longer = { ...session, ttlMs: 2 * TTL_MS };
    await expect(sessionsOf(store()).renew(longer, [])).rejects.toThrow(SetupError);
    expect(await store().inspect(['r'])).toMatchObject([{ fence: term.fence }]);
  });

  it('lets no term with a ttl of its own be renewed or acquired under the nonce of one of its terms, nor the other way round', async () => {
    const session = await openSession(store());
    const term = await winUnder(store(), session);
    expect(await store().renew([term], TTL_MS)).toEqual([false]);
    expect(await store().acquire(request({ nonce: term.nonce }))).toMatchObject({ acquired: false });
    const own = await win(store(), { resource: 'own' });
    const asked = wanted({ resource: 'own', nonce: own.nonce });
    expect(await sessionsOf(store()).acquire(session, [asked])).toMatchObject([{ acquired: false }]);
  });

  it('answers a resource that stands in the batch twice: the first request has it, the second does not', async () => {
    const session = await openSession(store());
    const first = wanted();
    const replies = await sessionsOf(store()).acquire(session, [first, wanted(), first]);
    expect(replies).toMatchObject([{ acquired: true }, { acquired: false }, replies[0]]);
  });
}

function races({ store, heldUp }: NativeSessions): void {
  it.each([
    ['the first', 0],
    ['a later', 1],
  ])('gives nobody a fence that somebody had for a moment, as %s term of a resource', async (_which, before) => {
    const session = await openSession(store());
    const passing = async () => store().release([await win(store(), { floor: ABOVE_THE_CLOCK })]);
    for (let n = 0; n < before; n += 1) await passing();
    const term = await winUnder(heldUp('acquire', passing), session, { floor: ABOVE_THE_CLOCK });
    expect(term.fence).toBe(ABOVE_THE_CLOCK + before + 2);
  });

  it('lets it take nothing from a quicker holder, and gives it the others', async () => {
    const session = await openSession(store());
    const slow = heldUp('acquire', () => win(store(), { resource: 'r1', holder: 'quick' }));
    const replies = await sessionsOf(slow).acquire(session, manyWanted(3));
    expect(replies.map(({ acquired }) => acquired)).toEqual([true, false, true]);
    expect(await store().inspect(['r1'])).toMatchObject([{ holder: 'quick' }]);
  });

  it('gives it nothing when it has ended', async () => {
    const session = await openSession(store());
    const slow = heldUp('acquire', () => sessionsOf(store()).close(session));
    expect(await sessionsOf(slow).acquire(session, [wanted()])).toEqual([{ acquired: false, remainingMs: 0 }]);
    expect(await store().inspect(['r'])).toEqual([null]);
  });

  it('makes an eviction stale, and leaves its later term of the same resource alone', async () => {
    const session = await openSession(store());
    const first = await winUnder(store(), session);
    const again = async () => {
      await store().release([first]);
      await winUnder(store(), session, { nonce: 'later' });
    };
    expect(await heldUp('evict', again).evict?.('r', first.fence)).toBe(false);
    expect((await sessionsOf(store()).renew(session, [])).revoked).toEqual([]);
    expect(await store().release([{ resource: 'r', nonce: 'later' }])).toEqual([true]);
  });
}

function lostReplies({ store, losing }: NativeSessions): void {
  it('costs neither the session, nor a term, nor a fence', async () => {
    const session = newSession();
    await losing('open', (lossy) => sessionsOf(lossy).open(session));
    const asked = wanted({ floor: ABOVE_THE_CLOCK });
    const replies = await losing('acquire', (lossy) => sessionsOf(lossy).acquire(session, [asked]));
    expect(replies).toEqual([{ acquired: true, fence: ABOVE_THE_CLOCK + 1 }]);
    const renewed = await losing('renew', (lossy) => sessionsOf(lossy).renew(session, []));
    expect(renewed).toEqual({ live: true, revoked: [] });
  });

  it.each(['close', 'closeOf'] as const)('leaves no doubt that %s has ended it', async (how) => {
    const session = await openSession(store());
    const { fence } = await winUnder(store(), session);
    const ended = await losing('end', (lossy) =>
      how === 'close' ? sessionsOf(lossy).close(session) : sessionsOf(lossy).closeOf('r', fence),
    );
    expect(ended).toBe(true);
    expect(await sessionsOf(store()).close(session)).toBe(false);
  });
}
