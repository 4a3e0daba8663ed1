import type { Answers } from '@fencepost/client';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { runPath, shows, SOON, useStage } from './stage.js';

const stage = useStage();
beforeAll(async () => {
  await stage.deployment.pods.worker('worker', { env: { CRONS: 'shown' } });
  // What the board shows is up to two seconds old, and it asks again after five.
  for (const cron of ['board-run', 'board-kept'])
    await stage.cron(cron, { handler: 'lasting', expression: '0 3 * * *' });
});

/** The queue that a run has gone through. */
async function queueOf(runId: string): Promise<string> {
  return (await stage.deployment.stores.queue.jobOf(runId))?.queueName ?? 'none';
}

const jobPath = async (runId: string) => `/crons/queues/queue/${await queueOf(runId)}/${encodeURIComponent(runId)}`;
const body = (page: Page) => page.locator('body').innerText();

/** The row of a cron on the page of schedulers. */
const rowOf = (page: Page, cron: string) => page.getByRole('row').filter({ hasText: cron });
const RUNS_COLUMN = 6;

/** What a person can press among these: icons by their names, each once. */
async function seen(buttons: Locator): Promise<string[]> {
  const visible = await buttons.filter({ visible: true }).all();
  const icons = visible.map(async (one) => /lucide-([a-z0-9-]+)/.exec(await one.innerHTML())?.[1] ?? '?');
  return [...new Set(await Promise.all(icons))];
}

const OFFERED = [
  ['failed', { job: ['refresh-cw', 'trash2'], all: ['trash2'] }],
  ['delayed', { job: ['trash2'], all: ['trash2'] }],
] as const;

/** Pause, concurrency, rate limit, empty and obliterate. */
const OFFERED_ON_QUEUE = ['pause', 'chart-no-axes-gantt', 'gauge', 'trash2', 'ban'];

/** Presses the button of the one job that is shown. */
async function retryOn(page: Page): Promise<void> {
  await page.locator('ul[class*=jobActions] button:has(.lucide-refresh-cw)').click();
  await page.getByRole('button', { name: 'Confirm' }).click();
}

/** What the board itself is answered. */
interface Board {
  readonly queues: readonly { readonly counts: Record<string, number>; readonly jobSchedulerCount: number }[];
}

interface Answered {
  readonly status: number;
  readonly text: string;
}

/** As the board itself would send it, with the cookie of the page. */
function put(page: Page, path: string, method = 'PUT'): Promise<Answered> {
  const words = `{ method: '${method}', headers: { 'content-type': 'application/json' } }`;
  const asked = `fetch(${JSON.stringify(`/crons/queues/api/queues/${path}`)}, ${words})`;
  return page.evaluate(`${asked}.then(async (answer) => ({ status: answer.status, text: await answer.text() }))`);
}

