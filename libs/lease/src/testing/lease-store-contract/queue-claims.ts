import assert from 'node:assert/strict';
import type { AcquireRequest, LeaseStore } from '../../store/lease-store.js';
import { askInVain, assertAbove, assertAcquirable, assertAtMost, assertFree } from './expectations.js';
import { ABOVE_THE_CLOCK, request, TTL_MS, type Claims } from './stage.js';

/** How long a released resource is kept for a waiter. */
const RESERVED_MS = 1_000;

/** Of stores that serve those who wait in their order. */
export const QUEUE: Claims = {
  'serves those who wait in their order, although each holder asks again at once': async ({ store, win }) => {
    let held: { resource: string; nonce: string } = await win();
    const [b, c, d] = [await enter(store), await enter(store), await enter(store)];
    // Asking again keeps the place, and so does a renewal of the holder.
    for (const waiter of [c, b, d]) await assertBusy(store, waiter);
    assert.deepEqual(await store.renew([held], 2 * TTL_MS), [true]);
    for (const [next, ...others] of [[b, c, d], [c, d], [d]] as const) {
      assert.deepEqual(await store.release([held]), [true]);
      await askInVain(store);
      for (const other of others) await assertBusy(store, other);
      const reply = await store.acquire(next);
      assert.ok(reply.acquired, 'Expected the first that waits to be served.');
      assert.equal((await store.inspect(['r']))[0]?.fence, reply.fence);
      held = next;
    }
    await store.release([held]);
    await assertAcquirable(store, 'r');
  },

  'passes over a waiter that leaves, and serves it no more': async ({ store, win }) => {
    const held = await win();
    const [left, leaves, stays] = [await enter(store), await enter(store), await enter(store)];
    assert.deepEqual(await store.release([left]), [false]);
    assert.deepEqual(await store.release([held]), [true]);
    await assertBusy(store, stays);
    // It is kept for this one by now.
    await store.release([leaves]);
    assert.ok((await store.acquire(stays)).acquired);
    await store.release([stays]);
    await assertAcquirable(store, 'r');
  },

  'waits a second for a waiter that has died': async ({ store, win, winAndExpire }) => {
    const held = await win();
    await enter(store);
    await store.release([held]);
    assertAtMost(await askInVain(store), RESERVED_MS);
    for (let n = 0; !(await store.acquire(request())).acquired; n += 1) {
      assert.ok(n < RESERVED_MS, 'Expected a dead waiter to be given up.');
      // The store's time passes.
      await winAndExpire('other');
    }
  },

  'shows no holder while it keeps the resource for a waiter, and heeds the floor of that one': async ({
    store,
    win,
  }) => {
    const held = await win();
    const waiter = await enter(store, { floor: ABOVE_THE_CLOCK });
    await store.release([held]);
    await assertFree(store, 'r');
    const reply = await store.acquire(waiter);
    assert.ok(reply.acquired);
    assertAbove(reply.fence, ABOVE_THE_CLOCK);
    assert.deepEqual(await store.renew([waiter], TTL_MS), [true]);
  },

  'keeps nothing for a caller that asked once': async ({ store, win }) => {
    const held = await win();
    await askInVain(store);
    await store.release([held]);
    await assertAcquirable(store, 'r');
  },
};

async function enter(store: LeaseStore, over: Partial<AcquireRequest> = {}): Promise<AcquireRequest> {
  const waiter = request({ ...over, waits: true });
  await assertBusy(store, waiter);
  return waiter;
}

async function assertBusy(store: LeaseStore, waiter: AcquireRequest): Promise<void> {
  assert.equal((await store.acquire(waiter)).acquired, false);
}
