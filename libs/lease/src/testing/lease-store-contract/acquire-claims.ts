import assert from 'node:assert/strict';
import type { Fence } from '../../base/fence.js';
import type { AcquireRequest } from '../../store/lease-store.js';
import { askInVain, assertAbove, assertAcquirable, assertAtMost, assertFree, assertRejects } from './expectations.js';
import { ABOVE_THE_CLOCK, TTL_MS, request } from './stage.js';
import type { Claims } from './stage.js';

/** How a free resource is taken, and by whom. */
export const ACQUIRE: Claims = {
  'gives a free resource to who asks first, with a fence': async ({ store }) => {
    const reply = await store.acquire(request());
    assert.ok(reply.acquired);
    assert.ok(Number.isSafeInteger(reply.fence));
    assertAbove(reply.fence, 0);
  },

  'tells the second one how long the holder has left': async ({ store, win, coarsenessMs }) => {
    await win();
    const remainingMs = await askInVain(store);
    assertAbove(remainingMs, TTL_MS / 2);
    assertAtMost(remainingMs, TTL_MS + coarsenessMs);
  },

  'lets one of a hundred contenders win': async ({ store }) => {
    const replies = await Promise.all(Array.from({ length: 100 }, () => store.acquire(request())));
    assert.equal(replies.filter(({ acquired }) => acquired).length, 1);
  },

  'issues no fence to a contender that fails': async ({ store, win }) => {
    const first = await win({ floor: ABOVE_THE_CLOCK });
    for (let n = 0; n < 5; n++) await askInVain(store);
    await store.release([first]);
    assert.equal((await win()).fence, ABOVE_THE_CLOCK + 2);
  },

  'keeps resources apart': async ({ store, win }) => {
    await win({ resource: 'a' });
    await assertAcquirable(store, 'b');
  },

  'keeps two terms of one holder apart': async ({ store, win, winAndExpire, left }) => {
    const kept = await win({ resource: 'a' });
    await winAndExpire('b');
    const released = await win({ resource: 'c' });
    assert.deepEqual(await store.release([released]), [true]);
    assertAbove(await left('a'), 0);
    assert.deepEqual(await store.renew([kept], TTL_MS), [true]);
  },

  'takes the letters of every script in a name': async ({ store, win }) => {
    const resources = ['größe:1', 'ключ/2', '日本:3'];
    for (const [n, resource] of resources.entries()) await win({ resource, holder: `pod/${n}` });
    const holders = (await store.inspect(resources)).map((holding) => holding?.holder);
    assert.deepEqual(holders, ['pod/0', 'pod/1', 'pod/2']);
  },
};

const REFUSED: Readonly<Record<string, Partial<AcquireRequest>>> = {
  'a ttl of 0': { ttlMs: 0 },
  'a ttl with a fraction': { ttlMs: 1.5 },
  'a ttl that is no number': { ttlMs: Number.NaN },
  'a negative floor': { floor: -1 as Fence },
};

/** What is refused before anything is written. */
export const REFUSALS: Claims = Object.fromEntries(
  Object.entries(REFUSED).map(([what, over]) => [
    `refuses ${what} and writes nothing`,
    async ({ store }) => {
      await assertRejects(store.acquire(request(over)), { name: 'RangeError' });
      await assertFree(store, 'r');
    },
  ]),
);

/** What a nonce is for: a reply gets lost, and the command comes again. */
export const ASKED_AGAIN: Claims = {
  'gives the same answer to the same nonce, and consumes no second fence': async ({ store, win }) => {
    const asked = request({ floor: ABOVE_THE_CLOCK });
    const first = await store.acquire(asked);
    assert.deepEqual(await store.acquire(asked), first);
    await store.release([asked]);
    assert.equal((await win()).fence, ABOVE_THE_CLOCK + 2);
  },

  'gives one answer to the same nonce that comes ten times at once': async ({ store }) => {
    const asked = request();
    const replies = await Promise.all(Array.from({ length: 10 }, () => store.acquire(asked)));
    for (const reply of replies) assert.deepEqual(reply, replies[0]);
    assert.ok(replies[0]?.acquired);
  },

  'counts the ttl anew when the same nonce asks again': async ({ store, left, coarsenessMs }) => {
    const asked = request({ ttlMs: TTL_MS / 2 });
    await store.acquire(asked);
    await store.acquire({ ...asked, ttlMs: TTL_MS });
    assertAbove(await left(), TTL_MS / 2 + coarsenessMs);
  },

  'never shortens the term when the same nonce asks again for a shorter ttl': async ({ store, left }) => {
    const asked = request();
    await store.acquire(asked);
    assert.ok((await store.acquire({ ...asked, ttlMs: TTL_MS / 4 })).acquired);
    await askInVain(store);
    assertAbove(await left(), TTL_MS / 2);
  },
};
