import { SetupError } from '../base/errors.js';
import { CLOSING } from './lease-store-contract/closing-claims.js';
import { EVICT, LIST, MANY, NEEDS } from './lease-store-contract/crowd-claims.js';
import { ACQUIRE, ASKED_AGAIN, REFUSALS } from './lease-store-contract/acquire-claims.js';
import { FENCE } from './lease-store-contract/fence-claims.js';
import type { LeaseStoreHarness, TestRunner } from './lease-store-contract/harness.js';
import { ANNOUNCEMENTS, RELEASE } from './lease-store-contract/release-claims.js';
import { QUEUE } from './lease-store-contract/queue-claims.js';
import { RENEW } from './lease-store-contract/renew-claims.js';
import { SESSION_ACQUIRE } from './lease-store-contract/session-acquire-claims.js';
import { SESSION } from './lease-store-contract/session-claims.js';
import { SESSION_REVOKED, SESSION_TERM } from './lease-store-contract/session-term-claims.js';
import { stageOf, TTL_MS, request } from './lease-store-contract/stage.js';
import type { Claims } from './lease-store-contract/stage.js';
import { askInVain, assertAbove, assertAcquirable, assertAtMost } from './lease-store-contract/expectations.js';
import assert from 'node:assert/strict';

const INSPECT: Claims = {
  'shows holder, fence and what is left, and nothing for a free resource': async ({ store, win }) => {
    const { fence } = await win({ resource: 'a', holder: 'pod/7' });
    const [held, free] = await store.inspect(['a', 'b']);
    assert.deepEqual([held?.holder, held?.fence], ['pod/7', fence]);
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

  'shows since when each is held, where the store knows: renewals and repeated requests leave it': async (stage) => {
    const { store, winAndExpire } = stage;
    const asked = request();
    await store.acquire(asked);
    const since = async () => (await store.inspect(['r']))[0]?.acquiredAt;
    const first = await since();
    if (first === undefined) return;
    // The store's time passes.
    await winAndExpire('other');
    await store.acquire({ ...asked, ttlMs: 2 * TTL_MS });
    await store.renew([asked], TTL_MS);
    assert.equal(await since(), first);
    await store.release([asked]);
    await store.acquire(request());
    assertAbove((await since()) ?? 0, first);
  },

  'changes nothing': async ({ store, win }) => {
    const term = await win();
    for (let n = 0; n < 3; n++) await store.inspect(['r', 'free']);
    assert.deepEqual(await store.renew([term, { resource: 'free', nonce: 'n' }], TTL_MS), [true, false]);
  },
};

/** When a term ends by itself. */
const EXPIRY: Claims = {
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
const CLOCK_BACK: Claims = {
  'cuts what a clock that went back has left over, so that nobody waits for it': async (stage) => {
    await stage.win();
    await stage.harness.clockGoesBack?.('r', 10 * TTL_MS);
    assertAtMost(await askInVain(stage.store), TTL_MS + stage.coarsenessMs);
    assertAtMost(await stage.left(), TTL_MS + stage.coarsenessMs);
  },

  'counts a renewal from now, also after a clock that went back': async (stage) => {
    const term = await stage.win();
    for (const ttlMs of [TTL_MS, TTL_MS / 2]) {
      await stage.harness.clockGoesBack?.('r', 10 * TTL_MS);
      assert.deepEqual(await stage.store.renew([term], ttlMs), [true]);
      assertAtMost(await stage.left(), TTL_MS + stage.coarsenessMs);
    }
  },
};

const CHAPTERS: Readonly<Record<string, Claims>> = {
  acquire: { ...ACQUIRE, ...REFUSALS, ...ASKED_AGAIN, ...EXPIRY, ...CLOCK_BACK },
  'the fence': FENCE,
  renew: RENEW,
  release: { ...RELEASE, ...ANNOUNCEMENTS },
  inspect: INSPECT,
  'acquire of many': MANY,
  'a queue of waiters': QUEUE,
  evict: EVICT,
  list: LIST,
  'a session': SESSION,
  'acquire under a session': SESSION_ACQUIRE,
  'a term under a session': SESSION_TERM,
  'a term taken from a session': SESSION_REVOKED,
  'the close of its leases': CLOSING,
};

/**
 * The one suite that every lease store passes, those of this package and yours. Registers its tests with the runner.
 *
 * It waits for about ten terms of `shortTtlMs` to end and takes 1 100 at once: give the tests of a slow store their time.
 * @param makeHarness called before each test
 * @param runner by default what Jest, Mocha, and Vitest with `globals` define globally. Else `{ describe, it, beforeEach,
 *   afterEach }` from `vitest`, or all of `node:test`
 * @throws {SetupError} when no runner is given and none is global
 */
export function leaseStoreContract(
  name: string,
  makeHarness: () => Promise<LeaseStoreHarness>,
  runner: TestRunner = globalRunner(),
): void {
  runner.describe(`${name} keeps the lease contract`, () => {
    let harness: LeaseStoreHarness | undefined;
    runner.beforeEach(async () => {
      harness = await makeHarness();
    });
    runner.afterEach(async () => {
      const used = harness;
      harness = undefined;
      await used?.close();
    });
    const begun = () => harness ?? raise('Expected the harness to be there: beforeEach did not run, or it failed.');
    for (const [chapter, claims] of Object.entries(CHAPTERS)) {
      runner.describe(chapter, () => registerAll(runner, claims, begun));
    }
  });
}

function registerAll({ it }: TestRunner, claims: Claims, begun: () => LeaseStoreHarness): void {
  for (const [claim, prove] of Object.entries(claims)) {
    // A rest parameter, because Jest and Mocha hand a function with a parameter their `done` and wait for it.
    it(claim, async (...[context]) => {
      const harness = begun();
      // Only now is it known: harnesses are made one by one, tests are registered before. A claim that isn't tried is
      // shown as skipped where the runner can, and not as kept.
      if (!isFor(claim, harness)) return skip(context);
      await prove(stageOf(harness));
    });
  }
}

function isFor(claim: string, harness: LeaseStoreHarness): boolean {
  if (claim in CLOCK_BACK) return 'clockGoesBack' in harness;
  return NEEDS.every(([claims, capability]) => !(claim in claims) || harness.store[capability] !== undefined);
}

function skip(context: unknown): void {
  (context as { skip?: () => void } | undefined)?.skip?.();
}

function globalRunner(): TestRunner {
  const { describe, it, beforeEach, afterEach } = globalThis as unknown as Partial<TestRunner>;
  if (describe && it && beforeEach && afterEach) return { describe, it, beforeEach, afterEach };
  throw new SetupError(
    "Expected a test runner's describe, it, beforeEach and afterEach to be global, and not all of them are. " +
      'Pass them as the third argument of leaseStoreContract.',
  );
}

function raise(message: string): never {
  throw new Error(message);
}
