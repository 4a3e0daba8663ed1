import * as nodeTest from 'node:test';
import { describe, expect, it } from 'vitest';
import { NO_FENCE } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import type { Term } from '../store/grant.js';
import type { AcquireReply, AcquireRequest } from '../store/lease-store.js';
import { MemoryLeaseStore } from '../store/memory-lease-store.js';
import type { TestRunner } from './lease-store-contract/harness.js';
import { leaseStoreContract } from './lease-store-contract.js';
import { ManualClock } from './manual-clock.js';

type StoreClass = new (options: { readonly clock: ManualClock }) => MemoryLeaseStore;

/** Knows who holds what, so that the stores below can do wrong with it. */
class Store extends MemoryLeaseStore {
  protected readonly nonces = new Map<string, string>();

  override async acquire(request: AcquireRequest): Promise<AcquireReply> {
    const reply = await super.acquire(request);
    if (reply.acquired) this.nonces.set(request.resource, request.nonce);
    return reply;
  }

  protected current({ resource, nonce }: Term): Term {
    return { resource, nonce: this.nonces.get(resource) ?? nonce };
  }
}

class ForgetsTheNonceOnRelease extends Store {
  override release(terms: readonly Term[]): Promise<boolean[]> {
    return super.release(terms.map((term) => this.current(term)));
  }
}

class ForgetsTheNonceOnRenewal extends Store {
  override renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    return super.renew(
      terms.map((term) => this.current(term)),
      ttlMs,
    );
  }
}

class RenewsIntoExistence extends Store {
  override async renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    const again = terms.map((term) => this.acquire({ ...term, holder: 'pod', ttlMs, floor: NO_FENCE }));
    return (await Promise.all(again)).map(({ acquired }) => acquired);
  }
}

class CutsToTheTtlOfARenewal extends Store {
  override async renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    const answers = await super.renew(terms, ttlMs);
    this.cut(terms, ttlMs);
    return answers;
  }

  protected cut(terms: readonly Term[], ttlMs: number): void {
    const saved = this.save();
    for (const { resource } of terms) {
      const term = saved.terms.get(resource);
      if (term) term.expiresAt += ttlMs - term.ttlMs;
    }
    this.restore(saved);
  }
}

class ForgetsWhatTheEndWasCountedWith extends Store {
  override async renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    const answers = await super.renew(terms, ttlMs);
    const saved = this.save();
    for (const { resource } of terms) Object.assign(saved.terms.get(resource) ?? {}, { ttlMs });
    this.restore(saved);
    return answers;
  }
}

class CutsToTheTtlThatIsAskedForAgain extends CutsToTheTtlOfARenewal {
  override async acquire(request: AcquireRequest): Promise<AcquireReply> {
    const reply = await super.acquire(request);
    if (reply.acquired) this.cut([request], request.ttlMs);
    return reply;
  }
}

class KeepsWhatAClockLeftOver extends Store {
  override async renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    const before = this.save();
    const answers = await super.renew(terms, ttlMs);
    const saved = this.save();
    for (const [resource, { expiresAt }] of before.terms) {
      const term = saved.terms.get(resource);
      if (term) term.expiresAt = Math.max(term.expiresAt, expiresAt);
    }
    this.restore(saved);
    return answers;
  }
}

class AnswersInAnyOrder extends Store {
  override async renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    return (await super.renew(terms, ttlMs)).toSorted((a, b) => Number(b) - Number(a));
  }
}

class IssuesOneFence extends Store {
  override async acquire(request: AcquireRequest): Promise<AcquireReply> {
    const reply = await super.acquire(request);
    return reply.acquired ? { ...reply, fence: 7 as Fence } : reply;
  }
}

class IgnoresTheFloor extends Store {
  override acquire(request: AcquireRequest): Promise<AcquireReply> {
    return super.acquire({ ...request, floor: NO_FENCE });
  }
}

class NeverExpires extends Store {
  override async acquire(request: AcquireRequest): Promise<AcquireReply> {
    const reply = await super.acquire(request);
    if (reply.acquired) await super.renew([request], Number.MAX_SAFE_INTEGER);
    return reply;
  }
}

class TakesEveryRequestForANewOne extends Store {
  #asked = 0;
  override acquire(request: AcquireRequest): Promise<AcquireReply> {
    return super.acquire({ ...request, nonce: `${request.nonce}/${this.#asked++}` });
  }
}

class HoldsWhatItHasNoFenceFor extends Store {
  override async acquire(request: AcquireRequest): Promise<AcquireReply> {
    return super.acquire(request).catch(async (error: unknown) => {
      if (request.floor > 0) await super.acquire({ ...request, floor: NO_FENCE });
      throw error;
    });
  }
}

class CountsItsFencesInAWildcard extends Store {
  override acquire(request: AcquireRequest): Promise<AcquireReply> {
    return super.acquire({ ...request, resource: 'any' });
  }
}

class AnnouncesStaleReleases extends Store {
  readonly #heard: ((resource: string) => void)[] = [];

  override async release(terms: readonly Term[]): Promise<boolean[]> {
    const answers = await super.release(terms);
    for (const { resource } of terms.filter((_, n) => !answers[n])) this.#heard.forEach((hear) => hear(resource));
    return answers;
  }

  override watchReleases(onReleased: (resource: string) => void): Promise<() => Promise<void>> {
    this.#heard.push(onReleased);
    return super.watchReleases(onReleased);
  }
}

