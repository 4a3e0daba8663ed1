import { AUDIT_TRAIL, CronCatalog } from '@fencepost/operations';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { RUN_QUEUE, type BullmqRunQueue } from '@fencepost/jobs/internal';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSchedulerApp, type RunningApp } from '../support/scheduler-app.js';

let running: RunningApp;
const BY = { by: 'test' };

beforeAll(async () => {
  running = await startSchedulerApp();
  const crons = running.app.get(CronCatalog, { strict: false });
  await crons.set('nightly-report', { expression: '0 3 1 1 *', timeZone: 'Europe/Berlin' }, BY);
  await crons.set('on-demand', { expression: '@manual' }, BY);
  for (const name of ['by-hand', 'counted']) await crons.set(name, { expression: '@manual' }, BY);
});
afterAll(() => running.close());

const json = async (response: Response | Promise<Response>) =>
  (await (await response).json()) as Record<string, unknown>;
const trail = () => running.app.get<AuditTrail>(AUDIT_TRAIL, { strict: false }).list({ limit: 1 });

async function triggered(): Promise<string> {
  const { runId } = await json(running.order('/api/crons/on-demand/trigger', { reason: 'a try', force: true }));
  return String(runId);
}

describe('the board', () => {
  const board = (path: string, as: 'viewer' | 'operator' | 'admin', method = 'GET') =>
    running.ask(`/queues/api${path}`, { as, method });

  it('has our crons where it has its own schedulers', async () => {
    const { schedulers } = await json(board('/job-schedulers', 'viewer'));
    expect(schedulers).toContainEqual(
      expect.objectContaining({
        id: 'nightly-report',
        pattern: '0 3 1 1 *',
        tz: 'Europe/Berlin',
        next: expect.any(Number),
      }),
    );
  });

  it('says in its column of runs how many the ledger has of each', async () => {
    for (const reason of ['one', 'another'])
      expect((await running.order('/api/crons/counted/trigger', { reason, force: true })).status).toBeLessThan(300);
    const { schedulers } = await json(board('/job-schedulers', 'viewer'));
    expect(schedulers).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: 'counted', iterationCount: 2 }),
        expect.objectContaining({ id: 'nightly-report', iterationCount: 0 }),
      ]),
    );
  });

  it('runs and removes them by way of the catalog, for whoever is signed in', async () => {
    const response = await board('/queues/runs/job-schedulers/by-hand/run', 'operator', 'PUT');
    const { job } = (await response.json()) as { job: { name: string; data: object; externalUrl: { href: string } } };
    expect(job.externalUrl.href).toMatch(/^\.\.\/run\/by-hand%40manual-/);
    expect(await trail()).toEqual([
      expect.objectContaining({ by: 'otto', action: 'trigger', cron: 'by-hand', from: 'queues 127.0.0.1' }),
    ]);
    await running.app.get(CronCatalog, { strict: false }).set('for-the-board', { expression: '@manual' }, BY);
    expect((await board('/queues/runs/job-schedulers/for-the-board/remove', 'admin', 'PUT')).status).toBe(204);
    expect(await trail()).toEqual([expect.objectContaining({ by: 'anna', action: 'remove', cron: 'for-the-board' })]);
  });

  it('says in one sentence why it did not run one, and not where in the program', async () => {
    const response = await board('/queues/runs/job-schedulers/by-hand/run', 'operator', 'PUT');
    const text = await response.text();
    expect([response.status, text]).toEqual([
      409,
      expect.stringContaining('was not run: an open run of it waits already, because no live worker has its handler'),
    ]);
    expect(text).not.toContain('.ts:');
  });

  it('changes no schedule, whoever asks: its pencil is for schedulers of its own', async () => {
    const body = JSON.stringify({ pattern: '* * * * *' });
    const headers = { 'content-type': 'application/json' };
    const path = '/queues/api/queues/runs/job-schedulers/nightly-report';
    const response = await running.ask(path, { as: 'admin', method: 'PATCH', body, headers });
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('Not available here')]);
    const { expression } = await json(running.ask('/api/crons/nightly-report'));
    expect(expression).toBe('0 3 1 1 *');
  });

  it('shows of a job what the ledger says of its run', async () => {
    const runId = await triggered();
    const { job } = (await json(board(`/queues/runs/${encodeURIComponent(runId)}`, 'viewer'))) as {
      job: { name: string; data: object };
    };
    expect(job.name).toMatch(/^on-demand · \d{4}-.*Z · manual$/);
    expect(job.data).toMatchObject({
      runId,
      cron: 'on-demand',
      lateness: 'not begun',
      attempt: 0,
      fence: null,
      state: 'enqueued',
      reason: 'manual',
      by: 'otto',
      payload: null,
      effects: {},
    });
  });

  it('is for looking only, to a viewer', async () => {
    const { queues } = (await json(board('/queues?activeQueue=runs', 'viewer'))) as {
      queues: { readOnlyMode: boolean }[];
    };
    const { queues: open } = (await json(board('/queues?activeQueue=runs', 'operator'))) as {
      queues: { readOnlyMode: boolean }[];
    };
    expect([queues[0]?.readOnlyMode, open[0]?.readOnlyMode]).toEqual([true, false]);
  });

  it('records who stops the queue', async () => {
    expect((await board('/queues/runs/pause', 'admin', 'PUT')).status).toBeLessThan(300);
    expect(await running.app.get<BullmqRunQueue>(RUN_QUEUE, { strict: false }).queues.named('runs').isPaused()).toBe(
      true,
    );
    expect(await trail()).toEqual([
      expect.objectContaining({ by: 'anna', action: 'queue-pause', from: 'queues 127.0.0.1' }),
    ]);
  });

  it('records whether the queue was stopped before', async () => {
    const befores: unknown[] = [];
    for (const order of ['/queues/runs/resume', '/queues/runs/pause', '/queues/runs/pause', '/queues/resume']) {
      expect((await board(order, 'admin', 'PUT')).status).toBeLessThan(300);
      befores.push(...(await trail()).map(({ action, before }) => ({ action, before })));
    }
    const [pause, resume] = ['queue-pause', 'queue-resume'];
    const set = (paused: boolean) => ({ runs: { paused, concurrency: null, rate: null } });
    expect(befores.slice(1)).toEqual([
      { action: pause, before: set(false) },
      { action: pause, before: set(true) },
      { action: resume, before: set(true) },
    ]);
  });

  it('stops and resumes the queues of the groups of an app with the queue of the app', async () => {
    const { queues } = running.app.get<BullmqRunQueue>(RUN_QUEUE, { strict: false });
    const names = ['shop', 'shop.only-0123abcd', 'shop.heavy', 'other'];
    await queues.note(names);
    const paused = () => Promise.all(names.map((name) => queues.named(name).isPaused()));
    await expect
      .poll(async () => (await board('/queues/shop/pause', 'admin', 'PUT')).status, { timeout: 10_000 })
      .toBeLessThan(300);
    expect(await paused()).toEqual([true, true, false, false]);
    expect((await board('/queues/shop/resume', 'admin', 'PUT')).status).toBeLessThan(300);
    expect(await paused()).toEqual([false, false, false, false]);
  });
});
