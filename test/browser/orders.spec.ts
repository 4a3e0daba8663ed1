import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { Leases } from '@fencepost/lease';
import { RedisLeaseStore } from '@fencepost/lease/redis';
import type { Run } from '@fencepost/ledger/run';
import { until } from '../support/until.js';
import { cronPath, runPath, shows, useStage, SOON, type Made, isMarked, mark } from './stage.js';

interface AuditRecord {
  readonly action: string;
  readonly cron: string | null;
  readonly runId: string | null;
  readonly [field: string]: unknown;
}

interface Order {
  /** The button that opens the dialog, and the one in it. */
  readonly button: string | RegExp;
  readonly verb: string;
  readonly reason: string;
  readonly fill?: (dialog: Locator) => Promise<void>;
}

const CLEAR = {
  verb: 'Clear the lease',
  fill: (dialog: Locator) => dialog.getByLabel('I have made sure that its downstream is safe').check(),
};

/** From the opened page to the order given, with nothing but keys. */
async function give(page: Page, { button, verb, reason, fill }: Order): Promise<void> {
  const opener = page.getByRole('button', { name: button });
  await opener.waitFor();
  await tabTo(page, opener);
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  await fill?.(dialog);
  await tabTo(page, dialog.getByLabel('Reason'));
  await page.keyboard.type(reason);
  await tabTo(page, dialog.getByRole('button', { name: verb, exact: true }));
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByRole('dialog').count(), SOON).toBe(0);
}

const MAX_STOPS = 150;

