import assert from 'node:assert/strict';
import type { Fence } from '../../base/fence.js';
import { ALL_RELEASED } from '../../store/lease-sessions.js';
import type { AcquireReply } from '../../store/lease-store.js';
import { assertAbove, assertAcquirable, assertAtMost, assertFree, assertRejects, eventually } from './expectations.js';
import { announcements, assertHeld, newSession, open, sessionsOf, shortTtlMs } from './session-stage.js';
import { TTL_MS } from './stage.js';
import type { Claims, Stage } from './stage.js';

const NOTHING: AcquireReply = { acquired: false, remainingMs: 0 };

/** How a session begins and ends. */
export const SESSION: Claims = {
  'lives on when it is renewed, and all its terms with it': async (stage) => {
    const { win, session, isLive } = await open(stage);
    for (const resource of ['r', 'a']) await win({ resource });
    await stage.winAndExpire('other');
    const worn = [await stage.left('r'), await stage.left('a')];
    assert.deepEqual(await sessionsOf(stage).renew(session, []), { live: true, revoked: [] });
    assertExtended(stage, await stage.left('r'), worn[0]);
    assertExtended(stage, await stage.left('a'), worn[1]);
    assertAtMost(await stage.left('r'), TTL_MS + stage.coarsenessMs);
    assert.ok(await isLive());
  },

  'ends by itself after its ttl, and all its terms with it': async (stage) => {
    const { win, isLive } = await open(stage, { ttlMs: shortTtlMs(stage) });
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
    assertExtended(stage, await stage.left(), worn);
    assert.equal((await stage.store.inspect(['r']))[0]?.fence, term.fence);
  },

  'is never created by a renewal: not when it was never opened, not after its end': async (stage) => {
    const unknown = newSession();
    assert.deepEqual(await sessionsOf(stage).renew(unknown, []), { live: false, revoked: [] });
    const closed = await open(stage);
    const expired = await open(stage, { ttlMs: shortTtlMs(stage) });
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
    await assertRejects(sessionsOf(stage).open(newSession({ ttlMs: 0 })), { name: 'RangeError' });
    await assertRejects(sessionsOf(stage).open(newSession({ nonce: 'a b' })), { name: 'RangeError' });
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

/** More is left than before. A store that shows the whole ttl at any time has a spec of its own for it. */
function assertExtended({ coarsenessMs }: Stage, leftMs: number, wornMs = 0): void {
  if (wornMs < TTL_MS + coarsenessMs) assertAbove(leftMs, wornMs);
}
