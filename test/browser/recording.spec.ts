import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fencepost } from '../support/fencepost.js';
import type { LogLine, Pod } from '../support/pod.js';
import { privateRedis, type PrivateRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import { Film, PICTURE } from './film.js';
import { runPath, shows, useStage } from './stage.js';

/*
 * The recording on top of the README, a part a test, each on the pods of the one before. What a part claims is looked up in any
 * case; `npm run e2e -- --screenshots` keeps what was to be seen meanwhile.
 */
const FILE = fileURLToPath(new URL('../../docs/images/recording.webp', import.meta.url));
const film = new Film(process.env['FENCEPOST_SCREENSHOTS'] === 'true');

let redis: PrivateRedis | undefined;
beforeAll(async () => {
  // As in production: the page warns of a Redis that keeps nothing.
  redis = await privateRedis({ appendonly: 'yes' });
});
afterAll(() => redis?.stop());

// Long enough to be seen.
const stage = useStage({ FENCEPOST_LEASE_TTL: '3s', FENCEPOST_RUN_LEASE: '3s' }, () => redis?.url ?? '');
const { deployment } = stage;
const CRONS = ['stock-sync', 'nightly-export', 'charge-cards', 'newsletter'];
const BUSY = 'stock-sync';
const REASON = 'The mail log has it';

/** Each day at a time that comes when a pod has been killed. */
const soon = new Date(Date.now() + 15_000);
const CHARGE_AT = `${soon.getUTCSeconds()} ${soon.getUTCMinutes()} ${soon.getUTCHours()} * * *`;

let workers: readonly Pod[] = [];
let schedulers: readonly Pod[] = [];
/** The scheduler that serves the pages: not the one that is killed. */
let pod: Pod;

/** A part goes on where the one before has ended. */
let hasFailed = false;
beforeEach(({ skip }) => skip(hasFailed, 'the part before this one has failed'));
afterEach(({ task }) => void (hasFailed ||= task.result?.state === 'fail'));
afterAll(() => (hasFailed ? undefined : film.save(FILE)));

const visit = (path: string) => stage.visit(path, { pod, viewport: PICTURE });
const row = (page: Page, cron: string) => page.getByRole('row').filter({ hasText: cron }).first();
const section = (page: Page, title: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });

const fenceOf = async (cron: string) => Number((await deployment.stores.leases.inspect([cron]))[0]?.fence);

/** The worker that is inside of an effect, and waits there. */
function workerInside(effect: string, attempt: number): Promise<Pod> {
  const isIt = (line: LogLine) => line['effect'] === effect && line['attempt'] === attempt;
  return Promise.any(workers.map((worker) => worker.waitFor('effect_begun', isIt).then(() => worker)));
}

/** What the command prints at a terminal with colours. */
async function printed(...args: readonly string[]): Promise<string> {
  const env = { REDIS_URL: redis?.url, FENCEPOST_PREFIX: deployment.prefix, FORCE_COLOR: '1' };
  const { code, out, err } = await fencepost(args, { env, width: 118 });
  expect([code, err]).toEqual([0, '']);
  return out;
}

