import { describe, expect, it } from 'vitest';
import type { PodRegistry } from '@fencepost/operations/internal';

type NewPodCard = Parameters<PodRegistry['report']>[0];

/** A pod that was not heard for so long is gone. */
export const POD_GONE_MS = 15_000;

/** What a registry's spec has to offer, so that the contract can drive it. */
export interface PodRegistryHarness {
  /** Empty, and nobody else's. */
  readonly registry: PodRegistry;
  /** The same store, as another process sees it. */
  readonly elsewhere: PodRegistry;
  /** The store's clock, epoch milliseconds. */
  readonly now: () => Promise<number>;
  /** Makes it so that the pod was heard so long ago; negative for a time that is still to come. */
  readonly heardAgo: (pod: string, ms: number) => Promise<void>;
  /** How many pods are remembered. */
  readonly remembered: () => Promise<number>;
}

export function card(pod: string, more: Partial<NewPodCard> = {}): NewPodCard {
  return {
    ...{ pod, label: 'pod', roles: ['scheduler'], host: 'host-1', pid: 7, startedAt: 1_700_000_000_000 },
    ...{ version: '0.1.0', node: 'v20.19.0', zoneData: '2025c', app: '@shop/reports', buildSeq: null },
    ...{ ledger: 'redis', clockSkewMs: -1.25, rttMs: 0.5, lagMs: 3, leaseTtlMs: 10_000, assigned: 4, held: 3 },
    ...{ concurrency: null, running: null, handlers: [] },
    ...more,
  };
}

/** What a healthy pod of both roles says of itself. */
export function podCard(over: Partial<NewPodCard> = {}): NewPodCard {
  return {
    ...{ pod: 'pod-a/0123456789abcdef', label: 'pod-a', roles: ['scheduler', 'worker'], host: 'host-1', pid: 1 },
    ...{ startedAt: Date.UTC(2026, 2, 2, 8), version: '0.1.0', node: 'v22.0.0', zoneData: '2025c', app: 'app' },
    ...{ buildSeq: 1, ledger: 'redis', clockSkewMs: 0, rttMs: 0.5, lagMs: 1, leaseTtlMs: 10_000, assigned: 1, held: 1 },
    ...{ concurrency: 10, running: 0, handlers: ['tick'], runLeaseMs: 30_000, sweepEveryMs: 5_000, waitReplicas: 0 },
    ...over,
  };
}

/** The one suite that every registry passes. */
export function podRegistryContract(name: string, makeHarness: () => Promise<PodRegistryHarness>): void {
  describe(`${name} keeps the contract of pod registries`, () => {
    it('lists everybody with what they say of themselves, by identity', async () => {
      const { registry, elsewhere, now } = await makeHarness();
      expect(await registry.list()).toEqual([]);
      const worker = card('b/2', { roles: ['worker'], buildSeq: 7, running: 2, handlers: ['nightly', 'a "b" ü'] });
      const before = await now();
      await registry.report(worker);
      await elsewhere.report(card('a/1'));
      const found = await elsewhere.list();
      expect(found).toMatchObject([card('a/1'), worker]);
      for (const { seenAt } of found) {
        expect(seenAt).toBeGreaterThanOrEqual(before);
        expect(seenAt).toBeLessThanOrEqual(await now());
      }
    });

    it("answers a report with the store's clock", async () => {
      const { registry, now } = await makeHarness();
      const before = await now();
      const told = await registry.report(card('a/1'));
      expect(told).toBeGreaterThanOrEqual(before);
      expect(told).toBeLessThan((await now()) + 1);
    });

    it('goes by the last report of a pod', async () => {
      const { registry } = await makeHarness();
      await registry.report(card('a/1', { held: 1 }));
      await registry.report(card('a/1', { held: 2 }));
      expect((await registry.list()).map(({ held }) => held)).toEqual([2]);
    });

    it('lists a pod no more that has not reported for long, and forgets it', async () => {
      const { registry, heardAgo, remembered } = await makeHarness();
      await registry.report(card('a/gone'));
      await heardAgo('a/gone', POD_GONE_MS - 5_000);
      expect(await registry.list()).toHaveLength(1);
      await heardAgo('a/gone', POD_GONE_MS);
      expect(await registry.list()).toEqual([]);
      await registry.report(card('b/2'));
      expect((await registry.list()).map(({ pod }) => pod)).toEqual(['b/2']);
      expect(await remembered()).toBe(1);
    });

    it('does not keep the dead among the living because a clock went back', async () => {
      const { registry, heardAgo } = await makeHarness();
      await registry.report(card('a/dead'));
      await heardAgo('a/dead', -3_600_000);
      const now = await registry.report(card('b/2'));
      const [dead] = await registry.list();
      expect(dead).toMatchObject({ pod: 'a/dead', seenAt: Math.floor(now) });
    });

    it('takes a pod off that leaves', async () => {
      const { registry, elsewhere, remembered } = await makeHarness();
      await registry.report(card('a/1'));
      await registry.report(card('b/2'));
      await elsewhere.leave('a/1');
      await elsewhere.leave('a/1');
      expect((await registry.list()).map(({ pod }) => pod)).toEqual(['b/2']);
      expect(await remembered()).toBe(1);
    });
  });
}
