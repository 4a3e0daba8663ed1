import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { NO_FENCE } from '../../base/fence.js';
import type { Fence } from '../../base/fence.js';
import { ALL_RELEASED } from '../../store/lease-sessions.js';
import type { LeaseSessions, Session, SessionRequest } from '../../store/lease-sessions.js';
import type { AcquireReply } from '../../store/lease-store.js';
import { askInVain, assertAbove, assertAcquirable, assertAtMost, assertFree, assertRejects } from './expectations.js';
import { eventually } from './expectations.js';
import { ABOVE_THE_CLOCK, TTL_MS } from './stage.js';
import type { Claims, Stage, WonTerm } from './stage.js';

const NOTHING: AcquireReply = { acquired: false, remainingMs: 0 };
const MANY = 1_100;

interface Opened {
  readonly session: Session;
  /** Acquires under the session, and fails the test where it can't. */
  readonly win: (over?: Partial<SessionRequest>) => Promise<WonTerm>;
  readonly ask: (...resources: readonly string[]) => Promise<AcquireReply[]>;
  readonly isLive: () => Promise<boolean>;
}

/** How a session begins and ends. */
export const SESSION: Claims = {
  'lives on when it is renewed, and all its terms with it': async (stage) => {
    const { win, session, isLive } = await open(stage);
    for (const resource of ['r', 'a']) await win({ resource });
    await stage.winAndExpire('other');
    const worn = [await stage.left('r'), await stage.left('a')];
    assert.deepEqual(await sessionsOf(stage).renew(session, []), { live: true, revoked: [] });
    assertAbove(await stage.left('r'), worn[0] ?? 0);
    assertAbove(await stage.left('a'), worn[1] ?? 0);
    assertAtMost(await stage.left('r'), TTL_MS + stage.coarsenessMs);
    assert.ok(await isLive());
  },

  'ends by itself after its ttl, and all its terms with it': async (stage) => {
    const { win, isLive } = await open(stage, { ttlMs: stage.shortTtlMs });
    for (const resource of ['a', 'b']) await win({ resource });
    await stage.harness.untilFree('a');
    await assertFree(stage.store, 'a', 'b');
    assert.equal(await isLive(), false);
    await assertAcquirable(stage.store, 'b');
  },

  'is extended, and keeps its terms, when it is opened again': async (stage) => {
    const { win, session } = await open(stage);
    const term = await win();
    await stage.winAndExpire('other');
    const worn = await stage.left();
    await sessionsOf(stage).open(session);
    assertAbove(await stage.left(), worn);
    assert.equal((await stage.store.inspect(['r']))[0]?.fence, term.fence);
  },

  'is never created by a renewal: not when it was never opened, not after its end': async (stage) => {
    const unknown = session();
    assert.deepEqual(await sessionsOf(stage).renew(unknown, []), { live: false, revoked: [] });
    const closed = await open(stage);
    const expired = await open(stage, { ttlMs: stage.shortTtlMs });
    await closed.win({ resource: 'a' });
    await expired.win({ resource: 'b' });
    await sessionsOf(stage).close(closed.session);
    await stage.harness.untilFree('b');
    for (const { isLive } of [closed, expired]) assert.deepEqual([await isLive(), await isLive()], [false, false]);
    await assertFree(stage.store, 'a', 'b');
  },

  'that has ended acquires nothing, and takes nothing from its successor': async (stage) => {
    const ended = await open(stage);
    await ended.win({ resource: 'a' });
    await sessionsOf(stage).close(ended.session);
    const successor = await open(stage, { holder: 'pod/2' });
    const { fence } = await successor.win({ resource: 'a' });
    assert.deepEqual(await ended.ask('a', 'b'), [NOTHING, NOTHING]);
    assert.equal(await ended.isLive(), false);
    assert.equal(await sessionsOf(stage).close(ended.session), false);
    assert.equal((await stage.store.inspect(['a']))[0]?.fence, fence);
    await assertFree(stage.store, 'b');
  },

  'that was closed frees all its terms, and no other': async (stage) => {
    const [mine, other] = [await open(stage), await open(stage, { holder: 'pod/2' })];
    for (const resource of ['a', 'b']) await mine.win({ resource });
    await other.win({ resource: 'c' });
    await stage.win({ resource: 'd' });
    assert.equal(await sessionsOf(stage).close(mine.session), true);
    assert.equal(await sessionsOf(stage).close(mine.session), false);
    await assertHeld(stage, { a: false, b: false, c: true, d: true });
    assert.ok(await other.isLive());
  },

  'that was closed is announced in one word': async (stage) => {
    const announced = await announcements(stage);
    const { win, session: mine } = await open(stage);
    for (const resource of ['a', 'b']) await win({ resource });
    await sessionsOf(stage).close(mine);
    await eventually('the end of the session is announced', () => announced.heard.includes(ALL_RELEASED));
    await announced.stop();
  },

  'is ended for any holder by who knows the fence of one of its terms': async (stage) => {
    const announced = await announcements(stage);
    const [dead, other] = [await open(stage), await open(stage, { holder: 'pod/2' })];
    const { fence } = await dead.win({ resource: 'a' });
    await dead.win({ resource: 'b' });
    await other.win({ resource: 'c' });
    assert.equal(await sessionsOf(stage).closeOf('a', (fence - 1) as Fence), false);
    assert.ok(await dead.isLive());
    assert.equal(await sessionsOf(stage).closeOf('a', fence), true);
    await assertHeld(stage, { a: false, b: false, c: true });
    assert.deepEqual([await dead.isLive(), await other.isLive()], [false, true]);
    await eventually('the end of the session is announced', () => announced.heard.includes(ALL_RELEASED));
    await announced.stop();
    const successor = await other.win({ resource: 'a' });
    assert.equal(await sessionsOf(stage).closeOf('a', fence), false);
    assertAbove(successor.fence, fence);
  },

  'is not found by the fence of a term that has a ttl of its own, nor of a free resource': async (stage) => {
    const { fence } = await stage.win();
    assert.equal(await sessionsOf(stage).closeOf('r', fence), false);
    assert.equal(await sessionsOf(stage).closeOf('free', fence), false);
    await assertHeld(stage, { r: true });
  },

  'is refused with a ttl of 0 or a nonce with blanks': async (stage) => {
    await assertRejects(sessionsOf(stage).open(session({ ttlMs: 0 })), { name: 'RangeError' });
    await assertRejects(sessionsOf(stage).open(session({ nonce: 'a b' })), { name: 'RangeError' });
  },

  'is gone, and every term with it, when the store has lost everything': async (stage) => {
    const { win, isLive, ask } = await open(stage);
    await win();
    await stage.harness.lose();
    assert.equal(await isLive(), false);
    assert.deepEqual(await ask('r'), [NOTHING]);
    await assertAcquirable(stage.store, 'r');
  },
};

