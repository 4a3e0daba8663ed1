import { describe, expect, it } from 'vitest';
import { NO_FENCE } from '../base/fence.js';
import type { LeaseEvent } from '../telemetry/lease-events.js';
import { LeaseKeeper } from './lease-keeper.js';
import { LeaseStoreDouble } from './lease-store-double.stage.js';
import { MemoryLeaseStore } from '../store/memory-lease-store.js';
import { ManualClock } from '../testing/manual-clock.js';
import { TtlAdviser, ttlAdvice, type TtlMeasurements, type TtlVerdict } from './ttl-adviser.js';
import * as fc from 'fast-check';
import { stopAt, trustedUntil } from '../store/grant.js';
import { checkTtl } from '../store/lease-request.js';

interface Holding {
  readonly resource?: string;
  readonly heldMs: number;
  readonly ttlMs?: number;
  readonly times?: number;
}

function stage(maxRemembered?: number) {
  const told: LeaseEvent[] = [];
  const adviser = new TtlAdviser({
    notify: (event) => void told.push(event),
    ...(maxRemembered !== undefined && { maxRemembered }),
  });
  const hold = ({ resource = 'r', heldMs, ttlMs = 10_000, times = 100 }: Holding) => {
    for (let n = 0; n < times; n += 1) {
      adviser.answered(1);
      adviser.acquired(resource, ttlMs);
      adviser.ended(resource, heldMs);
    }
  };
  const verdicts = () => told.map((event) => event.name === 'lease.ttl-unfit' && event.verdict);
  return { adviser, told, hold, verdicts };
}

/** An adviser that measures the leases of a keeper. */
function kept() {
  const { adviser } = stage();
  const clock = new ManualClock();
  const memory = new MemoryLeaseStore({ clock });
  const store = new LeaseStoreDouble(memory, { sessions: memory.sessions });
  return { adviser, clock, store, keeper: new LeaseKeeper({ store, clock, measure: adviser }) };
}

describe('the adviser', () => {
  it('says what was measured and which ttl that needs', () => {
    const { adviser, hold } = stage();
    hold({ heldMs: 2_000, times: 100 });
    const advice = adviser.advice('r');
    expect(advice).toMatchObject({ about: 'r', samples: 100, ttlMs: 10_000, advisedTtlMs: 2_500, verdict: 'fits' });
    for (const ms of Object.values(advice.holdMs)) expect(Math.abs(ms - 2_020)).toBeLessThanOrEqual(20);
    expect(advice.p999StoreMs).toBeCloseTo(1, 1);
  });

  it('learns nothing of a resource from terms that live with a session: those have no ttl of their own', async () => {
    const { adviser, keeper } = kept();
    await keeper.tryAcquireMany([{ resource: 'r' }], { ttlMs: 10_000 });
    expect(adviser.advice('r')).toMatchObject({ ttlMs: null, verdict: 'too-few-samples' });
  });

  it('counts a term once that is lost and then released', async () => {
    const { adviser, keeper, store, clock } = kept();
    const answer = await keeper.tryAcquire('r', { ttlMs: 10_000 });
    store.next('renew', ...Array<'fail'>(20).fill('fail'));
    await clock.advance(10_000);
    if (answer.acquired) await answer.lease.release();
    expect(adviser.advice('r')).toMatchObject({ samples: 1, ttlMs: 10_000 });
  });

  it('knows nothing of a resource it has not seen', () => {
    expect(stage().adviser.advice('r')).toMatchObject({ samples: 0, ttlMs: null, verdict: 'too-few-samples' });
  });

  it('emits an unfit TTL once, until the verdict changes', () => {
    const { told, hold, verdicts } = stage();
    hold({ heldMs: 20_000, times: 99 });
    expect(told).toEqual([]);
    hold({ heldMs: 20_000, times: 901 });
    const unfit = { name: 'lease.ttl-unfit', resource: 'r', verdict: 'too-short', ttlMs: 10_000, advisedTtlMs: 25_000 };
    expect(told).toEqual([unfit]);
    hold({ heldMs: 20_000, ttlMs: 25_000 });
    expect(verdicts()).toEqual(['too-short']);
    hold({ heldMs: 20_000 });
    expect(verdicts()).toEqual(['too-short', 'too-short']);
    hold({ heldMs: 20_000, ttlMs: 3_600_000 });
    expect(verdicts()).toEqual(['too-short', 'too-short', 'too-long']);
  });

  it('measures answered requests only: a timeout is no latency of the store', async () => {
    const { adviser, keeper, store, clock } = kept();
    const ask = async () => {
      store.next('acquire', { heldBack: new Promise((resolve) => void clock.after(400, () => resolve())) });
      const answer = keeper.tryAcquire('r', { ttlMs: 10_000 });
      await clock.advance(400);
      return answer;
    };
    store.next('acquire', 'fail', 'fail');
    await expect(keeper.tryAcquire('r', { ttlMs: 10_000 })).rejects.toThrow('Connection is closed.');
    expect(adviser.advice('r').p999StoreMs).toBe(0);
    expect([(await ask()).acquired, (await ask()).acquired]).toEqual([true, false]);
    expect(adviser.advice('r').p999StoreMs).toBeGreaterThan(300);
  });

  it('remembers a bounded number of resources, those that were acquired last', () => {
    const { adviser, hold } = stage(3);
    for (const resource of ['a', 'b', 'c', 'a', 'd']) hold({ resource, heldMs: 5, times: 1 });
    expect(['a', 'b', 'c', 'd'].map((resource) => adviser.advice(resource).samples)).toEqual([2, 0, 1, 1]);
  });
});

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface Seen {
  readonly held: number;
  readonly store?: number;
  readonly ttl?: number | null;
  readonly samples?: number;
}

