import { describe, expect, it } from 'vitest';
import { Leases, connectLeases, type LeaseStore } from '@fencepost/lease';
import { MemoryLeaseStore } from '@fencepost/lease/testing';

/** Without `probe`, as a store of one's own may be. */
function unprobed(): LeaseStore {
  const store = new MemoryLeaseStore();
  Object.defineProperty(store, 'probe', { value: undefined });
  return store;
}

describe('connectLeases', () => {
  it('refuses replicas to wait for where a store is given, which would wait for none', async () => {
    const leases = connectLeases({ store: new MemoryLeaseStore(), waitForReplicas: 1 });
    await expect(leases).rejects.toMatchObject({ code: 'SETUP', message: expect.stringContaining('waitForReplicas') });
  });

  it('warns that nothing is known of a store without a probe, also beside an observer', async () => {
    for (const observe of [undefined, () => {}]) {
      const troubles: string[] = [];
      const onTrouble = (message: string) => void troubles.push(message);
      const leases = await connectLeases({
        store: unprobed(),
        criticality: 'correctness',
        onTrouble,
        ...(observe && { observe }),
      });
      expect(troubles).toEqual([expect.stringContaining('no "probe"')]);
      await leases.close();
    }
  });
});

describe('Leases', () => {
  const store = new MemoryLeaseStore();
  const [ours, theirs] = [new Leases({ store, ttl: '10s' }), new Leases({ store, ttl: '10s' })];

  it('says how long the holder has left when it tries once', async () => {
    const held = await theirs.acquire('tried');
    const left: number[] = [];
    expect(await ours.tryAcquire('tried', { onBusy: (remainingMs) => void left.push(remainingMs) })).toBeNull();
    expect(left).toHaveLength(1);
    expect(left[0]).toBeGreaterThan(0);
    expect(left[0]).toBeLessThanOrEqual(10_000);
    await held.release();
  });

  it('refuses at once to wait for a lease that its caller works under, however deep', async () => {
    const HELD = { name: 'LeaseHeldError', code: 'LEASE_HELD', resource: 'nested' };
    await ours.using('nested', {}, async (lease) => {
      await ours.using('between', {}, async () => {
        await expect(ours.acquire('nested', { wait: '1h' })).rejects.toMatchObject(HELD);
        await expect(ours.acquireMany(['other', 'nested'], { wait: '1h' })).rejects.toMatchObject(HELD);
        expect(await ours.tryAcquire('nested')).toBeNull();
      });
      await lease.release();
      await ours.using('nested', {}, async () => {});
    });
  });

  it('lets other callers of its process wait for each other', async () => {
    const turns = ['a', 'b'].map((caller) => ours.using('shared', { wait: '1h' }, async () => caller));
    expect(await Promise.all(turns)).toEqual(['a', 'b']);
  });

  it('refuses to extend what was released with an error of its own', async () => {
    const lease = await ours.acquire('ended');
    await lease.release();
    await expect(lease.extend('1m')).rejects.toMatchObject({ name: 'LeaseReleasedError', code: 'LEASE_RELEASED' });
  });
});
