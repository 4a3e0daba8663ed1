import { parseFence, type Fence, type LeaseStore } from '@fencepost/lease';
import { MemoryLeaseStore } from '@fencepost/lease/testing';
import { describe, expect, it, vi } from 'vitest';
import { CRON } from '../../../../test/support/audit-history.js';
import { OperatingStage } from '../../../../test/support/operating-stage.js';
import { podCard } from '../../../../test/support/pod-card.js';
import { MemoryJournal } from '../journal/memory-journal.js';
import { MemoryPodRegistry } from '../pods/memory-pod-registry.js';
import { OperatorInputError } from '../../../ledger/src/base/operator-input.js';
import { UnknownCronError } from '../../../jobs/src/enqueuing/errors.js';
import { holderSeemsAlive, LeaseService, type LeaseServicePorts } from './lease-service.js';
import { LeaseMovedError } from './leases-errors.js';
import { MemoryAuditTrail } from '../../../ledger/src/memory/memory-audit-trail.js';

const ORDER = { by: 'otto', role: 'admin', from: 'cli host-1', reason: 'its pod is dead' };

async function stage(over: Partial<LeaseServicePorts> = {}) {
  const on = new OperatingStage();
  await on.declare({}, { name: 'other' });
  const { clock, catalog, ledger } = on;
  const leases = new MemoryLeaseStore({ clock });
  const [pods, journal, audit] = [
    new MemoryPodRegistry(clock),
    new MemoryJournal({ clock }),
    new MemoryAuditTrail({ clock }),
  ];
  const service = new LeaseService({ leases, catalog, ledger, pods, journal, audit, clock, ...over });
  const acquire = async (resource: string, holder = 'pod-a/0123456789'): Promise<Fence> => {
    const request = { resource, holder, nonce: `${holder}-${resource}`, ttlMs: 60_000, floor: parseFence('0') };
    const reply = await leases.acquire(request);
    if (!reply.acquired) throw new Error(`Expected ${resource} to be free.`);
    return reply.fence;
  };
  return { on, clock, leases, pods, journal, audit, service, acquire };
}

describe('a list of leases', () => {
  it('tells how long ago each holder was heard, and which crons nobody holds', async () => {
    const { service, acquire, pods, clock } = await stage();
    const fence = await acquire(CRON);
    await pods.report(podCard({ pod: 'pod-a/0123456789' }));
    await clock.advance(3_000);
    expect(await service.list()).toEqual({
      held: [{ cron: CRON, holder: 'pod-a/0123456789', fence, remainingMs: 57_000, holderSilentMs: 3_000 }],
      free: ['other'],
    });
  });

  it('asks for 5,000 crons in five calls', async () => {
    const inspect = vi.fn<LeaseStore['inspect']>(async (resources) => resources.map(() => null));
    const { on, service } = await stage({ leases: { inspect } });
    await on.declare(...Array.from({ length: 5_000 }, (_, n) => ({ name: `cron-${n}` })));
    expect((await service.list()).free.length).toBeGreaterThanOrEqual(5_000);
    expect(inspect.mock.calls.length).toBeLessThanOrEqual(6);
  });
});

describe('a holder', () => {
  it.each([
    [null, false],
    [0, true],
    [8_000, true],
    [8_001, false],
  ])('that was heard %s ms ago seems alive: %s', (holderSilentMs, alive) => {
    expect(holderSeemsAlive({ holderSilentMs })).toBe(alive);
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

  it('leaves a term alone that is another one by now', async () => {
    const { service, acquire, leases, audit } = await stage();
    const fence = await acquire(CRON);
    await leases.evict(CRON, fence);
    const next = await acquire(CRON, 'pod-b/0123456789');
    const refused = await service.clear(CRON, { ...ORDER, fence }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(LeaseMovedError);
    expect((refused as Error).message).toContain('pod-b/01234567');
    expect(await leases.inspect([CRON])).toMatchObject([{ fence: next }]);
    expect(await audit.list({ limit: 10 })).toEqual([]);
  });

  it('leaves it alone when it changed between the look and the act', async () => {
    const { leases, acquire, on, pods, journal, audit, clock } = await stage();
    const fence = await acquire(CRON);
    const evict = async (): Promise<boolean> => {
      await leases.evict(CRON, fence);
      await acquire(CRON, 'pod-b/0123456789');
      return false;
    };
    const inspect = (resources: readonly string[]) => leases.inspect(resources);
    const { catalog, ledger } = on;
    const service = new LeaseService({ leases: { inspect, evict }, catalog, ledger, pods, journal, audit, clock });
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

  it('refuses a time that is none', async () => {
    const { service } = await stage();
    await expect(service.watchDuplicates(CRON, -1)).rejects.toThrow(OperatorInputError);
    await expect(service.watchDuplicates(CRON, 3_600_001)).rejects.toThrow(OperatorInputError);
  });

  it('ends when it is told to', async () => {
    const { service } = await stage();
    const report = await service.watchDuplicates(CRON, 3_600_000, { signal: AbortSignal.abort() });
    expect(report).toMatchObject({ cron: CRON, verdict: 'free' });
  });
});