/** Tab after Tab, until it is where the person is. */
async function tabTo(page: Page, wanted: Locator): Promise<void> {
  for (let stops = 0; stops < MAX_STOPS; stops += 1) {
    if (await wanted.evaluate((element) => element === element.ownerDocument.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Expected to reach ${String(wanted)} with Tab.`);
}

describe('with keys alone, and a record of each', () => {
  const stage = useStage();

  beforeAll(() => stage.deployment.pods.worker('worker', { env: { CRONS: 'shown' } }));

  /** What the audit trail has of the order that was given for this reason. */
  async function recordOf(reason: string): Promise<AuditRecord> {
    const { items } = await stage.ask<{ readonly items: readonly AuditRecord[] }>('audit?limit=100');
    const found = items.filter((record) => record['reason'] === reason);
    expect(found).toHaveLength(1);
    return found[0] as AuditRecord;
  }

  const ANNA = { by: 'anna', role: 'admin', from: expect.stringMatching(/^api (::ffff:)?127\.0\.0\.1$/) as string };

  async function visitNew(cron: string, settings: Made): Promise<Page> {
    await stage.cron(cron, settings);
    return stage.visit(cronPath(cron));
  }

  async function onlyRun(cron: string): Promise<Run> {
    return until(`${cron} has a run`, async () => (await stage.deployment.runsOf(cron))[0] ?? null);
  }

  it('a cron is paused, and resumed', async () => {
    const cron = 'to-pause';
    const page = await visitNew(cron, { handler: 'lasting', expression: '0 0 1 1 *' });
    await give(page, { button: 'Pause …', verb: 'Pause', reason: 'pause it' });
    await shows(page, 'Paused by anna');
    expect((await stage.deployment.stores.ledger.readCron(cron)).paused).toMatchObject({
      by: 'anna',
      reason: 'pause it',
    });
    const paused = { by: 'anna', reason: 'pause it' };
    expect(await recordOf('pause it')).toMatchObject({ ...ANNA, action: 'pause', cron, before: null, after: paused });

    await give(page, { button: 'Resume …', verb: 'Resume', reason: 'resume it' });
    await expect.poll(() => page.locator('main').innerText(), SOON).not.toContain('Paused by anna');
    expect((await stage.deployment.stores.ledger.readCron(cron)).paused).toBeNull();
    expect(await recordOf('resume it')).toMatchObject({ ...ANNA, action: 'resume', cron, before: paused });
    await page.getByRole('tab', { name: 'Activity' }).click();
    await shows(page, 'Orders', 'resume it');
    expect(stage.complaints()).toEqual([]);
  });

  it('a cron is run now, with a payload', async () => {
    const page = await visitNew('to-run', { handler: 'lasting' });
    await give(page, {
      ...{ button: 'Run now …', verb: 'Run now', reason: 'run it' },
      fill: async (dialog) => {
        await tabTo(page, dialog.getByLabel('Payload'));
        await page.keyboard.type('{"copies":2}');
      },
    });
    const run = await onlyRun('to-run');
    await stage.comesTo(run.id, 'succeeded');
    expect(run).toMatchObject({ reason: 'manual', by: 'anna', payload: '{"copies":2}' });
    expect(await recordOf('run it')).toMatchObject({ ...ANNA, action: 'trigger', cron: 'to-run', runId: run.id });
    await shows(page, 'succeeded');
    expect(stage.complaints()).toEqual([]);
  });

  it('past instants are looked at, and then run', async () => {
    const { deployment } = stage;
    await stage.cron('to-backfill', { handler: 'lasting', expression: '* * * * * *' });
    await onlyRun('to-backfill');
    await deployment.stores.operator.pause('to-backfill', { by: 'the test', reason: 'it has fired' });
    const days = ['2026-01-05T00:00:00', '2026-01-05T00:00:01', '2026-01-05T00:00:02'].map((at) =>
      Date.parse(`${at}Z`),
    );
    const filled = async () => {
      const runs = await deployment.runsOf('to-backfill');
      return runs.map(({ scheduledAt }) => scheduledAt).filter((at) => days.includes(at));
    };
    const page = await stage.visit(cronPath('to-backfill'));
    const span = async (dialog: Locator) => {
      // How a date is typed differs by machine: this is the field's own way, and all else is keys.
      await dialog.getByLabel('From').fill('2026-01-05T00:00:00');
      await dialog.getByLabel('To (').fill('2026-01-05T00:00:03');
      await tabTo(page, dialog.getByRole('button', { name: 'Preview' }));
      await page.keyboard.press('Enter');
      await shows(dialog, 'Would do: 3 of 3 instants run');
      expect(await filled()).toEqual([]);
    };
    await give(page, { button: 'Backfill …', verb: 'Backfill', reason: 'fill it', fill: span });
    await expect.poll(filled, SOON).toEqual(days);
    expect(await recordOf('fill it')).toMatchObject({
      ...ANNA,
      action: 'backfill',
      after: { instants: 3, accepted: 3 },
    });
    await deployment.settled('to-backfill');
    expect(stage.complaints()).toEqual([]);
  });

  it('a run that goes on is cancelled, and retried', async () => {
    await stage.cron('to-cancel', { handler: 'lasting' });
    await stage.closeGate('to-cancel');
    const runId = await stage.trigger('to-cancel');
    await stage.comesTo(runId, 'running');
    const page = await stage.visit(runPath(runId));
    await give(page, { button: `Cancel the run ${runId}`, verb: 'Cancel the run', reason: 'cancel it' });
    await stage.comesTo(runId, 'cancelled');
    expect(await recordOf('cancel it')).toMatchObject({
      ...ANNA,
      action: 'cancel',
      runId,
      before: { state: 'running' },
    });

    await stage.openGate('to-cancel');
    await give(page, { button: `Retry the run ${runId}`, verb: 'Retry', reason: 'retry it' });
    await stage.deployment.settled('to-cancel');
    const runs = await stage.deployment.runsOf('to-cancel');
    expect(runs.map(({ state }) => state)).toEqual(['cancelled', 'succeeded']);
    expect(await recordOf('retry it')).toMatchObject({ ...ANNA, action: 'retry', before: { state: 'cancelled' } });
    expect(stage.complaints()).toEqual([]);
  });

  it('a cron is removed', async () => {
    const page = await visitNew('to-remove', { handler: 'lasting', expression: '0 0 1 1 *' });
    await give(page, { button: 'Remove …', verb: 'Remove', reason: 'remove it' });
    await shows(page, 'removed');
    expect((await stage.deployment.entryOf('to-remove'))?.state).toBe('removed');
    const [before, after] = [{ state: 'active' }, { state: 'removed' }];
    expect(await recordOf('remove it')).toMatchObject({ ...ANNA, action: 'remove', cron: 'to-remove', before, after });
    expect(stage.complaints()).toEqual([]);
  });

  it('a lease is cleared, and taken anew under a larger fence', async () => {
    const { leases } = stage.deployment.stores;
    await stage.cron('to-clear', { handler: 'lasting', expression: '0 0 1 1 *' });
    const held = await until('it is held', async () => (await leases.inspect(['to-clear']))[0] ?? null);
    const page = await stage.visit('/crons/leases');
    await give(page, { button: 'Clear the lease of to-clear', ...CLEAR, reason: 'clear it' });
    await page.getByRole('status').filter({ hasText: 'Watching to-clear' }).waitFor();
    const record = await recordOf('clear it');
    expect(record).toMatchObject({ ...ANNA, action: 'clear-lease', cron: 'to-clear' });
    expect(JSON.stringify(record['before'])).toContain(String(held.fence));
    await until('it is held anew', async () => {
      const [now] = await leases.inspect(['to-clear']);
      return now !== undefined && now !== null && now.fence > held.fence;
    });
    expect(stage.complaints()).toEqual([]);
  });

  it('a lease of the application is listed with its holder and since when, is cleared, and its next holder is seen', async () => {
    const { stores, prefix } = stage.deployment;
    const store = new RedisLeaseStore({ redis: stores.redis, prefix, tenant: 'default' });
    const taken = (holder: string) => new Leases({ store, holder, ttl: '1m' });
    const [old, next] = [taken('batch-1/0123456789'), taken('batch-2/0123456789')];
    const { fence } = await old.acquire({ type: 'invoice', id: '42' });
    const waiting = next.acquire({ type: 'invoice', id: '42' }, { wait: '1m' });
    const page = await stage.visit('/crons/leases');
    const row = page.getByRole('table', { name: 'Leases of the application' }).getByRole('row', { name: /invoice:42/ });
    await expect.poll(() => row.innerText(), SOON).toContain('batch-1/01234567');
    await expect.poll(() => row.locator('time').getAttribute('datetime'), SOON).toMatch(/^20.*Z$/);
    await give(page, { button: `Clear the lease of invoice:42 with fence ${fence}`, ...CLEAR, reason: 'own one' });
    const watch = page.getByRole('status').filter({ hasText: 'Watching invoice:42' });
    await expect
      .poll(() => watch.innerText(), SOON)
      .toContain(`batch-2/01234567 holds it with fence ${(await waiting).fence}`);
    const before = { kind: 'lease', resource: 'invoice:42', downstreamSafe: true };
    expect(await recordOf('own one')).toMatchObject({ ...ANNA, action: 'clear-lease', cron: null, before });
    expect(stage.complaints()).toEqual([]);
    await Promise.all([old.close(), next.close()]);
  });
});

const STEPS = { CRONS: 'steps' };

const FREEZES = { event: 'effect.beginning', action: 'freeze', where: { effect: 'second' } } as const;

describe('a worker that is frozen past its run lease, and wakes up', () => {
  // The scheduler lives through all of it, so its lease may be long.
  const stage = useStage({ FENCEPOST_LEASE_TTL: '3s', FENCEPOST_RUN_LEASE: '2s' });

  it('is seen to be refused, on the page of the run and in the fences of the cron', async () => {
    const { pods } = stage.deployment;
    const first = await pods.worker('first-worker', { env: STEPS, failPoint: FREEZES });
    const runId = await stage.trigger('steps');
    await first.waitFor('fail_point');
    const late = (await stage.deployment.stores.ledger.readRun(runId))?.fence;
    const [run, cron] = [await stage.visit(runPath(runId)), await stage.visit(`${cronPath('steps')}?tab=activity`)];
    await shows(run, 'running', 'No stale write of this run was refused.');
    await Promise.all([mark(run), mark(cron)]);

    const second = await pods.worker('second-worker', { env: STEPS });
    await second.waitFor('attempt_succeeded');
    await shows(run, 'succeeded', 'second-worker/');
    first.thaw();
    await first.waitFor('attempt_refused');

    const refusals = run.getByRole('table', { name: 'Refusals, newest first' });
    const refused = refusals.getByRole('row').filter({ hasText: 'first-worker/' });
    await shows(refused.first(), 'refused', 'write refused: the attempt is stale');
    const attempts = run.getByRole('table', { name: 'Attempts, newest first' });
    await shows(attempts.getByRole('row').nth(1), 'second-worker/', 'succeeded');
    const against = `was refused: fence ${late} against`;
    await shows(attempts.getByRole('row').nth(2), 'first-worker/', 'refused', 'an effect', against);
    const fences = cron.getByRole('table', { name: 'Fences and refusals, newest first' });
    await shows(fences, 'write refused', 'first-worker/', 'lease acquired');
    await cron.getByLabel('Refusals only').check();
    await expect.poll(() => fences.innerText(), SOON).not.toContain('lease acquired');
    await shows(fences, 'first-worker/', String(late));
    expect([await isMarked(run), await isMarked(cron)]).toEqual([true, true]);
    expect(await stage.deployment.effectsOf(runId)).toEqual(['first', 'second', 'third']);
    expect(stage.complaints()).toEqual([]);
  });
});