class NeverStopsAnnouncing extends Store {
  override async watchReleases(onReleased: (resource: string) => void): Promise<() => Promise<void>> {
    await super.watchReleases(onReleased);
    return async () => {};
  }
}

interface Registered {
  readonly name: string;
  readonly run: (context?: unknown) => Promise<void>;
}

/** A runner that runs nothing by itself. */
function collector(): { readonly runner: TestRunner; readonly tests: Registered[] } {
  const tests: Registered[] = [];
  const before: (() => Promise<void>)[] = [];
  const after: (() => Promise<void>)[] = [];
  const path: string[] = [];
  const inOrder = async (steps: readonly (() => Promise<void>)[]) => {
    for (const step of steps) await step();
  };
  const runner: TestRunner = {
    describe: (name, body) => {
      path.push(name);
      body();
      path.pop();
    },
    it: (name, body) => {
      const run = async (context?: unknown) => {
        await inOrder(before);
        await body(context);
        await inOrder(after);
      };
      tests.push({ name: [...path.slice(1), name].join(' '), run });
    },
    beforeEach: (body) => before.push(body),
    afterEach: (body) => after.push(body),
  };
  return { runner, tests };
}

function contractFor(Subject: StoreClass): Registered[] {
  const { runner, tests } = collector();
  const makeHarness = async () => {
    const clock = new ManualClock();
    const store = new Subject({ clock });
    return {
      store,
      untilFree: () => clock.advance(500),
      clockGoesBack: async (_resource: string, ms: number) => clock.jumpWall(-ms),
      lose: async () => {
        store.clear();
        await clock.advance(1);
      },
      close: async () => {},
    };
  };
  leaseStoreContract('a store', makeHarness, runner);
  return tests;
}

/** The claims that don't hold, out of those whose names begin so. */
async function objections(Subject: StoreClass, claim = ''): Promise<string[]> {
  const broken: string[] = [];
  for (const { name, run } of contractFor(Subject)) {
    if (name.startsWith(claim)) await run().catch(() => broken.push(name));
  }
  return broken;
}

describe('the lease contract', () => {
  it('has nothing to object to in a store without a defect', async () => {
    expect(await objections(Store)).toEqual([]);
  });

  it.each<[StoreClass, string]>([
    [ForgetsTheNonceOnRelease, 'release changes nothing for a stale holder, and says so'],
    [ForgetsTheNonceOnRenewal, 'renew changes nothing for a stale holder, and says so'],
    [RenewsIntoExistence, 'renew never creates a term'],
    [CutsToTheTtlOfARenewal, 'renew never shortens a term'],
    [ForgetsWhatTheEndWasCountedWith, 'renew keeps a contender from cutting a term'],
    [CutsToTheTtlThatIsAskedForAgain, 'acquire never shortens the term when the same nonce asks again'],
    [KeepsWhatAClockLeftOver, 'acquire counts a renewal from now, also after a clock that went back'],
    [AnswersInAnyOrder, 'renew answers a mixed batch in the order given'],
    [IssuesOneFence, 'the fence increases over releases'],
    [IgnoresTheFloor, 'the fence is larger than the floor'],
    [NeverExpires, 'acquire frees the resource when the ttl is over'],
    [TakesEveryRequestForANewOne, 'acquire gives the same answer to the same nonce'],
    [HoldsWhatItHasNoFenceFor, 'the fence ends at 2^53 - 1 with an error'],
    [CountsItsFencesInAWildcard, 'acquire keeps resources apart'],
    [AnnouncesStaleReleases, 'release is announced, unless it was a stale one'],
    [NeverStopsAnnouncing, 'release is not announced to a watcher that has stopped'],
  ])('objects to a store that has one defect: %o', async (Subject, claim) => {
    expect(await objections(Subject, claim)).toEqual([expect.stringContaining(claim)]);
  });

  it('tells the runner that the claim about a wall clock was not tried where a store has none', async () => {
    const { runner, tests } = collector();
    const store = new MemoryLeaseStore();
    const harness = { store, untilFree: async () => {}, lose: async () => {}, close: async () => {} };
    leaseStoreContract('a store', async () => harness, runner);
    const skipped: string[] = [];
    const clockTest = tests.find(({ name }) => name.includes('a clock that went back'));
    await clockTest?.run({ skip: () => skipped.push('skipped') });
    expect(skipped).toEqual(['skipped']);
    expect(await store.inspect(['r'])).toEqual([null]);
  });

  it('takes no argument in any test, or Jest and Mocha would wait for its callback', () => {
    const arities: number[] = [];
    const { runner } = collector();
    const noting = { ...runner, it: (_name: string, body: () => Promise<void>) => arities.push(body.length) };
    leaseStoreContract('a store', () => Promise.reject(new Error('not made')), noting);
    expect(new Set(arities)).toEqual(new Set([0]));
  });

  it('says what to pass when no runner is global', () => {
    expect(() => leaseStoreContract('a store', () => Promise.reject(new Error('not made')))).toThrow(
      /third argument of leaseStoreContract/,
    );
  });

  it('takes the functions of node:test and of Vitest as they are', () => {
    expectRunner(nodeTest);
    expectRunner({ describe, it, beforeEach: () => {}, afterEach: () => {} });
  });
});

/** The compiler does the checking. */
function expectRunner(runner: TestRunner): void {
  expect(runner).toHaveProperty('describe');
}
