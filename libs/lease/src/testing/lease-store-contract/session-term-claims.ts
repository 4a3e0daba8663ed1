import assert from 'node:assert/strict';
import type { Fence } from '../../base/fence.js';
import { assertAcquirable, eventually, listAll } from './expectations.js';
import { announcements, assertHeld, assertLeft, open, sessionsOf, shortTtlMs } from './session-stage.js';
import type { Claims } from './stage.js';

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
    if (!stage.store.list) return;
    const shown = [...(await listAll(stage.store, 100)).values()];
    assert.deepEqual(shown.map(({ resource, holder }) => `${resource} ${holder}`).toSorted(), ['own pod/8', 'r pod/7']);
  },

  'is over with its session: its release says so, and it is not listed': async (stage) => {
    const { win } = await open(stage, { ttlMs: shortTtlMs(stage) });
    const term = await win();
    await stage.harness.untilFree('r');
    if (stage.store.list) assert.equal((await listAll(stage.store, 100)).size, 0);
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
