import assert from 'node:assert/strict';
import { assertAbove } from './expectations.js';
import { TTL_MS } from './stage.js';
import type { Claims } from './stage.js';

export const INSPECT: Claims = {
  'shows holder, fence and what is left, and nothing for a free resource': async ({ store, win }) => {
    const { fence } = await win({ resource: 'a', holder: 'pod/7' });
    const [held, free] = await store.inspect(['a', 'b']);
    assert.deepEqual(held, { holder: 'pod/7', fence, remainingMs: held?.remainingMs });
    assertAbove(held?.remainingMs ?? 0, TTL_MS / 2);
    assert.equal(free, null);
  },

  'answers in the order given, and twice where it was asked twice': async ({ store, win }) => {
    await win({ resource: 'a', holder: 'pod/a' });
    await win({ resource: 'b', holder: 'pod/b' });
    const holders = (await store.inspect(['b', 'nobody', 'a', 'b'])).map((holding) => holding?.holder);
    assert.deepEqual(holders, ['pod/b', undefined, 'pod/a', 'pod/b']);
    assert.deepEqual(await store.inspect([]), []);
  },

  'changes nothing': async ({ store, win }) => {
    const term = await win();
    for (let n = 0; n < 3; n++) await store.inspect(['r', 'free']);
    assert.deepEqual(await store.renew([term, { resource: 'free', nonce: 'n' }], TTL_MS), [true, false]);
  },
};
