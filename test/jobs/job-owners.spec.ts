import { LEDGER } from '@fencepost/jobs';
import { CATALOG } from '@fencepost/jobs/internal';
import type { Ledger } from '@fencepost/ledger';
import type { Catalog } from '@fencepost/ledger/catalog';
import { describe, expect, it } from 'vitest';
import { routedWorkers } from './routed-workers.js';

const { spaces, start, close } = routedWorkers();

const D = 'default';
const SOON = { timeout: 20_000 };

async function ownerOf({ app }: Awaited<ReturnType<typeof start>>): Promise<string | null | undefined> {
  const { entries } = await app.get<Catalog>(CATALOG).read(['sync']);
  return entries[0]?.app;
}

describe('a run', () => {
  it('of a job that two apps have reaches the app that declared it first', async () => {
    const space = spaces.fresh();
    const first = await start(space, { app: 'billing', jobs: { sync: D } });
    const second = await start(space, { app: 'stock', jobs: { sync: D } });
    await second.jobs.enqueueMany(
      'sync',
      Array.from({ length: 20 }, () => ({})),
    );
    await expect.poll(() => first.done.length, SOON).toBe(20);
    expect(second.done).toEqual([]);
  });

  it('of a job that two apps have waits while no worker of its owner is live, and for its owner alone', async () => {
    const space = spaces.fresh();
    const first = await start(space, { app: 'billing', jobs: { sync: D } });
    const second = await start(space, { app: 'stock', jobs: { sync: D, count: D } });
    const ledger = second.app.get<Ledger>(LEDGER);
    await close(first);
    const { runId } = await second.jobs.enqueue('sync');
    await expect.poll(async () => (await ledger.readRun(runId))?.waiting, SOON).toBe('no-capable-worker');
    await second.jobs.enqueue('count');
    await expect.poll(() => second.done.map(({ cron }) => cron), SOON).toEqual(['count']);
    const again = await start(space, { app: 'billing', jobs: { sync: D } });
    await expect.poll(() => again.done.map(({ id }) => id), SOON).toEqual([runId]);
    expect(second.done).toHaveLength(1);
  });

  it('that was enqueued while no worker was live waits for its owner, though a worker of another app comes first', async () => {
    const space = spaces.fresh();
    for (const app of ['billing', 'stock']) await close(await start(space, { app, jobs: { sync: D } }));
    const scheduler = await start(space, { app: 'ops', jobs: {}, roles: ['scheduler'] });
    const { runId } = await scheduler.jobs.enqueue('sync');
    const second = await start(space, { app: 'stock', jobs: { sync: D, count: D } });
    await expect.poll(() => second.events.of('attempt.unhandled').length, SOON).toBe(1);
    const first = await start(space, { app: 'billing', jobs: { sync: D } });
    await expect.poll(() => first.done.map(({ id }) => id), SOON).toEqual([runId]);
    expect(second.done).toEqual([]);
  });

  it('of a job that moves to another app waits until that owns it', async () => {
    const space = spaces.fresh();
    const options = { removeAfter: '1s' } as const;
    const first = await start(space, { app: 'billing', jobs: { sync: D }, options });
    const second = await start(space, { app: 'stock', jobs: { sync: D }, options });
    await close(first);
    const { runId } = await second.jobs.enqueue('sync');
    expect(await ownerOf(second)).toBe('billing');
    await expect.poll(() => second.done.map(({ id }) => id), SOON).toEqual([runId]);
    expect(await ownerOf(second)).toBe('stock');
  });
});
