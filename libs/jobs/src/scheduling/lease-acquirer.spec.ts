import { afterEach, describe, expect, it } from 'vitest';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import { CRON, SchedulerStage, TTL_MS } from '../../../../test/support/scheduler-stage.js';
import type { Entered } from './catalog-cache.js';
import type { HeldCron } from './held-cron.js';
import { LeaseAcquirer } from './lease-acquirer.js';
import { LeaseReleases } from './lease-releases.js';

interface Running {
  readonly stage: SchedulerStage;
  readonly acquirer: LeaseAcquirer;
  readonly releases: LeaseReleases;
  readonly held: Map<string, HeldCron>;
}

const running: Running[] = [];
afterEach(async () => {
  const ended = running.splice(0);
  for (const { acquirer, releases, held } of ended) {
    acquirer.halt();
    await releases.releaseAll([...held.values()].map(({ lease }) => lease));
  }
  await Promise.all(ended.map(({ acquirer }) => acquirer.stop()));
  for (const { stage } of ended) expect(stage.clock.pending).toBe(0);
});

function entered(cron: string): Entered {
  return { entry: { definition: { name: cron, expression: '* * * * *' } } as CatalogEntry, hash: 0 };
}

async function acquiring(stage: SchedulerStage, crons: readonly string[] = [CRON]) {
  const { clock, telemetry, keeper, ledger, events } = stage.pod(`pod-${running.length}`);
  const held = new Map<string, HeldCron>();
  const [granted, lost] = [[] as string[][], [] as string[][]];
  const releases = new LeaseReleases({ keeper, telemetry });
  const acquirer = new LeaseAcquirer({
    ...{ ledger, keeper, releases, clock, telemetry, random: () => 0, ttlMs: TTL_MS },
    ...{ catalogCache: { get: (cron: string) => entered(cron) }, duePublisher: { publish: () => {} }, relay: null },
    engine: {
      held: (cron) => held.get(cron),
      heldUnder: (leases) => [...held.values()].filter(({ lease }) => leases.includes(lease)),
      hold: (holding) => {
        granted.push(holding.map(({ lease }) => lease.resource));
        for (const cron of holding) held.set(cron.lease.resource, cron);
      },
      letGo: async (leaving) => {
        lost.push(leaving.map(({ lease }) => lease.resource));
        for (const { lease } of leaving) held.delete(lease.resource);
      },
    },
  });
  acquirer.want(new Set(crons));
  await stage.clock.advance(0);
  running.push({ stage, acquirer, releases, held });
  /** As the pod does: it stops acting first. */
  const letGo = () => {
    const leases = [...held.values()].map(({ lease }) => lease);
    held.clear();
    return leases;
  };
  return { acquirer, keeper, events, held, granted, lost, letGo };
}

const many = Array.from({ length: 200 }, (_, n) => `cron-${n}`);

