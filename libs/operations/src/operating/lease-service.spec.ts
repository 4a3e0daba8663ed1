import { parseFence, type Fence } from '@fencepost/lease';
import { MemorySemaphoreStore } from '@fencepost/lease/coordination';
import { MemoryLeaseStore } from '@fencepost/lease/testing';
import { describe, expect, it } from 'vitest';
import { OperatorInputError } from '@fencepost/ledger';
import { UnknownCronError } from '@fencepost/jobs/errors';
import type { Run } from '@fencepost/ledger/run';
import { CRON, runAt, START } from '../../../../test/support/audit-history.js';
import { OperatingStage } from '../../../../test/support/operating-stage.js';
import { podCard } from '../../../../test/contracts/pod-registry.contract.js';
import { MemoryJournal } from '../journal/memory-journal.js';
import { MemoryPodRegistry } from '@fencepost/jobs/internal/scheduling';
import { LeaseMovedError } from './lease-moved-error.js';
import { LeaseService, type LeaseServicePorts } from './lease-service.js';
import { RedisAuditTrail } from '@fencepost/ledger/audit-trail';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import type { JournalEntry } from '../journal/journal.js';
import { DuplicateWatch, type Look } from './leases-watch.js';

const ORDER = { by: 'otto', role: 'admin', from: 'cli host-1', reason: 'its pod is dead' };

const spaces = redisSpaces();

async function stage(over: Partial<LeaseServicePorts> = {}) {
  const on = new OperatingStage();
  await on.declare({}, { name: 'other' });
  const { clock, catalog, ledger, membership } = on;
  const leases = new MemoryLeaseStore({ clock });
  const [pods, journal, audit] = [
    new MemoryPodRegistry(clock),
    new MemoryJournal({ clock }),
    new RedisAuditTrail({ redis: spaces.redis(), ...spaces.fresh() }),
  ];
  const own = { leases: new MemoryLeaseStore({ clock }), semaphores: new MemorySemaphoreStore({ clock }) };
  const stores = { own, leases, catalog, ledger, pods, membership, journal, audit };
  const service = new LeaseService({ ...stores, clock, leasesBesidePods: true, ...over });
  const acquire = async (resource: string, holder = 'pod-a/0123456789'): Promise<Fence> => {
    const request = { resource, holder, nonce: `${holder}-${resource}`, ttlMs: 60_000, floor: parseFence('0') };
    const reply = await leases.acquire(request);
    if (!reply.acquired) throw new Error(`Expected ${resource} to be free.`);
    return reply.fence;
  };
  return { on, clock, leases, pods, membership, journal, audit, service, acquire };
}

describe('a list of leases', () => {
  it('tells how long ago each holder was heard, and which crons nobody holds', async () => {
    const { service, acquire, pods, clock } = await stage();
    const acquiredAt = clock.now();
    const fence = await acquire(CRON);
    await pods.report(podCard({ pod: 'pod-a/0123456789' }));
    await clock.advance(3_000);
    expect(await service.list()).toEqual({
      held: [
        {
          cron: CRON,
          holder: 'pod-a/0123456789',
          fence,
          remainingMs: 57_000,
          acquiredAt,
          holderState: 'live',
          holderSilentMs: 3_000,
        },
      ],
      free: ['other'],
    });
  });

  it.each([
    [true, 'gone'],
    [false, 'unknown'],
  ])('finds a holder that is not heard, leases beside the pods: %s, %s', async (leasesBesidePods, holderState) => {
    const { service, acquire, pods, clock } = await stage({ leasesBesidePods });
    const report = () => pods.report(podCard({ pod: 'pod-b/0123456789' }));
    await report();
    await acquire(CRON);
    await clock.advance(15_000);
    await report();
    const sign = { holderState, holderSilentMs: null };
    expect((await service.list()).held).toMatchObject([sign]);
    expect(await service.look(CRON)).toMatchObject(sign);
  });

  it('has those of a tag alone, held or not', async () => {
    const { on, service, acquire } = await stage();
    await on.declare({ name: 'bill', tags: ['billing'] }, { name: 'remind', tags: ['billing', 'eu'] });
    for (const name of [CRON, 'bill']) await acquire(name);
    const { held, free } = await service.list({ tag: 'billing' });
    expect([held.map(({ cron }) => cron), free]).toEqual([['bill'], ['remind']]);
  });
});

describe('clearing a lease', () => {
  it('ends the term that was looked at, and says who holds the cron after that', async () => {
    const { service, acquire, leases, audit } = await stage();
    const fence = await acquire(CRON);
    const { cleared, next } = await service.clear(CRON, { ...ORDER, fence });
    expect([cleared.fence, next]).toEqual([fence, null]);
    expect(await leases.inspect([CRON])).toEqual([null]);
    expect(await audit.list({ limit: 10 })).toMatchObject([{ ...ORDER, action: 'clear-lease', cron: CRON }]);
  });

  it('leaves it alone when it changed between the look and the act', async () => {
    const { leases, acquire, on, pods, membership, journal, audit, clock } = await stage();
    const fence = await acquire(CRON);
    const evict = async (): Promise<boolean> => {
      await leases.evict(CRON, fence);
      await acquire(CRON, 'pod-b/0123456789');
      return false;
    };
    const inspect = (resources: readonly string[]) => leases.inspect(resources);
    const { catalog, ledger } = on;
    const own = { leases, semaphores: new MemorySemaphoreStore({ clock }) };
    const stores = { own, leases: { inspect, evict }, catalog, ledger, pods, membership, journal, audit };
    const service = new LeaseService({ ...stores, clock, leasesBesidePods: true });
    await expect(service.clear(CRON, { ...ORDER, fence })).rejects.toThrow(LeaseMovedError);
    expect(await audit.list({ limit: 10 })).toEqual([]);
  });

  it('refuses an order without a reason, and a cron that is not there', async () => {
    const { service, acquire } = await stage();
    const fence = await acquire(CRON);
    await expect(service.clear(CRON, { ...ORDER, fence, reason: ' ' })).rejects.toThrow(OperatorInputError);
    await expect(service.clear('tik', { ...ORDER, fence })).rejects.toThrow(UnknownCronError);
    await expect(service.clear('other', { ...ORDER, fence })).rejects.toThrow(LeaseMovedError);
  });
});

