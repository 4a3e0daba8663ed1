import { askInVain, assertAbove, assertAcquirable, assertAtMost } from './expectations.js';
import { TTL_MS, request } from './stage.js';
import type { Claims } from './stage.js';

/** When a term ends by itself. */
export const EXPIRY: Claims = {
  'frees the resource when the ttl is over': async ({ store, winAndExpire }) => {
    await winAndExpire();
    await assertAcquirable(store, 'r');
  },

  'does not cut a healthy term because a contender asks for a shorter one': async ({ store, win, left }) => {
    await win();
    await store.acquire(request({ ttlMs: TTL_MS / 4 }));
    assertAbove(await left(), TTL_MS / 2);
  },
};

/** A server's wall clock is stepped by NTP and by people, and what expires by it would stay for as long. */
export const CLOCK_BACK: Claims = {
  'cuts what a clock that went back has left over, so that nobody waits for it': async (stage) => {
    await stage.win();
    await stage.harness.clockGoesBack?.('r', 10 * TTL_MS);
    assertAtMost(await askInVain(stage.store), TTL_MS + stage.coarsenessMs);
    assertAtMost(await stage.left(), TTL_MS + stage.coarsenessMs);
  },
};
