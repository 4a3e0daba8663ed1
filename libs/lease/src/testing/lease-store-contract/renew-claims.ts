import assert from 'node:assert/strict';
import { askInVain, assertAbove, assertAtMost, assertFree, assertRejects } from './expectations.js';
import { TTL_MS } from './stage.js';
import type { Claims } from './stage.js';

/** Above what one script, one statement or one transaction should touch. */
const MANY = 1_100;
/** Long enough to acquire so many on a busy machine. */
const LONG_MS = 120_000;

export const RENEW: Claims = {
  'extends the current term to the ttl asked for': async ({ store, win, left, coarsenessMs }) => {
    const term = await win({ ttlMs: TTL_MS / 2 });
    assert.deepEqual(await store.renew([term], TTL_MS), [true]);
    assertAbove(await left(), TTL_MS / 2 + coarsenessMs);
  },

  'never shortens a term: one with a shorter ttl leaves its end': async ({ store, win, left, coarsenessMs }) => {
    const term = await win({ ttlMs: TTL_MS / 2 });
    assert.deepEqual(await store.renew([term], TTL_MS), [true]);
    assert.deepEqual(await store.renew([term], TTL_MS / 4), [true]);
    assertAbove(await left(), TTL_MS / 2 + coarsenessMs);
    assertAtMost(await left(), TTL_MS + coarsenessMs);
  },

  'keeps a contender from cutting a term whose last renewal had a shorter ttl': async ({ store, win, left }) => {
    const term = await win();
    assert.deepEqual(await store.renew([term], TTL_MS / 4), [true]);
    await askInVain(store);
    assertAbove(await left(), TTL_MS / 2);
  },

  'counts from now each time, and does not add up': async ({ store, win, left, coarsenessMs }) => {
    const term = await win();
    for (let n = 0; n < 5; n++) assert.deepEqual(await store.renew([term], TTL_MS), [true]);
    assertAtMost(await left(), TTL_MS + coarsenessMs);
  },

  'refuses a ttl of 0 and leaves the term as it is': async ({ store, win, left }) => {
    const term = await win();
    await assertRejects(store.renew([term], 0), { name: 'RangeError' });
    assertAbove(await left(), TTL_MS / 2);
  },

  'changes nothing for a stale holder, and says so': async (stage) => {
    const { store, win, left, coarsenessMs } = stage;
    const stale = await stage.winAndExpire();
    await win({ holder: 'pod/2' });
    assert.deepEqual(await store.renew([stale], 100 * TTL_MS), [false]);
    assert.equal((await store.inspect(['r']))[0]?.holder, 'pod/2');
    assertAtMost(await left(), TTL_MS + coarsenessMs);
  },

  'never creates a term: not after expiry, not after release, not for a resource nobody had': async (stage) => {
    const expired = await stage.winAndExpire('a');
    const released = await stage.win({ resource: 'b' });
    await stage.store.release([released]);
    const unknown = { resource: 'c', nonce: 'n' };
    assert.deepEqual(await stage.store.renew([expired, released, unknown], TTL_MS), [false, false, false]);
    await assertFree(stage.store, 'a', 'b', 'c');
  },

  'answers a mixed batch in the order given': async ({ store, win }) => {
    const mine = await win({ resource: 'a' });
    const other = { resource: 'b', nonce: 'not-the-one' };
    await win({ resource: 'b' });
    const last = await win({ resource: 'c' });
    assert.deepEqual(await store.renew([mine, other, last], TTL_MS), [true, false, true]);
    assert.deepEqual(await store.renew([], TTL_MS), []);
  },

  'answers a batch larger than any script should be, in the order given': async ({ store, win }) => {
    const terms = await Promise.all(Array.from({ length: MANY }, (_, n) => win({ resource: `r${n}`, ttlMs: LONG_MS })));
    const dropped = terms.filter((_, n) => n % 3 === 0);
    assert.deepEqual(
      await store.release(dropped),
      dropped.map(() => true),
    );
    assert.deepEqual(
      await store.renew(terms, TTL_MS),
      terms.map((_, n) => n % 3 !== 0),
    );
  },
};
