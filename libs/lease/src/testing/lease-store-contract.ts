import { SetupError } from '../base/errors.js';
import { EVICT, MANY, NEEDS } from './lease-store-contract/crowd-claims.js';
import { ACQUIRE, ASKED_AGAIN, REFUSALS } from './lease-store-contract/acquire-claims.js';
import { CLOCK_BACK, EXPIRY } from './lease-store-contract/expiry-claims.js';
import { FENCE } from './lease-store-contract/fence-claims.js';
import type { LeaseStoreHarness, TestRunner } from './lease-store-contract/harness.js';
import { INSPECT } from './lease-store-contract/inspect-claims.js';
import { ANNOUNCEMENTS, RELEASE } from './lease-store-contract/release-claims.js';
import { RENEW } from './lease-store-contract/renew-claims.js';
import { stageOf } from './lease-store-contract/stage.js';
import type { Claims } from './lease-store-contract/stage.js';

const CHAPTERS: Readonly<Record<string, Claims>> = {
  acquire: { ...ACQUIRE, ...REFUSALS, ...ASKED_AGAIN, ...EXPIRY, ...CLOCK_BACK },
  'the fence': FENCE,
  renew: RENEW,
  release: { ...RELEASE, ...ANNOUNCEMENTS },
  inspect: INSPECT,
  'acquire of many': MANY,
  evict: EVICT,
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
  return NEEDS.every(([claims, method]) => !(claim in claims) || method in harness.store);
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