describe('a watch after that', () => {
  it('sees what the ledger refuses from the old holder, and ends in time', async () => {
    const { on, service, acquire, clock } = await stage();
    const fence = await acquire(CRON);
    await clock.advance(10_000);
    await on.claim(1, { fence: parseFence('5') });
    const { marker } = await service.clear(CRON, { ...ORDER, fence });
    await acquire(CRON, 'pod-b/0123456789');
    const watching = service.watchDuplicates(CRON, 2_000, { marker });
    await on.claim(2, { fence: parseFence('4'), term: 'old' });
    await clock.advance(2_000);
    expect(await watching).toMatchObject({ verdict: 'clean', observations: [{ kind: 'refused' }] });
    expect(clock.pending).toBe(0);
  });
});

/** Claimed after the mark. */
function later(second: number, over: Partial<Run> = {}): Run {
  const at = START + second * 1_000;
  return runAt(at, { claimedAt: at, attemptedAt: null, claimFence: parseFence('9'), ...over });
}

describe('a watch for duplicates', () => {
  const HOLDING = { holder: 'pod-b/0123456789', fence: parseFence('9'), remainingMs: 1_000 };

  const BEFORE = runAt(START, { claimedAt: START, attemptedAt: START + 5, finishedAt: START + 10 });

  function watch(...looks: readonly Partial<Look>[]) {
    const watching = new DuplicateWatch(CRON, DuplicateWatch.markerOf(START + 20, { refusals: 3, runs: [BEFORE] }));
    for (const look of looks) watching.see({ refusals: 3, runs: [BEFORE], entries: [], holding: HOLDING, ...look });
    return watching.report();
  }

  it('says that nobody has taken the cron', () => {
    expect(watch({ holding: null })).toMatchObject({ verdict: 'free', holding: null });
    expect(watch({ holding: null }, { holding: HOLDING }).verdict).toBe('clean');
  });

  it('finds two runs of one instant, once', () => {
    const runs = [later(1, { id: `${CRON}@other` }), later(1), BEFORE];
    const { observations, verdict } = watch({ runs }, { runs });
    expect(verdict).toBe('duplicate');
    expect(observations).toMatchObject([{ kind: 'two-runs', level: 'bad', runId: `${CRON}@other` }]);
  });

  it('finds a claim under a fence that was over', () => {
    const stale = later(2, { claimFence: parseFence('8'), claimedBy: 'pod-a/0123456789' });
    const { observations, verdict } = watch({ runs: [stale, later(1), BEFORE] });
    expect(verdict).toBe('duplicate');
    expect(observations).toMatchObject([{ kind: 'stale-claim', runId: stale.id }]);
    expect(observations[0]?.text).toContain('pod-a/01234567 under fence 8, after 9');
  });

  it('notes each attempt more that began since', () => {
    const again = (attempt: number) => ({ runs: [{ ...BEFORE, attempt, attemptedAt: START + 20_000 }] });
    const { observations, verdict } = watch(again(2), again(2), again(3));
    expect(observations.map(({ kind }) => kind)).toEqual(['second-attempt', 'second-attempt']);
    expect(verdict).toBe('clean');
    expect(watch({ runs: [{ ...BEFORE, attempt: 2 }] }).observations).toEqual([]);
  });

  it('finds a run doubtful that came to wait for a person, and not one that waited before', () => {
    const waits: Run = { ...BEFORE, state: 'uncertain' };
    expect(watch({ runs: [waits] }, { runs: [waits] }).observations).toEqual([]);
    const report = watch({ runs: [BEFORE] }, { runs: [waits] });
    expect(report).toMatchObject({ verdict: 'doubtful', observations: [{ kind: 'uncertain', runId: BEFORE.id }] });
  });

  it('counts what the ledger refused, and tells of whom', () => {
    const entry = { event: 'claim.stale', at: START + 30, pod: 'pod-a/01234567' } as JournalEntry;
    const older = { ...entry, at: START, pod: 'pod-z/01234567' };
    const { observations, verdict } = watch(
      { refusals: 4, entries: [entry, older] },
      { refusals: 5, entries: [entry, older] },
    );
    expect(observations).toMatchObject([{ kind: 'refused', level: 'note' }]);
    expect(observations[0]?.text).toContain('refused 2 times');
    expect(observations[0]?.text).toContain('from pod-a/01234567.');
    expect(verdict).toBe('clean');
  });
});