/** How a term under a session begins. */
export const SESSION_ACQUIRE: Claims = {
  'gives the same answers to the same nonces, and consumes no second fence': async (stage) => {
    const { session: mine } = await open(stage);
    const asked = ['r', 'a'].map((resource) => wanted({ resource, floor: ABOVE_THE_CLOCK }));
    const first = await sessionsOf(stage).acquire(mine, asked);
    assert.ok(first.every(({ acquired }) => acquired));
    assert.deepEqual(await sessionsOf(stage).acquire(mine, asked), first);
    await stage.store.release(asked);
    assert.equal((await stage.win()).fence, ABOVE_THE_CLOCK + 2);
  },

  'answers in the order given: the free ones, and how long the others are held': async (stage) => {
    const [mine, other] = [await open(stage), await open(stage, { holder: 'pod/2' })];
    await other.win({ resource: 'b' });
    await stage.win({ resource: 'd' });
    const replies = await mine.ask('a', 'b', 'c', 'd');
    assert.deepEqual(
      replies.map(({ acquired }) => acquired),
      [true, false, true, false],
    );
    for (const reply of replies) if (!reply.acquired) assertLeft(stage, reply.remainingMs);
    assert.deepEqual(await mine.ask(), []);
  },

  'is refused while a term with a ttl of its own holds the resource, and the other way round': async (stage) => {
    const { win, ask } = await open(stage);
    await stage.winAndExpire('r');
    await win();
    assertLeft(stage, await askInVain(stage.store));
    const own = await stage.win({ resource: 'a' });
    const [reply] = await ask('a');
    assert.equal(reply?.acquired, false);
    await stage.store.release([own]);
    await win({ resource: 'a' });
  },

  'lets one of ten sessions win': async (stage) => {
    const all = await Promise.all(Array.from({ length: 10 }, (_, n) => open(stage, { holder: `pod/${n}` })));
    const replies = await Promise.all(all.map(({ ask }) => ask('a', 'b')));
    for (const place of [0, 1]) assert.equal(replies.filter((reply) => reply[place]?.acquired).length, 1);
  },

  'takes over the terms of a session that is over, in the order given and under larger fences': async (stage) => {
    const dead = await open(stage, { ttlMs: stage.shortTtlMs });
    const before = [await dead.win({ resource: 'a' }), await dead.win({ resource: 'b' })];
    await stage.harness.untilFree('a');
    const successor = await open(stage, { holder: 'pod/2' });
    const replies = await successor.ask('a', 'new', 'b');
    const fences = replies.map((reply) => (reply.acquired ? reply.fence : assert.fail()));
    assertAbove(fences[0] ?? 0, before[0]?.fence ?? 0);
    assertAbove(fences[2] ?? 0, before[1]?.fence ?? 0);
    assert.equal((await stage.store.inspect(['b']))[0]?.holder, 'pod/2');
  },

  'gives nothing to a request that comes again after its term was taken': async (stage) => {
    const [mine, other] = [await open(stage), await open(stage, { holder: 'pod/2' })];
    const asked = wanted();
    await sessionsOf(stage).acquire(mine.session, [asked]);
    await stage.store.release([asked]);
    const { fence } = await other.win();
    const [again] = await sessionsOf(stage).acquire(mine.session, [asked]);
    assert.equal(again?.acquired, false);
    assert.equal((await stage.store.inspect(['r']))[0]?.fence, fence);
  },

  'takes 1 100 in one call, and one command ends them all': async (stage) => {
    const { ask, session: mine } = await open(stage, { ttlMs: 6 * TTL_MS });
    const resources = Array.from({ length: MANY }, (_, n) => `r${n}`);
    const replies = await ask(...resources);
    assert.equal(replies.filter(({ acquired }) => acquired).length, MANY);
    await sessionsOf(stage).close(mine);
    const successor = await open(stage, { holder: 'pod/2', ttlMs: 6 * TTL_MS });
    assert.equal((await successor.ask(...resources)).filter(({ acquired }) => acquired).length, MANY);
  },

  'issues fences that increase strictly over terms of both kinds': async (stage) => {
    const { win } = await open(stage);
    let last: Fence = NO_FENCE;
    for (let n = 0; n < 30; n++) {
      const term = n % 3 === 0 ? await stage.win() : await win();
      assertAbove(term.fence, last);
      last = term.fence;
      await stage.store.release([term]);
    }
  },

  'issues a fence above the floor, and never falls back to a floor below it': async (stage) => {
    const { win } = await open(stage);
    const high = await win({ floor: ABOVE_THE_CLOCK });
    assert.equal(high.fence, ABOVE_THE_CLOCK + 1);
    await stage.store.release([high]);
    const own = await stage.win({ floor: 1 as Fence });
    assert.equal(own.fence, ABOVE_THE_CLOCK + 2);
    await stage.store.release([own]);
    assert.equal((await win({ floor: 1 as Fence })).fence, ABOVE_THE_CLOCK + 3);
  },

  'issues a larger fence than a term that ended with its session': async (stage) => {
    const dead = await open(stage, { ttlMs: stage.shortTtlMs });
    await dead.win({ floor: ABOVE_THE_CLOCK });
    await dead.win({ resource: 'a', floor: ABOVE_THE_CLOCK });
    await stage.harness.untilFree('r');
    assert.equal((await stage.win()).fence, ABOVE_THE_CLOCK + 2);
    const successor = await open(stage);
    assert.equal((await successor.win({ resource: 'a' })).fence, ABOVE_THE_CLOCK + 2);
  },

  'issues a larger fence after the store has lost everything, when the floor is known': async (stage) => {
    const { win } = await open(stage);
    const { fence } = await win({ floor: ABOVE_THE_CLOCK });
    await stage.harness.lose();
    assertAbove((await (await open(stage)).win({ floor: fence })).fence, fence);
  },

  'ends at 2^53 - 1 with an error, and nobody holds the resource then': async (stage) => {
    const { session: mine } = await open(stage);
    const asked = wanted({ floor: Number.MAX_SAFE_INTEGER as Fence });
    await assertRejects(sessionsOf(stage).acquire(mine, [asked]), { code: 'FENCE_EXHAUSTED' });
    await assertFree(stage.store, 'r');
  },

  'refuses a negative floor and writes nothing': async (stage) => {
    const { session: mine } = await open(stage);
    const asked = [wanted(), wanted({ resource: 'a', floor: -1 as Fence })];
    await assertRejects(sessionsOf(stage).acquire(mine, asked), { name: 'RangeError' });
    await assertFree(stage.store, 'r', 'a');
  },
};

