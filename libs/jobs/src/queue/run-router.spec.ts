import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it, vi } from 'vitest';
import { card } from '../../../../test/contracts/pod-registry.contract.js';
import { MemoryPodRegistry } from '../pods/memory-pod-registry.js';
import { FORMER_QUEUE, UNROUTED_QUEUE } from './routing.js';
import { RunRouter, type RoutedCron } from './run-router.js';

const worker = (pod: string, app: string, handlers: readonly string[]) =>
  card(pod, { app, handlers, roles: ['worker'], pools: ['default'], revision: 1 });

function router(crons: Readonly<Record<string, RoutedCron>> = {}) {
  const clock = new ManualClock();
  const registry = new MemoryPodRegistry(clock);
  const look = vi.spyOn(registry, 'look');
  const routes = new RunRouter({ registry, clock, cronsOf: async () => new Map(Object.entries(crons)) });
  return { registry, look, routes, queueOf: async (cron: string) => (await routes.targets([`${cron}@1`])).queues[0] };
}

describe('RunRouter', () => {
  it('counts workers that join, leave or change from the next run on, and reads the pods only then', async () => {
    const { registry, look, queueOf } = router();
    expect(await queueOf('send')).toBe(FORMER_QUEUE);
    await registry.report(worker('a/1', 'billing', ['charge']));
    expect(await queueOf('send')).toBe(UNROUTED_QUEUE);
    await registry.report(worker('b/1', 'mail', ['send']));
    expect(await queueOf('send')).toBe('mail');
    const looks = look.mock.calls.length;
    expect(await queueOf('send')).toBe('mail');
    expect(look).toHaveBeenCalledTimes(looks);
    await registry.report(worker('b/1', 'mail', ['other']));
    expect(await queueOf('send')).toBe(UNROUTED_QUEUE);
    await registry.report(worker('b/1', 'mail', ['send']));
    await registry.leave('b/1');
    expect(await queueOf('send')).toBe(UNROUTED_QUEUE);
  });

  it('goes by the handler that a cron names, and by the app that owns a name which several apps have', async () => {
    const crons = { news: { app: null, handler: 'send' }, sync: { app: 'stock', handler: 'sync' } };
    const { registry, queueOf } = router(crons);
    await registry.report(worker('a/1', 'mail', ['send', 'sync']));
    await registry.report(worker('b/1', 'stock', ['sync']));
    expect([await queueOf('news'), await queueOf('sync')]).toEqual(['mail', 'stock']);
  });
});