describe('the recording', () => {
  it('has a fresh start: crons are declared, held by a scheduler each, and run', async () => {
    pod = stage.pod;
    const page = await visit('/crons/');
    await film.caption(
      '1 · A fresh start',
      'Two schedulers and two workers start: each instant of a cron runs once.',
      page,
    );
    await film.shot(page, 1_500);
    for (const gate of ['charge-1', 'charge-2', 'send-mail-1']) await stage.closeGate(gate);
    const start = (name: string) => deployment.pods.worker(name, { env: { CRONS: 'recorded', CHARGE_AT } });
    const starting = Promise.all([deployment.pods.scheduler('scheduler-2'), start('worker-1'), start('worker-2')]);
    const [second, ...others] = await film.until(starting, page);
    [schedulers, workers] = [[stage.pod, second], others];
    await shows(page, ...CRONS);
    await film.scroll(page, section(page, 'Crons'));
    await film.until(
      until('some instants ran', async () => (await deployment.runsOf(BUSY)).length >= 4),
      page,
    );
    await film.shot(page, 1_500, row(page, BUSY));
    const instants = (await deployment.runsOf(BUSY)).map(({ scheduledAt }) => scheduledAt);
    expect(new Set(instants).size).toBe(instants.length);
  });

  it('kills a pod: another takes its cron over under a larger fence', async () => {
    const home = await deployment.homeOf(BUSY, 2);
    const [killed, other] = schedulers.toSorted((a) => (a.name === home ? -1 : 1));
    pod = other ?? stage.pod;
    const before = await fenceOf(BUSY);
    const page = await visit('/crons/leases');
    await shows(row(page, BUSY), home);
    await film.scroll(page, section(page, 'Leases of crons'));
    await film.caption(
      '2 · Kill a pod',
      `${home} holds ${BUSY}. It is killed, and has no chance to say goodbye.`,
      page,
    );
    await film.shot(page, 3_000, row(page, BUSY));
    await killed?.kill();
    const taking = deployment.otherHolderOf(BUSY, home);
    await film.until(
      taking.then(({ holder }) => shows(row(page, BUSY), holder)),
      page,
      row(page, BUSY),
    );
    const { holder, tookMs } = await taking;
    expect(holder).toBe(pod.name);
    expect(await fenceOf(BUSY)).toBeGreaterThan(before);
    const took = `${(tookMs / 1_000).toFixed(1)} s`;
    await film.caption('2 · Kill a pod', `${holder} took over after ${took}, under a larger fence.`, page);
    await film.shot(page, 3_500, row(page, BUSY));
  });

  it('refuses a stale write: a worker wakes up when its run has moved on', async () => {
    const worker = await workerInside('charge', 1);
    const [run] = await deployment.runsOf('charge-cards');
    const runId = run?.id ?? '';
    const page = await visit(runPath(runId));
    await shows(page, 'running', worker.name);
    await film.caption('3 · A stale write', `${worker.name} freezes (SIGSTOP) just before it charges the cards.`, page);
    worker.freeze();
    await film.shot(page, 2_500);
    await film.scroll(page, section(page, 'Timeline'));
    const successor = await film.until(workerInside('charge', 2), page);
    await shows(section(page, 'State'), successor.name);
    const { fence } = (await deployment.stores.ledger.readRun(runId)) ?? {};
    await film.caption('3 · A stale write', `${successor.name} takes the run over, under a larger fence.`, page);
    await film.shot(page, 3_000);

    await stage.openGate('charge-1');
    worker.thaw();
    const refused = await worker.waitFor('attempt_refused');
    const table = page.getByRole('table', { name: 'Refusals, newest first' });
    await shows(table, String(refused['fence']), String(fence));
    await film.caption(
      '3 · A stale write',
      `${worker.name} wakes up and charges: refused, its fence is too old.`,
      page,
    );
    await film.scroll(page, section(page, 'Refusals'));
    await film.shot(page, 5_000, table);
    // The ledger may refuse its heartbeat before the sink refuses its write.
    await expect.poll(() => deployment.stores.sink.turnedDown()).toEqual({ stale: 1, repeated: 0 });
    await stage.openGate('charge-2');
    await stage.comesTo(runId, 'succeeded');
    expect(await deployment.effectsOf(runId)).toEqual(['charge', 'receipt']);
  });

  it('asks why', async () => {
    const why = await printed('why', 'charge-cards', 'last');
    expect(why).toContain('It ran, and succeeded');
    expect(why).toMatch(/StaleFenceError: [^]* refused fence/);
    await film.caption(
      '4 · fencepost why',
      'One command tells what happened to a run, and why.',
      await visit('/crons/'),
    );
    await film.terminal('npx fencepost why charge-cards last', why, 7_000);
  });

  it('resolves an uncertain run: a worker died while it sent a mail', async () => {
    const page = await visit('/crons/attention');
    const runId = await stage.trigger('newsletter', 'anna');
    const worker = await workerInside('send-mail', 1);
    await film.caption(
      '5 · An uncertain run',
      `${worker.name} dies while it sends a mail: nobody knows whether it is out.`,
      page,
    );
    await film.shot(page, 1_500);
    await worker.kill();
    const asked = page.locator('.asked').filter({ hasText: 'newsletter' });
    await film.until(asked.waitFor(), page);
    await film.shot(page, 4_000, asked);
    const yes = asked.getByRole('button', { name: 'It happened …' });
    await film.caption(
      '5 · An uncertain run',
      'Fencepost does not guess: a person answers, and the run goes on.',
      page,
    );
    await film.shot(page, 1_500, yes);
    await yes.click();
    const dialog = page.getByRole('dialog');
    await film.shot(page, 1_000);
    await dialog.getByLabel('Reason').fill(REASON);
    const button = dialog.getByRole('button', { name: 'It happened', exact: true });
    await film.shot(page, 2_500, button);
    await button.click();
    await film.until(stage.comesTo(runId, 'succeeded'), page);
    expect(await deployment.effectsOf(runId)).toEqual(['render']);
    await page.goto(pod.url + runPath(runId));
    await shows(page, 'succeeded');
    await film.caption('5 · An uncertain run', 'The run has succeeded, and no second mail went out.', page);
    await film.shot(page, 2_500);
    await page.goto(`${pod.url}/crons/audit`);
    await shows(page, 'newsletter', REASON);
    await film.caption('5 · An uncertain run', 'Who answered, what, and why stays on record.', page);
    await film.shot(page, 3_500, row(page, 'newsletter'));
  });
});
