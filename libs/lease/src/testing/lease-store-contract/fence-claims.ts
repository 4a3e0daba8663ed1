import assert from 'node:assert/strict';
import { NO_FENCE } from '../../base/fence.js';
import type { Fence } from '../../base/fence.js';
import { assertAbove, assertFree, assertRejects } from './expectations.js';
import { ABOVE_THE_CLOCK, request } from './stage.js';
import type { Claims } from './stage.js';

/** What a fence is worth: each one is above all that came before it, whatever happened between. */
export const FENCE: Claims = {
  'increases over releases': async ({ store, win }) => {
    const first = await win();
    await store.release([first]);
    assertAbove((await win()).fence, first.fence);
  },

  'increases over expiries': async ({ win, winAndExpire }) => {
    const first = await winAndExpire();
    assertAbove((await win()).fence, first.fence);
  },

  'increases strictly over a hundred terms': async ({ store, win }) => {
    let last: Fence = NO_FENCE;
    for (let n = 0; n < 100; n++) {
      const term = await win({ holder: `pod/${n}` });
      assertAbove(term.fence, last);
      last = term.fence;
      await store.release([term]);
    }
  },

  'is larger than the floor': async ({ win }) => {
    assertAbove((await win({ floor: ABOVE_THE_CLOCK })).fence, ABOVE_THE_CLOCK);
  },

  'is larger than a floor that is the fence the store issued last': async ({ store, win }) => {
    const first = await win({ floor: ABOVE_THE_CLOCK });
    await store.release([first]);
    assertAbove((await win({ floor: first.fence })).fence, first.fence);
  },

  'does not fall back to a floor below it': async ({ store, win }) => {
    const first = await win({ floor: ABOVE_THE_CLOCK });
    await store.release([first]);
    assertAbove((await win({ floor: 1 as Fence })).fence, first.fence);
  },

  'stays as it is while the term is renewed': async ({ store, win }) => {
    const term = await win();
    await store.renew([term], 5_000);
    assert.equal((await store.inspect(['r']))[0]?.fence, term.fence);
  },

  'increases after the store has lost everything': async ({ harness, win }) => {
    const first = await win();
    await harness.lose();
    assertAbove((await win()).fence, first.fence);
  },

  'increases after the store has lost everything and its clock was wrong, when the floor is known': async (stage) => {
    const first = await stage.win({ floor: ABOVE_THE_CLOCK });
    await stage.harness.lose();
    assertAbove((await stage.win({ floor: first.fence })).fence, first.fence);
  },

  'ends at 2^53 - 1 with an error and not with a smaller number, and nobody holds the resource then': async (stage) => {
    const floor = Number.MAX_SAFE_INTEGER as Fence;
    await assertRejects(stage.store.acquire(request({ floor })), { code: 'FENCE_EXHAUSTED' });
    await assertFree(stage.store, 'r');
  },
};
