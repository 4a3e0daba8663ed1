import { describe, expect, it } from 'vitest';
import type { PodRegistry } from '@fencepost/jobs/internal';

type NewPodCard = Parameters<PodRegistry['report']>[0];

/** A pod that was not heard for this long is gone. */
export const POD_GONE_MS = 15_000;

const DAY_MS = 24 * 3_600_000;

/** What a registry's spec provides, so that the contract can drive it. */
export interface PodRegistryHarness {
  /** Empty, and used by nobody else. */
  readonly registry: PodRegistry;
  /** The same store, as another process sees it. */
  readonly elsewhere: PodRegistry;
  /** The store's clock, epoch milliseconds. */
  readonly now: () => Promise<number>;
  /**
   * Makes it so that the pod, the revision it declares, and the registry were heard or began this long ago; negative for a
   * time still to come.
   */
  readonly heardAgo: (pod: string, ms: number) => Promise<void>;
  /** How many pods are remembered. */
  readonly remembered: () => Promise<number>;
  /** Deletes all that the store has. */
  readonly wipe: () => Promise<void>;
}

export function card(pod: string, more: Partial<NewPodCard> = {}): NewPodCard {
  return {
    ...{ pod, label: 'pod', roles: ['scheduler'], host: 'host-1', pid: 7, startedAt: 1_700_000_000_000 },
    ...{ version: '0.1.0', node: 'v20.19.0', zoneData: '2025c', app: '@shop/reports', revision: null },
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
    ...{ revision: 1, ledger: 'redis', clockSkewMs: 0, rttMs: 0.5, lagMs: 1, leaseTtlMs: 10_000, assigned: 1, held: 1 },
    ...{ concurrency: 10, running: 0, handlers: ['tick'], runLeaseMs: 30_000, sweepEveryMs: 5_000, waitReplicas: 0 },
    ...over,
  };
}

type MakeHarness = () => Promise<PodRegistryHarness>;

/** The one suite that every registry passes. */
export function podRegistryContract(name: string, makeHarness: MakeHarness): void {
  describe(`${name} keeps the contract of pod registries`, () => {
    describe('the pods', () => {
      listsPods(makeHarness);
    });
    describe('the revisions', () => {
      listsRevisions(makeHarness);
    });
    describe('the number of changes', () => {
      countsChanges(makeHarness);
    });
    describe('a clock or store that fails it', () => {
      survivesFaults(makeHarness);
    });
  });
}