describe('the board', () => {
  it('has our crons on its page of schedulers, and runs one when asked to, by the name of whoever asks', async () => {
    const page = await stage.visit('/crons/queues/job-schedulers', { as: 'operator' });
    const row = rowOf(page, 'board-run');
    const runs = () => row.getByRole('cell').nth(RUNS_COLUMN).innerText();
    await expect.poll(() => row.innerText(), SOON).toContain('0 3 * * *');
    expect(await runs()).toBe('0');
    await row.getByRole('button', { name: 'Run now' }).click();
    await page.getByRole('button', { name: 'Confirm' }).click();
    const run = await stage.deployment.onlyRunOf('board-run');
    expect(run).toMatchObject({ state: 'succeeded', reason: 'manual', by: 'otto' });
    await expect.poll(runs, SOON).toBe('1');
    const { items } = await stage.ask<{ items: readonly object[] }>('audit');
    const record = { action: 'trigger', cron: 'board-run', runId: run.id, by: 'otto', role: 'operator' };
    expect(items).toContainEqual(
      expect.objectContaining({ ...record, from: expect.stringMatching(/^queues /) as string }),
    );
    expect(stage.complaints()).toEqual([]);
  });

  it('says of a job what the ledger knows, and leads to our page of the run', async () => {
    await stage.cron('board-job', { handler: 'lasting' });
    const runId = await stage.trigger('board-job');
    await stage.comesTo(runId, 'succeeded');
    const page = await stage.visit(await jobPath(runId));
    for (const word of ['board-job', 'succeeded', 'fence', 'lateness'])
      await expect.poll(() => body(page), SOON).toContain(word);
    const link = page.getByRole('link', { name: 'Show the run' });
    await expect.poll(() => link.getAttribute('href'), SOON).toBe(runPath(runId).replace('/crons', '..'));
    const [opened] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
    await shows(opened, 'succeeded', 'It waits at its gate.');
    expect(stage.complaints()).toEqual([]);
  });

  it('does nothing to a run that is over when its job is retried', async () => {
    const { ledger } = stage.deployment.stores;
    await stage.cron('board-retry', { handler: 'lasting' });
    const runId = await stage.trigger('board-retry');
    await stage.comesTo(runId, 'succeeded');
    const before = await ledger.readRun(runId);
    const page = await stage.visit(await jobPath(runId), { as: 'operator' });
    const refused = await put(page, `${await queueOf(runId)}/${encodeURIComponent(runId)}/retry`);
    expect(refused).toMatchObject({ status: 409, text: expect.stringContaining('trigger its cron') as string });
    // Past the board, as a script that moves jobs would do it.
    const job = await stage.deployment.stores.queue.jobOf(runId);
    await job?.retry('completed');
    await expect.poll(() => job?.getState(), SOON).toBe('completed');
    expect(await ledger.readRun(runId)).toEqual(before);
    expect(await stage.deployment.effectsOf(runId)).toEqual(['write']);
  });

  it('makes a new run of a failed one by its button Retry, in the name of the operator', async () => {
    await stage.cron('board-failed', { handler: 'failing', payload: { text: 'Out of paper.' } });
    const runId = await stage.trigger('board-failed');
    await stage.comesTo(runId, 'failed');
    const page = await stage.visit(await jobPath(runId), { as: 'operator' });
    await page.getByRole('tab', { name: 'Data' }).click();
    for (const word of ['Out of paper.', '"failed"', 'payload', 'effects'])
      await expect.poll(() => body(page), SOON).toContain(word);
    await retryOn(page);
    await stage.comesTo(`${runId}-r1`, 'failed');
    expect(await stage.deployment.stores.ledger.readRun(`${runId}-r1`)).toMatchObject({ by: 'otto', reason: 'manual' });
    const { items } = await stage.ask<{ items: readonly object[] }>('audit');
    const record = { action: 'retry', cron: 'board-failed', runId, by: 'otto', role: 'operator' };
    expect(items.filter((item) => Reflect.get(item, 'runId') === runId)).toEqual([
      expect.objectContaining({ ...record, from: expect.stringMatching(/^queues /) as string }),
    ]);
    expect(stage.complaints()).toEqual([]);
  });

  it('offers no button that cannot work, in any state of a job', async () => {
    await stage.cron('board-offers', { handler: 'failing' });
    const runId = await stage.trigger('board-offers');
    await stage.comesTo(runId, 'failed');
    const name = await queueOf(runId);
    const queue = stage.deployment.stores.queue.queues.named(name);
    const delayed = await queue.add('board-offers', { runId }, { delay: 3_600_000 });
    try {
      for (const [status, offered] of OFFERED) {
        const page = await stage.visit(`/crons/queues/queue/${name}?status=${status}`, { as: 'admin' });
        await page.getByText('board-offers').first().waitFor();
        expect(await seen(page.locator('ul[class*=jobActions] button')), status).toEqual(offered.job);
        expect(await seen(page.locator('ul[class*=queueActions] button')), status).toEqual(offered.all);
        await page.locator('button[class*=trigger]').last().click();
        await page.getByRole('menuitem', { name: 'Obliterate' }).waitFor();
        expect(await seen(page.getByRole('menuitem'))).toEqual(OFFERED_ON_QUEUE);
      }
    } finally {
      await delayed.remove();
    }
  });

  it('lets a viewer look, and do nothing', async () => {
    const runId = await stage.trigger('board-kept');
    await stage.comesTo(runId, 'succeeded');
    const page = await stage.visit('/crons/queues/job-schedulers', { as: 'viewer' });
    const row = rowOf(page, 'board-kept');
    await row.waitFor();
    expect(await row.getByRole('button').count()).toBe(0);
    const job = encodeURIComponent(runId);
    const orders = [
      ['PUT', `${job}/retry`],
      ['PATCH', `${job}/update-data`],
      ['PUT', `${job}/clean`],
      ['PUT', 'job-schedulers/board-kept/run'],
      ['PUT', 'job-schedulers/board-kept/remove'],
      ['PATCH', 'job-schedulers/board-kept'],
      ['PUT', 'pause'],
      ['PUT', 'empty'],
      ['PUT', 'obliterate'],
      ['PUT', 'clean/completed'],
      ['PUT', 'retry/failed'],
      ['PUT', 'concurrency'],
      ['POST', 'add'],
    ] as const;
    const statuses = await Promise.all(
      orders.map(async ([method, path]) => [path, (await put(page, `runs/${path}`, method)).status]),
    );
    expect(statuses).toEqual(orders.map(([, path]) => [path, 403]));
    expect(await stage.deployment.runsOf('board-kept')).toHaveLength(1);
    expect((await stage.deployment.entryOf('board-kept'))?.state).toBe('active');
    expect(await stage.deployment.stores.queue.queues.named('runs').isPaused()).toBe(false);
  });

  it('offers nothing that it does not do, counts attempts as our page, and has our icon and 24 hours', async () => {
    const runId = await stage.trigger('board-kept');
    await stage.comesTo(runId, 'succeeded');
    const page = await stage.visit('/crons/queues/job-schedulers', { as: 'operator' });
    const row = rowOf(page, 'board-kept');
    await row.getByRole('button', { name: 'Run now' }).waitFor();
    expect(await row.getByRole('button', { name: 'Edit schedule' }).isVisible()).toBe(false);
    await expect.poll(() => row.locator('time').last().innerText(), SOON).toMatch(/\b([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/);
    await expect.poll(() => page.locator('header img').first().getAttribute('src'), SOON).toContain('favicon.svg');
    await page.goto(`${stage.pod.url}${await jobPath(runId)}`);
    await expect.poll(() => body(page), SOON).toContain('board-kept');
    const { job } = JSON.parse(
      (await put(page, `${await queueOf(runId)}/${encodeURIComponent(runId)}`, 'GET')).text,
    ) as { job: object };
    const run = await stage.deployment.stores.ledger.readRun(runId);
    expect(job).toMatchObject({ attempts: run?.attempt });
    expect(job).not.toHaveProperty('attemptsStarted');
    expect(await page.locator('button:has(.lucide-pencil)').filter({ visible: true }).count()).toBe(0);
    expect(stage.complaints()).toEqual([]);
  });

  it('counts jobs and crons as our page does, and leads back to it', async () => {
    const page = await stage.visit('/crons/queues/', { as: 'viewer' });
    const asked = `fetch('/crons/queues/api/queues').then((answer) => answer.json())`;
    const ours = async () => stage.ask<Answers['Overview']>('overview');
    await expect.poll(async () => (await ours()).queue['active'], SOON).toBe(0);
    const [{ queue, crons }, { queues }] = await Promise.all([ours(), page.evaluate<Board>(asked)]);
    const sum = (numbers: readonly (number | undefined)[]) => numbers.reduce<number>((all, one) => all + (one ?? 0), 0);
    for (const state of ['active', 'waiting', 'delayed', 'completed', 'failed'])
      expect(queue[state], state).toBe(sum(queues.map(({ counts }) => counts[state])));
    expect(queue['completed']).toBeGreaterThan(0);
    expect(sum(queues.map(({ jobSchedulerCount }) => jobSchedulerCount))).toBe(crons.total - crons.removed);
    await expect
      .poll(() => page.locator('link[rel~="icon"]').first().getAttribute('href'), SOON)
      .toContain('favicon.svg');
    await page.locator('header li').last().getByRole('button').click();
    await page.getByRole('menuitem', { name: 'Crons' }).click();
    await shows(page, 'board-kept', 'Last 30');
    expect(stage.complaints()).toEqual([]);
  });

  describe('when it can not be answered', () => {
    const note = (page: Page) => page.getByRole('alert').filter({ hasText: 'Not up to date' });
    const EMPTY = 'No schedulers registered';

    it('says what failed, and never that there is nothing', async () => {
      const { redis, prefix } = { ...stage.deployment.stores, prefix: stage.deployment.prefix };
      const keys = (await redis.keys(`*${prefix}*`)).filter((key) =>
        /\{default:catalog\}:(crons|changes|version)$/.test(key),
      );
      const broken = keys.find((key) => key.endsWith(':crons')) ?? 'none';
      // A copy that is known to be current is not read again.
      for (const key of keys) await redis.rename(key, `${key}-kept`);
      await redis.set(broken, 'no catalog');
      const mend = async () => {
        for (const key of keys) if (await redis.exists(`${key}-kept`)) await redis.rename(`${key}-kept`, key);
      };
      try {
        const page = await stage.visit('/crons/queues/job-schedulers', { as: 'viewer' });
        await note(page).waitFor();
        expect(await page.getByText(EMPTY).filter({ visible: true }).count()).toBe(0);
        await mend();
        await rowOf(page, 'board-kept').waitFor();
        await expect.poll(() => note(page).count(), SOON).toBe(0);
      } finally {
        await mend();
      }
    });

    it('says that the session has ended', async () => {
      const page = await stage.visit('/crons/queues/job-schedulers', { as: 'viewer' });
      await rowOf(page, 'board-kept').waitFor();
      await page.context().clearCookies();
      await expect.poll(() => note(page).innerText(), SOON).toContain('Unknown or missing token');
      expect(await page.getByText(EMPTY).filter({ visible: true }).count()).toBe(0);
    });
  });
});
