import { beforeEach, describe, expect, it } from 'vitest';
import { Leases } from '../holding/leases.js';
import { MemoryLeaseStore } from '../store/memory-lease-store.js';
import { ManualClock } from '../testing/manual-clock.js';
import { Election } from './election.js';

const BUG = new TypeError("Cannot read properties of undefined (reading 'x')");
const fails = () => Promise.reject(BUG);

describe('a bug in a store of leases', () => {
  let clock: ManualClock;
  beforeEach(() => {
    clock = new ManualClock(0);
  });

  function leasesThat(acquire: () => Promise<never>): Leases {
    const store = Object.assign(new MemoryLeaseStore({ clock }), { acquire });
    return new Leases({ store, clock, ttl: 12_000, random: () => 0, holder: 'pod/1' });
  }

  it('ends the waiting for a lease at once: it would be met again until the time is over', async () => {
    await expect(leasesThat(fails).acquire('r', { wait: '1h' })).rejects.toBe(BUG);
  });

  it('ends a lease acquirer, which would else go on for ever', async () => {
    const election = new Election({ leases: leasesThat(fails), clock });
    await expect(election.campaign('leader')).rejects.toBe(BUG);
  });

  it('is not what fetch throws when a server is away: that is asked again', async () => {
    const away = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    const over = new AbortController();
    const election = new Election({ leases: leasesThat(() => Promise.reject(away)), clock });
    let ended = false;
    const acquirer = election.campaign('leader', { signal: over.signal }).finally(() => (ended = true));
    acquirer.catch(() => {});
    await clock.advance(120_000);
    expect(ended).toBe(false);
    over.abort(new Error('enough'));
    await expect(acquirer).rejects.toThrow('enough');
  });
});