function listsPods(makeHarness: MakeHarness): void {
  it('lists each pod with what it says of itself, by identity', async () => {
    const { registry, elsewhere, now } = await makeHarness();
    expect(await registry.list()).toEqual([]);
    const worker = card('b/2', { roles: ['worker'], revision: 7, running: 2, handlers: ['nightly', 'a "b" ü'] });
    const before = await now();
    await registry.report(worker);
    await elsewhere.report(card('a/1'));
    const found = await elsewhere.list();
    expect(found).toMatchObject([card('a/1'), worker]);
    expect((await elsewhere.look()).pods).toEqual(found);
    for (const { seenAt } of found) {
      expect(seenAt).toBeGreaterThanOrEqual(before);
      expect(seenAt).toBeLessThanOrEqual(await now());
    }
  });

  it("answers a report with the store's clock", async () => {
    const { registry, now } = await makeHarness();
    const before = await now();
    const reply = await registry.report(card('a/1'));
    expect(reply.now).toBeGreaterThanOrEqual(before);
    expect(reply.now).toBeLessThan((await now()) + 1);
    expect((await registry.look()).now).toBeGreaterThanOrEqual(reply.now);
  });

  it('goes by the last report of a pod, in each part', async () => {
    const { registry, elsewhere } = await makeHarness();
    await registry.report(card('a/1', { held: 1, lagMs: 9, handlers: ['a'] }));
    await registry.report(card('a/1', { held: 2, lagMs: 0, handlers: ['a'] }));
    expect(await elsewhere.list()).toMatchObject([{ held: 2, lagMs: 0, handlers: ['a'] }]);
    const worker = card('a/1', { handlers: ['a', 'b'], roles: ['worker'], revision: 3, backlog: 5 });
    await registry.report(worker);
    await registry.report({ ...worker, running: 1 });
    expect(await elsewhere.list()).toMatchObject([{ ...worker, running: 1 }]);
    const { backlog: _backlog, ...idle } = worker;
    await registry.report(idle);
    expect((await elsewhere.list())[0]).not.toHaveProperty('backlog');
    // Another process that knows nothing of the reports before.
    await elsewhere.report(card('a/1', { handlers: ['c'] }));
    const [found] = await registry.list();
    expect([found?.handlers, found?.backlog, found?.revision]).toEqual([['c'], undefined, null]);
    await registry.report(worker);
    expect(await elsewhere.list()).toMatchObject([worker]);
  });

  it('forgets a pod without a report for long', async () => {
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

  it('lists a pod again that was frozen for long', async () => {
    const { registry, elsewhere, heardAgo } = await makeHarness();
    await registry.report(card('a/frozen', { handlers: ['a'] }));
    await registry.report(card('a/frozen', { handlers: ['a'] }));
    await heardAgo('a/frozen', POD_GONE_MS);
    await elsewhere.report(card('b/2'));
    await registry.report(card('a/frozen', { handlers: ['a'] }));
    expect(await elsewhere.list()).toMatchObject([card('a/frozen', { handlers: ['a'] }), card('b/2')]);
  });

  it('forgets a pod that leaves', async () => {
    const { registry, elsewhere, remembered } = await makeHarness();
    await registry.report(card('a/1'));
    await registry.report(card('b/2'));
    await elsewhere.leave('a/1');
    await elsewhere.leave('a/1');
    expect((await registry.list()).map(({ pod }) => pod)).toEqual(['b/2']);
    expect(await remembered()).toBe(1);
  });
}

const declares = (pod: string, app: string, revision: number | null) => card(pod, { app, revision, roles: ['worker'] });

function listsRevisions(makeHarness: MakeHarness): void {
  const named = async (registry: PodRegistry) =>
    (await registry.look()).revisions.map(({ app, revision }) => `${app} ${revision}`).toSorted();

  it('tells when a pod that declares each was last heard', async () => {
    const { registry, elsewhere, heardAgo, now } = await makeHarness();
    await registry.report(declares('a/1', '@shop/a b', 7));
    await heardAgo('a/1', 12_000);
    await elsewhere.report(declares('b/2', '@shop/a b', 8));
    await registry.report(declares('c/3', 'other', 7));
    await registry.report(declares('d/4', 'scheduler', null));
    const { revisions } = await registry.look();
    const seen = new Map(revisions.map(({ app, revision, seenAt }) => [`${app} ${revision}`, seenAt]));
    expect([...seen.keys()].toSorted()).toEqual(['@shop/a b 7', '@shop/a b 8', 'other 7']);
    expect(Math.abs((await now()) - 12_000 - (seen.get('@shop/a b 7') ?? 0))).toBeLessThan(1_000);
    expect(Math.abs((await now()) - (seen.get('other 7') ?? 0))).toBeLessThan(1_000);
  });

  it('keeps those of pods that are gone for a week', async () => {
    const { registry, heardAgo } = await makeHarness();
    await registry.report(declares('a/1', 'app', 1));
    await heardAgo('a/1', 7 * DAY_MS - 60_000);
    await registry.report(declares('b/2', 'app', 2));
    expect(await named(registry)).toEqual(['app 1', 'app 2']);
    await heardAgo('a/1', 7 * DAY_MS);
    expect(await named(registry)).toEqual(['app 2']);
    await registry.report(declares('b/2', 'app', 2));
    expect(await named(registry)).toEqual(['app 2']);
  });

  it('counts a pod as heard until it leaves', async () => {
    const { registry, heardAgo, now } = await makeHarness();
    await registry.report(declares('a/1', 'app', 1));
    await heardAgo('a/1', 4_000);
    const left = await now();
    await registry.leave('a/1');
    const { revisions, pods } = await registry.look();
    expect(pods).toEqual([]);
    expect(revisions).toHaveLength(1);
    expect(revisions[0]?.seenAt).toBeGreaterThanOrEqual(left);
  });

  it('keeps the thousand that were heard last', { timeout: 30_000 }, async () => {
    const { registry } = await makeHarness();
    for (let n = 1; n <= 1_002; n += 1) await registry.report(declares('a/1', 'app', n));
    const { revisions } = await registry.look();
    expect(revisions).toHaveLength(1_000);
    expect(revisions.some(({ revision }) => revision === 1_002)).toBe(true);
  });

  it('tells when the registry began, however long its pods are gone', async () => {
    const { registry, elsewhere, heardAgo, now } = await makeHarness();
    const empty = await registry.look();
    expect(Math.abs(empty.bornAt - empty.now)).toBeLessThan(5);
    const before = await now();
    await registry.report(declares('a/1', 'app', 1));
    const { bornAt } = await elsewhere.look();
    expect(bornAt).toBeGreaterThanOrEqual(before);
    expect(bornAt).toBeLessThanOrEqual(await now());
    await heardAgo('a/1', DAY_MS);
    await registry.report(declares('b/2', 'app', 2));
    const later = await registry.look();
    expect(Math.abs(later.now - DAY_MS - later.bornAt)).toBeLessThan(5_000);
  });
}

function countsChanges(makeHarness: MakeHarness): void {
  const changeOf = async (registry: PodRegistry, one: NewPodCard) => (await registry.report(one)).change;

  it('stays while the same pods report the same revisions', async () => {
    const { registry, elsewhere } = await makeHarness();
    await registry.report(declares('a/1', 'app', 1));
    const before = await changeOf(elsewhere, declares('b/2', 'app', 1));
    const after = [
      await changeOf(registry, { ...declares('a/1', 'app', 1), held: 9, lagMs: 100, running: 3 }),
      await changeOf(elsewhere, declares('b/2', 'app', 1)),
    ];
    expect(after).toEqual([before, before]);
  });

  it.each([
    ['a pod joins', (at: PodRegistryHarness) => at.registry.report(declares('c/3', 'app', 1))],
    ['a pod joins that declares nothing', (at: PodRegistryHarness) => at.registry.report(card('c/3'))],
    ['a pod leaves', (at: PodRegistryHarness) => at.registry.leave('b/2')],
    ['a pod expires', (at: PodRegistryHarness) => at.heardAgo('b/2', POD_GONE_MS)],
    ['a pod declares another revision', (at: PodRegistryHarness) => at.registry.report(declares('b/2', 'app', 2))],
    [
      'a pod executes fewer handlers',
      (at: PodRegistryHarness) => at.registry.report({ ...declares('b/2', 'app', 1), handlers: ['a'] }),
    ],
    ['a pod declares nothing more', (at: PodRegistryHarness) => at.registry.report(declares('b/2', 'app', null))],
  ])('moves once when %s', async (_, move) => {
    const at = await makeHarness();
    await at.registry.report(declares('b/2', 'app', 1));
    const before = await changeOf(at.registry, declares('a/1', 'app', 1));
    await move(at);
    const after = await changeOf(at.elsewhere, declares('a/1', 'app', 1));
    expect(after).not.toBe(before);
    expect(await changeOf(at.elsewhere, declares('a/1', 'app', 1))).toBe(after);
  });

  it('stays when a pod leaves twice, or was never listed', async () => {
    const { registry } = await makeHarness();
    await registry.report(declares('b/2', 'app', 1));
    await registry.leave('b/2');
    const before = await changeOf(registry, declares('a/1', 'app', 1));
    await registry.leave('b/2');
    await registry.leave('c/3');
    expect(await changeOf(registry, declares('a/1', 'app', 1))).toBe(before);
  });
}

function survivesFaults(makeHarness: MakeHarness): void {
  it('does not keep the dead among the living because a clock went back', async () => {
    const { registry, heardAgo } = await makeHarness();
    await registry.report(declares('a/dead', 'app', 1));
    await heardAgo('a/dead', -3_600_000);
    const { now } = await registry.report(card('b/2'));
    const { pods, revisions, bornAt } = await registry.look();
    const seenAt = Math.floor(now);
    expect(pods[0]).toMatchObject({ pod: 'a/dead', seenAt });
    expect(revisions).toEqual([{ app: 'app', revision: 1, seenAt }]);
    expect(bornAt).toBeLessThanOrEqual(now);
  });

  it('is whole again after the next reports to a store that was wiped', async () => {
    const { registry, elsewhere, wipe, heardAgo } = await makeHarness();
    const worker = declares('a/1', 'app', 1);
    await registry.report(worker);
    await heardAgo('a/1', 5_000);
    await elsewhere.report(declares('b/2', 'app', 1));
    const before = await registry.report(worker);
    const { bornAt } = await registry.look();
    await wipe();
    expect(await registry.list()).toEqual([]);
    await registry.report(worker);
    expect(await elsewhere.list()).toMatchObject([worker]);
    await elsewhere.report(declares('b/2', 'app', 1));
    const after = await registry.report(worker);
    const found = await registry.look();
    expect(found.pods).toHaveLength(2);
    expect(found.revisions).toMatchObject([{ app: 'app', revision: 1 }]);
    expect(found.bornAt).toBeGreaterThan(bornAt);
    expect(after.change).not.toBe(before.change);
  });
}
