import { describe, expect, it } from 'vitest';
import { declared, FencepostDeployment } from '../support/fencepost.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const HOUR = 3_600_000;

function deployment(declarations: Parameters<typeof FencepostDeployment.of>[1]) {
  return FencepostDeployment.of({ redis: spaces.redis(), ...spaces.fresh() }, declarations);
}

describe('fencepost pause and resume', () => {
  it('pauses until it is resumed, with who and why', async () => {
    const at = await deployment([declared('nightly')]);
    const { json, code } = await at.json('pause', 'nightly', '--reason', 'disk full');
    expect([code, json]).toEqual([
      0,
      expect.objectContaining({ cron: 'nightly', until: null, by: 'otto', reason: 'disk full' }),
    ]);
    expect((await at.ask('list')).out).toContain('paused');
    const resumed = await at.json('resume', 'nightly', '--reason', 'disk is fine', '--by', 'anna');
    expect(resumed.json).toMatchObject({ cron: 'nightly', ended: { by: 'otto', reason: 'disk full' }, runId: null });
    expect(await at.trail.list({ cron: 'nightly', limit: 10 })).toMatchObject([
      { action: 'resume', by: 'anna', reason: 'disk is fine' },
      { action: 'pause', by: 'otto', reason: 'disk full' },
    ]);
  });

  it('counts --for from the clock of the store', async () => {
    const at = await deployment([declared('nightly')]);
    const { readAt } = await at.catalog.read();
    await at.ask('pause', 'nightly', '--reason', 'disk full', '--for', '2h');
    const { paused } = await at.ledger.readCron('nightly');
    expect(paused?.until).toBeGreaterThanOrEqual(readAt + 2 * HOUR);
    expect(paused?.until).toBeLessThan(readAt + 3 * HOUR);
  });
});

describe('fencepost trigger', () => {
  it('has a run on its way with the payload it was given', async () => {
    const at = await deployment([declared('nightly')]);
    const { json, code } = await at.json('trigger', 'nightly', '--payload', '{"month":3}', '--reason', 'asked for');
    expect([code, json]).toEqual([
      0,
      { cron: 'nightly', verdict: 'claimed', runId: expect.stringMatching(/^nightly@manual-/) },
    ]);
    const { runId } = json as { runId: string };
    expect(await at.ledger.readRun(runId)).toMatchObject({
      state: 'enqueued',
      reason: 'manual',
      by: 'otto',
      payload: '{"month":3}',
    });
  });

  it('refuses a payload that is no JSON', async () => {
    const { code, err } = await (
      await deployment([declared('nightly')])
    ).ask('trigger', 'nightly', '--payload', '{month: 3}');
    expect([code, err]).toEqual([2, expect.stringContaining('Give JSON, such as')]);
  });
});

describe('fencepost cancel', () => {
  it('cancels a run that waits', async () => {
    const at = await deployment([declared('nightly')]);
    const { runId } = (await at.json('trigger', 'nightly')).json as { runId: string };
    const { code, json } = await at.json('cancel', runId, '--reason', 'wrong day');
    expect([code, json]).toEqual([0, { runId, verdict: 'cancelled' }]);
    expect((await at.ledger.readRun(runId))?.state).toBe('cancelled');
  });
});

describe('a cron that is not there', () => {
  it.each([
    ['pause', 'nighty', '--reason', 'x'],
    ['resume', 'nighty', '--reason', 'x'],
    ['trigger', 'nighty'],
    ['backfill', 'nighty', '--from', '2026-03-01', '--to', '2026-03-04', '--reason', 'x'],
  ])('is refused by %s with names that are like it', async (...args) => {
    const at = await deployment([declared('nightly')]);
    const { code, out, err } = await at.ask(...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^Cron "nighty" not found\. .*"nightly".*\n$/);
  });
});
