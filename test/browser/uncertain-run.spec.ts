import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { runPath, shows, useStage, SOON } from './stage.js';

const stage = useStage();
beforeAll(() => stage.deployment.pods.worker('worker', { env: { CRONS: 'shown' } }));

const REASON = 'the mail server was asked';

/** A run that waits for an answer, and the page where it is asked. */
async function uncertainRun(cron: string): Promise<{ readonly runId: string; readonly page: Page }> {
  await stage.cron(cron, { handler: 'asking' });
  const page = await stage.visit('/crons/attention', { as: 'operator' });
  const runId = await stage.trigger(cron);
  await shows(page, cron, 'send-mail');
  return { runId, page };
}

async function answer(page: Page, { cron, button, verb }: Readonly<Record<'cron' | 'button' | 'verb', string>>) {
  const asked = page.locator('.asked').filter({ hasText: cron });
  await asked.getByRole('button', { name: button }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill(REASON);
  await dialog.getByRole('button', { name: verb, exact: true }).click();
  await expect.poll(() => page.getByRole('dialog').count(), SOON).toBe(0);
  await expect.poll(() => asked.count(), SOON).toBe(0);
}

describe('a run of which nobody knows whether its mail is out', () => {
  it('is answered with "it happened", and goes on after the mail', async () => {
    const { runId, page } = await uncertainRun('said-done');
    await answer(page, { cron: 'said-done', button: 'It happened …', verb: 'It happened' });
    await stage.comesTo(runId, 'succeeded');
    expect(await stage.deployment.effectsOf(runId)).toEqual(['render', 'file']);
    await page.goto(stage.pod.url + runPath(runId));
    await shows(page, 'succeeded', 'The report has 12 pages.');
    expect(stage.complaints()).toEqual([]);
  });

  it('is answered with "it did not happen", and sends the mail', async () => {
    const { runId, page } = await uncertainRun('said-not-done');
    await answer(page, { cron: 'said-not-done', button: 'It did not happen …', verb: 'It did not happen' });
    await stage.comesTo(runId, 'succeeded');
    expect(await stage.deployment.effectsOf(runId)).toEqual(['render', 'send-mail', 'file']);
    expect(stage.complaints()).toEqual([]);
  });

  it('is given up, stands among the failed, and does nothing more', async () => {
    const { runId, page } = await uncertainRun('given-up');
    await answer(page, { cron: 'given-up', button: 'Give the run up …', verb: 'Give the run up' });
    await stage.comesTo(runId, 'failed');
    await shows(page.getByRole('table', { name: 'Failed runs, grouped by error' }), 'given-up');
    expect(await stage.deployment.effectsOf(runId)).toEqual(['render']);
    expect(stage.complaints()).toEqual([]);
  });

  it('leaves who answered, what, and why', async () => {
    const { items } = await stage.ask<{ items: readonly { readonly action: string }[] }>('audit?limit=50');
    const record = { by: 'otto', role: 'operator', reason: REASON, before: { state: 'uncertain' } };
    const answers = items.filter(({ action }) => action === 'resolve');
    for (const given of ['done', 'not-done', 'give-up']) {
      expect(answers).toContainEqual(
        expect.objectContaining({
          ...record,
          before: expect.objectContaining(record.before) as unknown,
          after: expect.objectContaining({ answer: given }) as unknown,
        }),
      );
    }
  });
});