/** How one term of a session ends alone. */
export const SESSION_TERM: Claims = {
  'is released alone, once, and by its nonce only': async (stage) => {
    const { win, isLive } = await open(stage);
    const [gone] = [await win({ resource: 'a' }), await win({ resource: 'b' })];
    assert.deepEqual(await stage.store.release([{ resource: 'a', nonce: 'other' }, gone]), [false, true]);
    assert.deepEqual(await stage.store.release([gone]), [false]);
    await assertHeld(stage, { a: false, b: true });
    assert.ok(await isLive());
    await assertAcquirable(stage.store, 'a');
  },

  'is announced when it is released': async (stage) => {
    const announced = await announcements(stage);
    const { win } = await open(stage);
    await stage.store.release([await win({ resource: 'freed' })]);
    await eventually('the release is announced', () => announced.heard.includes('freed'));
    await announced.stop();
  },

  'is shown with its holder, its fence and what is left of its session': async (stage) => {
    const { win } = await open(stage, { holder: 'pod/7' });
    const { fence } = await win();
    const own = await stage.win({ resource: 'own', holder: 'pod/8' });
    const [held, free, other] = await stage.store.inspect(['r', 'free', 'own']);
    assert.deepEqual([held?.holder, held?.fence, free], ['pod/7', fence, null]);
    assert.deepEqual([other?.holder, other?.fence], ['pod/8', own.fence]);
    assertLeft(stage, held?.remainingMs ?? 0);
    if (stage.store.list) {
      const { items } = await stage.store.list(null, 1_000);
      const shown = items.map(({ resource, holder }) => `${resource} ${holder}`).toSorted();
      assert.deepEqual(shown, ['own pod/8', 'r pod/7']);
    }
  },

  'is over with its session: its release says so, and it is not listed': async (stage) => {
    const { win } = await open(stage, { ttlMs: stage.shortTtlMs });
    const term = await win();
    await stage.harness.untilFree('r');
    if (stage.store.list) assert.deepEqual((await stage.store.list(null, 1_000)).items, []);
    if (stage.store.evict) assert.equal(await stage.store.evict('r', term.fence), false);
    assert.deepEqual(await stage.store.release([term]), [false]);
    await assertAcquirable(stage.store, 'r');
  },
};

