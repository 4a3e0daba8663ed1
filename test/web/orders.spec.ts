import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CRON, FAILED, LOST_RUN, UNCERTAIN } from './fixture-runs.js';
import { SOON, useWebStage } from './web-stage.js';

const stage = useWebStage();

const open = (path: string): Promise<Page> => stage.page(path);

const ASKED = { attempt: UNCERTAIN.attempt, effect: 'send-mail', item: null, since: UNCERTAIN.unresolvedEffect?.since };
const SAFE = 'I have made sure that its downstream is safe';
const REASON = 'a reason for the audit trail';
const cron = `/crons/cron/${CRON}`;

interface Case {
  readonly path: string;
  readonly button: string | RegExp;
  readonly verb: string;
  readonly fill?: (dialog: Locator) => Promise<void>;
  readonly posted: { readonly path: string; readonly body: object };
}

/** Every button that changes something: what has to be filled in, and what the API is told then. */
const CASES: Readonly<Record<string, Case>> = {
  'runs a cron now': {
    ...{ path: cron, button: 'Run now …', verb: 'Run now' },
    fill: (dialog) => dialog.getByLabel('Payload').fill('{"month":"2026-10"}'),
    posted: {
      path: `/api/crons/${CRON}/trigger`,
      body: { reason: REASON, force: false, payload: { month: '2026-10' } },
    },
  },
  'pauses a cron': {
    ...{ path: cron, button: 'Pause …', verb: 'Pause' },
    fill: (dialog) => dialog.getByLabel('Until').fill('2026-12-24T18:00:00'),
    posted: { path: `/api/crons/${CRON}/pause`, body: { reason: REASON, until: '2026-12-24T18:00:00.000Z' } },
  },
  'backfills a cron': {
    ...{ path: cron, button: 'Backfill …', verb: 'Backfill' },
    fill: async (dialog) => {
      await dialog.getByLabel('From').fill('2026-11-01T00:00:00');
      await dialog.getByLabel('To (').fill('2026-11-02T00:00:00');
    },
    posted: {
      path: `/api/crons/${CRON}/backfill`,
      body: { from: '2026-11-01T00:00:00.000Z', to: '2026-11-02T00:00:00.000Z', reason: REASON, dryRun: false },
    },
  },
  'removes a cron': {
    ...{ path: cron, button: 'Remove …', verb: 'Remove' },
    posted: { path: `/api/crons/${CRON}`, body: { reason: REASON } },
  },
  'says that an effect happened': {
    ...{ path: '/crons/attention', button: 'It happened …', verb: 'It happened' },
    fill: (dialog) => dialog.getByLabel('Result').fill('{"id":7}'),
    posted: {
      path: `/api/runs/${LOST_RUN}/resolve`,
      body: { answer: 'done', ...ASKED, reason: REASON, result: { id: 7 } },
    },
  },
  'says that it did not happen': {
    ...{ path: '/crons/attention', button: 'It did not happen …', verb: 'It did not happen' },
    posted: {
      path: `/api/runs/${LOST_RUN}/resolve`,
      body: { answer: 'not-done', ...ASKED, reason: REASON },
    },
  },
  'gives a run up': {
    ...{ path: '/crons/attention', button: 'Give the run up …', verb: 'Give the run up' },
    posted: { path: `/api/runs/${LOST_RUN}/resolve`, body: { answer: 'give-up', ...ASKED, reason: REASON } },
  },
  'retries a failed run': {
    ...{ path: `/crons/run/${encodeURIComponent(FAILED.id)}`, button: /Retry the run/, verb: 'Retry' },
    posted: { path: `/api/runs/${FAILED.id}/retry`, body: { reason: REASON, force: false, repeatUnknown: false } },
  },
  'cancels a run': {
    ...{ path: `/crons/run/${encodeURIComponent(LOST_RUN)}`, button: /Cancel the run/, verb: 'Cancel the run' },
    posted: { path: `/api/runs/${LOST_RUN}/cancel`, body: { reason: REASON } },
  },
  'mutes a cron': {
    ...{ path: '/crons/notifications', button: 'Mute …', verb: 'Mute' },
    fill: async (dialog) => {
      await dialog.getByLabel('Cron', { exact: true }).fill(CRON);
      await dialog.getByLabel('Until').fill('2026-12-24T18:00:00');
    },
    posted: { path: '/api/mutes', body: { cron: CRON, reason: REASON, until: '2026-12-24T18:00:00.000Z' } },
  },
  'tests a receiver': {
    ...{ path: '/crons/notifications', button: 'Send a test to https://alerts.example', verb: 'Send' },
    posted: { path: '/api/receivers/a1b2c3d4e5f6/test', body: { reason: REASON } },
  },
  'clears a lease by its fence': {
    ...{ path: '/crons/leases', button: `Clear the lease of ${CRON}`, verb: 'Clear the lease' },
    fill: (dialog) => dialog.getByLabel(SAFE).check(),
    posted: { path: `/api/leases/${CRON}/clear`, body: { reason: REASON, fence: '1763607590001' } },
  },
  'clears one place of a semaphore': {
    ...{ path: '/crons/leases', button: 'Clear the lease of gpu with fence 1763607590012', verb: 'Clear the lease' },
    fill: (dialog) => dialog.getByLabel(SAFE).check(),
    posted: {
      path: '/api/own-leases/clear',
      body: { kind: 'semaphore', resource: 'gpu', fence: '1763607590012', reason: REASON, downstreamSafe: true },
    },
  },
};