function measured({ held, store = 1, ttl = 10_000, samples = 1_000 }: Seen): TtlMeasurements {
  return { about: 'r', samples, holdMs: { p50: held / 2, p99: held, p999: held }, p999StoreMs: store, ttlMs: ttl };
}

const advised = (seen: Seen) => ttlAdvice(measured(seen)).advisedTtlMs!;
const verdict = (seen: Seen, before?: TtlVerdict) => ttlAdvice(measured(seen), before).verdict;

/** How long after it was asked for a holder of a lease has to stop, if nothing is renewed. */
function stopsAfter(ttlMs: number): number {
  const term = { resource: 'r', nonce: 'n', holder: 'pod/1', fence: NO_FENCE };
  return stopAt({ ...term, ttlMs, trustedUntil: trustedUntil(0, ttlMs) });
}

const aHold = fc.double({ min: 0, max: 45 * MINUTE, noNaN: true });
const aLatency = fc.double({ min: 0, max: 10_000, noNaN: true });

describe('the advice on a ttl', () => {
  it('covers the work, the answer before it and the release after it, without a renewal', () => {
    fc.assert(
      fc.property(aHold, aLatency, (held, store) => {
        expect(stopsAfter(advised({ held, store }))).toBeGreaterThanOrEqual(held + 2 * store);
      }),
    );
  });

  it('is a ttl that may be asked for, whatever was measured', () => {
    const anything = fc.double({ min: 0, max: 1e12, noNaN: true });
    fc.assert(
      fc.property(anything, anything, fc.integer({ min: 300, max: HOUR }), (held, store, ttl) => {
        expect(() => checkTtl(advised({ held, store, ttl }))).not.toThrow();
      }),
    );
    expect(advised({ held: 0, store: 0 })).toBe(300);
  });

  it('grows with how long the resource is held, as long as a ttl can cover it', () => {
    fc.assert(
      fc.property(aHold, aHold, aLatency, (some, other, store) => {
        const [shorter, longer] = some < other ? [some, other] : [other, some];
        expect(advised({ held: shorter, store })).toBeLessThanOrEqual(advised({ held: longer, store }));
      }),
    );
  });

  it('is not given for fewer than a hundred holdings, or for a ttl that is not known', () => {
    const silent = { advisedTtlMs: null, verdict: 'too-few-samples' };
    expect(ttlAdvice(measured({ held: 5, samples: 99 }))).toMatchObject(silent);
    expect(ttlAdvice(measured({ held: 5, ttl: null }))).toMatchObject(silent);
    expect(verdict({ held: 5, samples: 100 })).toBe('fits');
  });

  it('says in one sentence what was seen, what is in use and what would do', () => {
    expect(ttlAdvice(measured({ held: 12_000 })).because).toBe(
      '99.9 % of 1000 holdings lasted up to 12 s and the ttl is 10 s: the longest are lost when a renewal fails. ' +
        '15 s would cover them.',
    );
    expect(ttlAdvice(measured({ held: 20, ttl: 2 * MINUTE })).because).toBe(
      '99.9 % of 1000 holdings lasted up to 20 ms and the ttl is 2 min: a crash blocks the resource for that long. ' +
        '300 ms would be enough.',
    );
  });
});

describe('the verdict on a ttl', () => {
  it('is too short when a section outlasts its first term', () => {
    expect(verdict({ held: 8_000, ttl: 10_000 })).toBe('fits');
    expect(verdict({ held: 9_500, ttl: 10_000 })).toBe('too-short');
    expect(verdict({ held: 10, store: 5_000, ttl: 10_000 })).toBe('too-short');
  });

  it('is too long when it is ten times what is needed and ten seconds more', () => {
    expect(verdict({ held: 5, ttl: 10_000 })).toBe('fits');
    expect(verdict({ held: 5, ttl: 11_000 })).toBe('too-long');
    expect(verdict({ held: 10_000, ttl: 100_000 })).toBe('fits');
    expect(verdict({ held: 10_000, ttl: 200_000 })).toBe('too-long');
  });

  it('stands while the value wavers on the border', () => {
    const needed = advised({ held: 8_400 });
    const nearlyEnough = { held: 8_400, ttl: needed - 200 };
    expect(verdict(nearlyEnough, 'fits')).toBe('fits');
    expect(verdict(nearlyEnough, 'too-short')).toBe('too-short');
    expect(verdict({ held: 8_400, ttl: needed }, 'too-short')).toBe('fits');
    const nearlyTooMuch = { held: 10_000, ttl: 110_000 };
    expect(verdict(nearlyTooMuch, 'fits')).toBe('fits');
    expect(verdict(nearlyTooMuch, 'too-long')).toBe('too-long');
  });
});