/** How the holder of a session learns that one of its terms was taken; of stores that can take one. */
export const SESSION_REVOKED: Claims = {
  'is reported by each renewal until it is acknowledged, and the other terms stay': async (stage) => {
    const { win, session: mine } = await open(stage);
    const [gone, kept] = [await win({ resource: 'a' }), await win({ resource: 'b' })];
    assert.equal(await stage.store.evict?.('a', gone.fence), true);
    const { nonce } = gone;
    for (let n = 0; n < 2; n++) {
      const reply = await sessionsOf(stage).renew(mine, []);
      assert.deepEqual(reply, { live: true, revoked: [{ resource: 'a', nonce }] });
    }
    assert.deepEqual(await sessionsOf(stage).renew(mine, [gone]), { live: true, revoked: [] });
    assert.equal((await stage.store.inspect(['b']))[0]?.fence, kept.fence);
    await assertAcquirable(stage.store, 'a');
  },

  'stays reported when an earlier term of the same resource is acknowledged': async (stage) => {
    const { win, session: mine } = await open(stage);
    const first = await win();
    await stage.store.evict?.('r', first.fence);
    const second = await win();
    await stage.store.evict?.('r', second.fence);
    const reply = await sessionsOf(stage).renew(mine, [first]);
    assert.deepEqual(
      reply.revoked.filter(({ nonce }) => nonce !== first.nonce),
      [{ resource: 'r', nonce: second.nonce }],
    );
  },

  'is reported to no other session, and not again by one that evicts in vain': async (stage) => {
    const [mine, other] = [await open(stage), await open(stage, { holder: 'pod/2' })];
    const term = await mine.win();
    await other.win({ resource: 'a' });
    assert.equal(await stage.store.evict?.('r', (term.fence + 1) as Fence), false);
    assert.deepEqual((await sessionsOf(stage).renew(mine.session, [])).revoked, []);
    await stage.store.evict?.('r', term.fence);
    await other.win();
    assert.equal(await stage.store.evict?.('r', term.fence), false);
    assert.deepEqual((await sessionsOf(stage).renew(other.session, [])).revoked, []);
  },
};

