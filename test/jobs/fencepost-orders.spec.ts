import { describe, expect, it } from 'vitest';
import { fencepost } from '../support/fencepost.js';
import { declared, FencepostDeployment } from '../support/fencepost-deployment.js';
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
    expect(await at.ledger.actions('nightly', 10)).toMatchObject([
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

  it('says that a cron was not paused', async () => {
    const at = await deployment([declared('nightly')]);
    expect(await at.ask('resume', 'nightly', '--reason', 'none')).toMatchObject({
      code: 0,
      out: 'nightly was not paused.\n',
    });
  });

  it('refuses an end in the past, and two ends', async () => {
    const at = await deployment([declared('nightly')]);
    const past = await at.ask('pause', 'nightly', '--reason', 'x', '--until', '2020-01-01T00:00:00Z');
    expect([past.code, past.err]).toEqual([2, expect.stringContaining('an instant in the future')]);
    const both = await at.ask('pause', 'nightly', '--reason', 'x', '--until', '2090-01-01', '--for', '2h');
    expect([both.code, both.err]).toEqual([2, expect.stringContaining("cannot be used with option '--until")]);
    expect((await at.ledger.readCron('nightly')).paused).toBeNull();
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

  it('gives null where null was asked for, whatever the definition says', async () => {
    const at = await deployment([declared('nightly', '0 3 * * *', { payload: { month: 3 } })]);
    const { runId } = (await at.json('trigger', 'nightly', '--payload', 'null')).json as { runId: string };
    expect(await at.ledger.readRun(runId)).toMatchObject({ state: 'enqueued', payload: null });
  });

  it('fails for a run that is refused because another one is going, unless it is forced', async () => {
    const at = await deployment([declared('nightly')]);
    await at.ask('trigger', 'nightly');
    const refused = await at.json('trigger', 'nightly');
    expect([refused.code, refused.json]).toEqual([1, { cron: 'nightly', verdict: 'skipped', reason: 'overlap' }]);
    expect((await at.json('trigger', 'nightly', '--force')).code).toBe(0);
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

  it('fails for a run that is over', async () => {
    const at = await deployment([declared('nightly')]);
    const { runId } = (await at.json('trigger', 'nightly')).json as { runId: string };
    const begin = { runId, nonce: 'first', worker: 'worker/1', ttlMs: 60_000, maxAttempts: 3 };
    const begun = await at.ledger.begin(begin);
    if (begun.verdict !== 'begun') throw new Error(`Expected the run to begin, got ${begun.verdict}.`);
    await at.ledger.finish({ runId, fence: begun.fence, nonce: 'first' }, { kind: 'succeeded' });
    const { code, json } = await at.json('cancel', runId, '--reason', 'too late');
    expect([code, json]).toEqual([1, { runId, verdict: 'terminal', state: 'succeeded' }]);
  });

  it('tells a worker that carries it out, and says until when', async () => {
    const at = await deployment([declared('nightly')]);
    const { runId } = (await at.json('trigger', 'nightly')).json as { runId: string };
    await at.ledger.begin({ runId, nonce: 'first', worker: 'worker/1', ttlMs: 60_000, maxAttempts: 3 });
    const { code, json } = await at.json('cancel', runId, '--reason', 'wrong day', '--grace', '90s');
    expect([code, json]).toEqual([0, { runId, verdict: 'cancelling', until: expect.stringMatching(/^\d{4}-.*Z$/) }]);
  });

  it.each(['nightly@1763607600000', 'nonsense'])('refuses %s, which is no run', async (id) => {
    const { code, err } = await (await deployment([declared('nightly')])).ask('cancel', id, '--reason', 'x');
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^(There is no run|The ledger has no run|Expected the run id)/),
    ]);
  });
});

describe('fencepost backfill', () => {
  const range = ['--from', '2026-03-01', '--to', '2026-03-04T00:00:00Z', '--reason', 'lost the disk'];

  it('says what it would do, does it, and leaves alone what it did', async () => {
    const at = await deployment([declared('nightly', '0 3 * * *', { overlap: 'allow' })]);
    await at.claimed('nightly', Date.parse('2026-03-10T03:00:00Z'));
    const dry = await at.json('backfill', 'nightly', ...range, '--dry-run');
    expect(dry).toMatchObject({
      code: 0,
      json: { dryRun: true, instants: 3, accepted: 3, from: '2026-03-01T00:00:00.000Z' },
    });
    expect(await at.ledger.runs('nightly', 10)).toHaveLength(1);
    expect((await at.json('backfill', 'nightly', ...range)).json).toMatchObject({ instants: 3, accepted: 3 });
    expect((await at.json('backfill', 'nightly', ...range)).json).toMatchObject({ accepted: 0, left: { enqueued: 3 } });
    expect((await at.ask('backfill', 'nightly', ...range)).out).toMatch(
      /has 3 instants from .*\n +0 +enqueued\n +3 +not repeated: enqueued/,
    );
  });

  it('fails when it was stopped before the end', async () => {
    const at = await deployment([declared('nightly')]);
    const args = ['backfill', 'nightly', ...range, '--json'];
    const { code, json } = await fencepost(args, { env: at.env, interrupted: () => AbortSignal.abort() });
    expect([code, json]).toEqual([1, expect.objectContaining({ accepted: 0, aborted: true })]);
  });

  it('refuses a range that ends before it begins', async () => {
    const at = await deployment([declared('nightly')]);
    const { code, err } = await at.ask(
      'backfill',
      'nightly',
      '--from',
      '2026-03-04',
      '--to',
      '2026-03-01',
      '--reason',
      'x',
    );
    expect([code, err]).toEqual([2, expect.stringMatching(/^Expected from to be before "to"/)]);
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
    expect(err).toMatch(/^The catalog has no cron "nighty"\. .*"nightly".*\n$/);
  });
});