describe('a lease acquirer', () => {
  it('holds what is free and keeps it', async () => {
    const stage = new SchedulerStage();
    const { events } = await acquiring(stage);
    await stage.clock.advance(10 * TTL_MS);
    expect(await stage.holder()).toBe('pod-0/1');
    expect(events.names).toEqual(['lease.acquired']);
  });

  it('acquires many in one call, and makes no calls while it holds them', async () => {
    const stage = new SchedulerStage();
    const { granted } = await acquiring(stage, many);
    expect(granted.map((crons) => crons.length)).toEqual([200]);
    expect([stage.leases.calls, stage.ledger.calls]).toEqual([['sessions.open', 'sessions.acquire'], ['readCrons']]);
    await stage.clock.advance(10 * TTL_MS);
    expect(new Set(stage.leases.calls.slice(2))).toEqual(new Set(['sessions.renew']));
    expect(stage.ledger.calls).toHaveLength(1);
  });

  it('asks for a fence above the highest the ledger has accepted', async () => {
    const stage = new SchedulerStage();
    const accepted = 8_000_000_000_000_000;
    await stage.clock.advance(1_000);
    await stage.pod().dispatcher.dispatch([stage.heldCron(accepted)]);
    const { events } = await acquiring(stage);
    expect(events.of('lease.acquired')).toMatchObject([{ fence: accepted + 1 }]);
  });

  it('leaves to others what is not in flight when it hears of them', async () => {
    const stage = new SchedulerStage();
    const { acquirer, granted } = await acquiring(stage, []);
    const all = Array.from({ length: 2_000 }, (_, n) => `cron-${n}`);
    const mine = new Set(all.filter((_, n) => n % 2 === 0));
    let answer = () => {};
    const heldBack = new Promise<void>((resolve) => (answer = resolve));
    stage.leases.next('sessions.acquire', ...Array.from({ length: 10 }, () => ({ heldBack })));
    acquirer.want(new Set(all));
    await stage.clock.advance(0);
    acquirer.want(mine);
    answer();
    await stage.clock.advance(0);
    const foreign = granted.flat().filter((cron) => !mine.has(cron));
    expect(granted.flat()).toEqual(expect.arrayContaining([...mine]));
    expect(foreign).toHaveLength(400);
  });

  it('acquires those that are overdue before all others', async () => {
    const stage = new SchedulerStage();
    const { acquirer, granted } = await acquiring(stage, []);
    acquirer.first = new Set(['cron-70', 'cron-1900']);
    acquirer.want(new Set(Array.from({ length: 2_000 }, (_, n) => `cron-${n}`)));
    await stage.clock.advance(0);
    expect(granted[0]).toEqual(expect.arrayContaining(['cron-70', 'cron-1900']));
  });

  it('takes over as soon as a release is announced, with one call for all crons', async () => {
    const stage = new SchedulerStage();
    const first = await acquiring(stage, many);
    const second = await acquiring(stage, many);
    await stage.clock.advance(100);
    expect(second.events.names).toEqual([]);
    await first.acquirer.release(first.letGo());
    stage.leases.calls.length = 0;
    first.acquirer.halt();
    for (const cron of many) second.acquirer.wake(cron);
    await stage.clock.advance(10);
    expect(second.granted.map((crons) => crons.length)).toEqual([200]);
    expect(stage.leases.calls).toEqual(['sessions.acquire']);
  });

  it('takes over without an announcement when the lease of a dead holder has expired', async () => {
    const stage = new SchedulerStage();
    const dead = { resource: CRON, nonce: 'dead', holder: 'dead/1', ttlMs: TTL_MS, floor: 0 as never };
    await stage.leases.port.acquire(dead);
    const { events } = await acquiring(stage);
    await stage.clock.advance(TTL_MS - 1);
    expect(events.names).toEqual([]);
    await stage.clock.advance(21);
    expect(events.names).toEqual(['lease.acquired']);
  });

  it('does not miss a release that is announced while its own call is in progress', async () => {
    const stage = new SchedulerStage();
    const first = await acquiring(stage);
    let answer = () => {};
    stage.leases.next('sessions.acquire', { heldBack: new Promise((resolve) => (answer = resolve)) });
    const second = await acquiring(stage);
    await first.acquirer.release(first.letGo());
    first.acquirer.halt();
    second.acquirer.wake(CRON);
    answer();
    await stage.clock.advance(10);
    expect(second.events.names).toEqual(['lease.acquired']);
  });

  it('tries once for an overdue cron that is not assigned to it', async () => {
    const stage = new SchedulerStage();
    const first = await acquiring(stage);
    const second = await acquiring(stage, []);
    stage.leases.calls.length = 0;
    second.acquirer.take([CRON]);
    await stage.clock.advance(TTL_MS / 4);
    expect(stage.leases.calls).toEqual(['sessions.open', 'sessions.acquire']);
    await first.acquirer.release(first.letGo());
    first.acquirer.halt();
    second.acquirer.take([CRON]);
    await stage.clock.advance(0);
    expect(second.events.names).toEqual(['lease.acquired']);
  });

  it('reports lost leases, releases them in one batch, and acquires again', async () => {
    const stage = new SchedulerStage();
    const { events, lost, granted } = await acquiring(stage, ['a', 'b', 'c']);
    stage.leases.calls.length = 0;
    stage.clock.jumpWall(60_000);
    await stage.clock.advance(TTL_MS);
    expect(events.of('lease.lost')[0]).toMatchObject({ cause: expect.stringContaining('clock') });
    expect(lost).toEqual([['a', 'b', 'c']]);
    expect(granted).toHaveLength(2);
    expect(stage.leases.calls.filter((call) => call === 'release')).toHaveLength(1);
  });

  it('backs off after it has abandoned a cron: the reason may persist', async () => {
    const stage = new SchedulerStage();
    const { acquirer, events, letGo } = await acquiring(stage);
    for (let second = 0; second < 60; second += 1) {
      const [lease] = letGo();
      if (lease) await acquirer.abandon(lease, 0);
      acquirer.wake(CRON);
      await stage.clock.advance(1_000);
    }
    const terms = events.of('lease.acquired').length;
    expect(terms).toBeGreaterThan(10);
    expect(terms).toBeLessThan(45);
  });

  it('retries with growing pauses while the store is away', async () => {
    const stage = new SchedulerStage();
    stage.ledger.down();
    const { events } = await acquiring(stage);
    await stage.clock.advance(60_000);
    expect(events.of('store.failed').length).toBeLessThan(60);
    expect(events.of('store.failed').length).toBeGreaterThan(15);
    expect(events.of('store.failed')[0]).toMatchObject({ operation: 'lease.acquire', cron: CRON });
    stage.ledger.heal();
    await stage.clock.advance(TTL_MS / 3);
    expect(events.names.at(-1)).toBe('lease.acquired');
  });

  it('does not let the others wait for one whose fences are used up', async () => {
    const stage = new SchedulerStage();
    await stage.clock.advance(1_000);
    await stage.pod().dispatcher.dispatch([stage.heldCron(Number.MAX_SAFE_INTEGER)]);
    const { held, events } = await acquiring(stage, ['a', CRON, 'b']);
    await stage.clock.advance(30_000);
    expect([...held.keys()]).toEqual(['a', 'b']);
    expect(events.of('store.failed')).toHaveLength(1);
    expect(events.of('store.failed')[0]?.err.message).toContain('2255');
  });
});

describe('a lease acquirer that is stopped', () => {
  it('releases leases that are granted after the stop, without acting', async () => {
    const stage = new SchedulerStage();
    let answer = () => {};
    stage.leases.next('sessions.acquire', { heldBack: new Promise((resolve) => (answer = resolve)) });
    const { acquirer, granted } = await acquiring(stage);
    acquirer.halt();
    const stopped = acquirer.stop();
    answer();
    await stopped;
    expect(granted).toEqual([]);
    expect(await stage.holder()).toBeUndefined();
  });
});