describe('a person', () => {
  it.each(Object.entries(CASES))('%s, by keys alone', async (_, { path, button, verb, fill, posted }) => {
    const shown = await open(path);
    const opener = shown.getByRole('button', { name: button }).first();
    await opener.focus();
    await shown.keyboard.press('Enter');
    await shown.getByRole('dialog').waitFor();
    await fill?.(shown.getByRole('dialog'));
    await shown.getByLabel('Reason').fill(REASON);
    await shown.getByRole('dialog').getByRole('button', { name: verb, exact: true }).focus();
    await shown.keyboard.press('Enter');
    await expect.poll(() => shown.getByRole('dialog').count(), SOON).toBe(0);
    expect(stage.posted).toEqual([posted]);
    await expect.poll(() => shown.locator('.announcer').innerText(), SOON).not.toBe('');
    expect(stage.complaints).toEqual([]);
  });

  it('gives a reason, or nothing is done', async () => {
    const shown = await open(cron);
    await shown.getByRole('button', { name: 'Pause …' }).click();
    await shown.getByRole('button', { name: 'Pause', exact: true }).click();
    await expect.poll(() => shown.getByRole('dialog').count(), SOON).toBe(1);
    expect(stage.posted).toEqual([]);
  });

  it.each([[`Clear the lease of ${CRON}`], ['Clear the lease of invoice:42 with fence 1763607590011']])(
    'says that the downstream is safe, or nothing is done; then sees what becomes of it: %s',
    async (button) => {
      const shown = await open('/crons/leases');
      await shown.getByRole('button', { name: button }).click();
      const dialog = shown.getByRole('dialog');
      await dialog.getByLabel('Reason').fill(REASON);
      await dialog.getByRole('button', { name: 'Clear the lease' }).click();
      expect([await dialog.count(), stage.posted]).toEqual([1, []]);
      await dialog.getByLabel(SAFE).check();
      await dialog.getByRole('button', { name: 'Clear the lease' }).click();
      await expect.poll(() => stage.posted.length, SOON).toBe(1);
      const watch = shown.getByRole('status').filter({ hasText: 'Watching' }).filter({ hasText: 'for 30 s' });
      await expect.poll(() => watch.innerText(), SOON).toContain('is the old holder: it is alive.');
    },
  );

  it('reads that a declared cron is removed only without live pods, and afterwards what brings it back', async () => {
    const shown = await open(cron);
    await shown.getByRole('button', { name: 'Remove …' }).click();
    const dialog = shown.getByRole('dialog');
    const refused = 'While a live pod of billing declares it, this is refused: pause it instead.';
    await expect.poll(() => dialog.innerText(), SOON).toContain(refused);
    await dialog.getByLabel('Reason').fill(REASON);
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    const done = `${CRON} is removed. It comes back if a pod of billing declares it again.`;
    await expect.poll(() => shown.locator('.announcer').innerText(), SOON).toBe(done);
  });

  it('closes a dialog with Escape, and is where they were', async () => {
    const shown = await open(cron);
    await shown.getByRole('button', { name: 'Pause …' }).click();
    await shown.getByRole('dialog').waitFor();
    await shown.keyboard.press('Escape');
    await expect.poll(() => shown.getByRole('dialog').count(), SOON).toBe(0);
    await expect.poll(() => shown.evaluate('document.activeElement.textContent'), SOON).toBe('Pause …');
    expect(stage.posted).toEqual([]);
  });

  it('reads in the dialog why it was refused, and loses nothing of what was written', async () => {
    const shown = await open(cron);
    await shown.getByRole('button', { name: 'Pause …' }).click();
    await shown.getByLabel('Reason').fill(REASON);
    stage.refusing = 409;
    await shown.getByRole('button', { name: 'Pause', exact: true }).click();
    await expect.poll(() => shown.getByRole('alert').innerText(), SOON).toContain('It is meant to fail.');
    await expect.poll(() => shown.getByLabel('Reason').inputValue(), SOON).toBe(REASON);
  });

  it('sees what a backfill would do before it is done', async () => {
    const shown = await open(cron);
    await shown.getByRole('button', { name: 'Backfill …' }).click();
    await CASES['backfills a cron']?.fill?.(shown.getByRole('dialog'));
    await shown.getByRole('button', { name: 'Preview' }).click();
    const words =
      '3 of 6 instants run; not repeated: 2 succeeded, 1 ahead. Estimated from earlier runs: about 1 min 30 s. Later instants';
    await expect.poll(() => shown.getByRole('dialog').innerText(), SOON).toContain(words);
    expect(stage.posted).toMatchObject([{ body: { dryRun: true } }]);
  });
});

describe('what a token may do', () => {
  const buttons = (shown: Page) => shown.locator('main button').allInnerTexts();

  it.each([cron, '/crons/attention', '/crons/leases', `/crons/run/${encodeURIComponent(LOST_RUN)}`])(
    'a viewer is offered nothing that changes anything on %s',
    async (path) => {
      stage.fixture = { role: 'viewer', crons: 8 };
      const shown = await open(path);
      await shown.locator('table').first().waitFor();
      const ordering = (await buttons(shown)).filter((text) => text.includes('…'));
      expect(ordering).toEqual([]);
    },
  );

  it('an operator is not offered what only an admin may do', async () => {
    stage.fixture = { role: 'operator', crons: 8 };
    const shown = await open(cron);
    await expect.poll(() => buttons(shown), SOON).toContain('Pause …');
    expect(await buttons(shown)).not.toContain('Remove …');
    await shown.goto(stage.url('/crons/leases'));
    await shown.locator('table').nth(2).waitFor();
    expect((await buttons(shown)).filter((text) => text.includes('Clear'))).toEqual([]);
  });
});
