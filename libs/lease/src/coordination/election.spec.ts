import { beforeEach, describe, expect, it } from 'vitest';
import { flaky } from '../../../../test/support/flaky.js';
import type { Flaky } from '../../../../test/support/flaky.js';
import { LeaseLostError } from '../base/errors.js';
import { NO_FENCE } from '../base/fence.js';
import { Leases } from '../holding/leases.js';
import type { LeaseStore } from '../store/lease-store.js';
import { MemoryLeaseStore } from '../store/memory-lease-store.js';
import { ManualClock } from '../testing/manual-clock.js';
import { Election } from './election.js';
import type { Leadership, Leader } from './election.js';

const HOUR_MS = 3_600_000;

let clock: ManualClock;
let memory: MemoryLeaseStore;
let store: Flaky<LeaseStore>;

beforeEach(() => {
  clock = new ManualClock();
  memory = new MemoryLeaseStore({ clock });
  store = flaky<LeaseStore>(memory);
});

function candidate(holder: string, of: LeaseStore = memory): Election {
  const leases = new Leases({ store: of, clock, ttl: '12s', holder, random: () => 0.5 });
  return new Election({ leases, clock });
}

/** A candidate that is elected some time, and how long it has been waiting for that. */
function campaigning(election: Election, signal?: AbortSignal) {
  const seen: { leadership?: Leadership; error?: unknown } = {};
  election.campaign('sweeper', signal ? { signal } : {}).then(
    (leadership) => (seen.leadership = leadership),
    (error: unknown) => (seen.error = error),
  );
  return seen;
}

/** A leader that will never renew or resign. */
async function deadLeader(ttlMs: number): Promise<void> {
  await memory.acquire({ resource: 'role:sweeper', nonce: 'n', holder: 'dead/1', ttlMs, floor: NO_FENCE });
}

/** Takes everything an observer is told, as it is told. */
function observing(signal: AbortSignal): { readonly told: (Leader | null)[]; readonly ended: Promise<void> } {
  const told: (Leader | null)[] = [];
  const read = async () => {
    for await (const leader of candidate('observer/1', store.port).observe('sweeper', { signal })) told.push(leader);
  };
  return { told, ended: read() };
}

describe('a campaign', () => {
  it('is won by one, with a fence, and by the next at once when that one resigns', async () => {
    const first = await candidate('a/1').campaign('sweeper');
    const second = campaigning(candidate('b/1'));
    await clock.advance(20_000);
    expect(second.leadership).toBeUndefined();
    expect(await first.resign()).toBe(true);
    await clock.advance(10);
    expect(second.leadership).toMatchObject({ role: 'sweeper', holder: 'b/1' });
    expect(second.leadership?.fence).toBeGreaterThan(first.fence);
    expect(first.signal.aborted).toBe(true);
    expect(second.leadership?.signal.aborted).toBe(false);
  });

  it('lasts for as long as somebody else leads, be it hours', async () => {
    const first = await candidate('a/1').campaign('sweeper', { ttl: '1h' });
    const second = campaigning(candidate('b/1'));
    await clock.advance(2 * HOUR_MS);
    expect(second).toEqual({});
    await first.resign();
    await clock.advance(10);
    expect(second.leadership).toBeDefined();
  });

  it('is won after a leader died, when its ttl is over', async () => {
    await deadLeader(5_000);
    const next = campaigning(candidate('b/1'));
    await clock.advance(4_999);
    expect(next.leadership).toBeUndefined();
    await clock.advance(10);
    expect(next.leadership).toBeDefined();
  });

  it('ends with the reason of its signal, and leaves nothing behind', async () => {
    await deadLeader(5_000);
    const stop = new AbortController();
    const gone = campaigning(candidate('b/1'), stop.signal);
    await clock.advance(1_000);
    stop.abort(new Error('the pod stops'));
    await clock.advance(5_000);
    expect(gone.error).toBe(stop.signal.reason);
    expect(await memory.inspect(['role:sweeper'])).toEqual([null]);
    expect(clock.pending).toBe(0);
  });
});

describe('a leader', () => {
  it('is told when it has lost the role, and its resignation then says that it came too late', async () => {
    const leadership = await candidate('a/1').campaign('sweeper');
    memory.clear();
    await clock.advance(4_000);
    expect(leadership.signal.reason).toBeInstanceOf(LeaseLostError);
    expect(await leadership.resign()).toBe(false);
  });

  it('that leads a piece of work resigns when it is done', async () => {
    const seen: string[] = [];
    const result = await candidate('a/1').lead('sweeper', {}, async ({ role, holder }) => {
      seen.push(role, holder);
      return 'done';
    });
    expect([result, ...seen]).toEqual(['done', 'sweeper', 'a/1']);
    expect(await memory.inspect(['role:sweeper'])).toEqual([null]);
  });

  it('that leads a piece of work campaigns anew after a loss, and leads it under a larger fence', async () => {
    const terms: Leadership[] = [];
    const stop = new AbortController();
    const leading = candidate('a/1').lead('sweeper', { signal: stop.signal }, (leadership) => {
      terms.push(leadership);
      return new Promise<string>((resolve) => leadership.signal.addEventListener('abort', () => resolve('stopped')));
    });
    await clock.advance(0);
    memory.clear();
    await clock.advance(4_000);
    expect(terms).toHaveLength(2);
    expect(terms[1]?.fence).toBeGreaterThan(terms[0]?.fence ?? 0);
    stop.abort();
    expect(await leading).toBe('stopped');
    expect(await memory.inspect(['role:sweeper'])).toEqual([null]);
  });
});

describe('an observer', () => {
  let stop: AbortController;
  beforeEach(() => {
    stop = new AbortController();
  });

  it('is told at once who leads, then of every change, and of nothing twice', async () => {
    const { told, ended } = observing(stop.signal);
    await clock.advance(500);
    expect(told).toEqual([null]);
    const first = await candidate('a/1').campaign('sweeper');
    await clock.advance(30_000);
    expect(told).toEqual([null, { holder: 'a/1', fence: first.fence }]);
    await first.resign();
    await clock.advance(0);
    expect(told.at(-1)).toBeNull();
    const second = await candidate('a/1').campaign('sweeper');
    await clock.advance(100);
    expect(told.slice(3)).toEqual([{ holder: 'a/1', fence: second.fence }]);
    stop.abort();
    await ended;
    await second.resign();
    await clock.advance(1_000);
    expect(clock.pending).toBe(0);
  });

  it('does not take a store that is away for a change, and goes on when it is back', async () => {
    const leadership = await candidate('a/1').campaign('sweeper');
    const { told, ended } = observing(stop.signal);
    await clock.advance(0);
    store.down();
    await clock.advance(10_000);
    expect(told).toHaveLength(1);
    await leadership.resign();
    store.heal();
    await clock.advance(100);
    expect(told.at(-1)).toBeNull();
    stop.abort();
    await ended;
  });
});