function session(over: Partial<Session> = {}): Session {
  return { nonce: randomUUID(), holder: 'pod/1', ttlMs: TTL_MS, ...over };
}

function wanted(over: Partial<SessionRequest> = {}): SessionRequest {
  return { resource: 'r', nonce: randomUUID(), floor: NO_FENCE, ...over };
}

function sessionsOf({ store }: Stage): LeaseSessions {
  return store.sessions ?? assert.fail('Expected a store with sessions.');
}

async function open(stage: Stage, over: Partial<Session> = {}): Promise<Opened> {
  const sessions = sessionsOf(stage);
  const mine = session(over);
  await sessions.open(mine);
  const win = async (how?: Partial<SessionRequest>) => {
    const asked = wanted(how);
    const [reply] = await sessions.acquire(mine, [asked]);
    assert.ok(reply?.acquired, `Expected to win ${asked.resource}, got ${JSON.stringify(reply)}.`);
    return { resource: asked.resource, nonce: asked.nonce, fence: reply.fence };
  };
  return {
    session: mine,
    win,
    ask: (...resources) =>
      sessions.acquire(
        mine,
        resources.map((resource) => wanted({ resource })),
      ),
    isLive: async () => (await sessions.renew(mine, [])).live,
  };
}

async function announcements({ store }: Stage) {
  const heard: string[] = [];
  const stop = await store.watchReleases((resource) => void heard.push(resource));
  return { heard, stop };
}

async function assertHeld({ store }: Stage, expected: Readonly<Record<string, boolean>>): Promise<void> {
  const holdings = await store.inspect(Object.keys(expected));
  assert.deepEqual(
    holdings.map((holding) => holding !== null),
    Object.values(expected),
  );
}

/** What a contender is told of a holder whose ttl was counted from a moment ago. */
function assertLeft({ coarsenessMs }: Stage, remainingMs: number): void {
  assertAbove(remainingMs, TTL_MS / 2);
  assertAtMost(remainingMs, TTL_MS + coarsenessMs);
}
