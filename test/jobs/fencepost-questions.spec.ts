import { randomUUID } from 'node:crypto';
import { parseFence } from '@fencepost/lease';
import { RedisLeaseStore } from '@fencepost/lease/redis';
import type { AttemptOutcome } from '@fencepost/ledger';
import { describe, expect, it } from 'vitest';
import { SCHEMAS } from '@fencepost/operations/presenting';
import { fencepost, declared, FencepostDeployment } from '../support/fencepost.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const DAY_MS = 86_400_000;

async function deployment(): Promise<FencepostDeployment & { readonly space: ReturnType<typeof spaces.fresh> }> {
  const space = spaces.fresh();
  const crons = [
    declared('nightly', '0 3 * * *', { timeZone: 'Europe/Berlin', payload: { to: 'all' } }),
    declared('calm'),
  ];
  const at = await FencepostDeployment.of({ redis: spaces.redis(), ...space }, crons);
  return Object.assign(at, { space });
}

/** As a person at a terminal sees it. */
function seen(at: FencepostDeployment, ...args: string[]) {
  return fencepost(args, { env: at.env, terminal: true, width: 140 });
}

function failed(at: FencepostDeployment): Promise<string> {
  return ended(at, { kind: 'failed', error: 'Error: no paper' });
}

async function ended(at: FencepostDeployment, outcome: AttemptOutcome): Promise<string> {
  const [runId, nonce] = [`nightly@manual-${randomUUID()}`, randomUUID()];
  const words = {
    reason: 'manual',
    by: 'ada',
    payload: '{"month":3}',
    handler: null,
    missed: null,
  } as const;
  await at.ledger.trigger({ runId, nonce, scheduledAt: null, generation: 1, overlap: 'allow', ...words });
  const begun = await at.ledger.begin({ runId, nonce, worker: 'worker/1', ttlMs: 60_000, maxAttempts: 1 });
  if (begun.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${begun.verdict}.`);
  const attempt = { runId, nonce, fence: begun.fence };
  await at.ledger.beginEffect(attempt, { name: 'card', ifUnknown: 'go' });
  await at.ledger.finishEffect(attempt, 'card', { kind: 'done', result: '7' });
  await at.ledger.finish(attempt, outcome);
  return runId;
}

describe('fencepost show', () => {
  it('shows a cron to a program as the API does, and to a person in words', async () => {
    const at = await deployment();
    const runId = await failed(at);
    const leases = new RedisLeaseStore({ redis: spaces.redis(), ...at.space, kind: 'cron' });
    const term = { resource: 'nightly', nonce: 'n', holder: 'pod-1/aaaaaaaabbbb', ttlMs: 60_000 };
    await leases.acquire({ ...term, floor: parseFence('0') });
    const { code, json } = await at.json('show', 'nightly');
    expect(code).toBe(0);
    expect(SCHEMAS.CronDetail.parse(json)).toMatchObject({
      ...{
        name: 'nightly',
        state: 'active',
        scheduleText: 'every day at 03:00 in Europe/Berlin',
        holder: 'pod-1/aaaaaaaa',
      },
      last: { id: runId, error: 'Error: no paper' },
    });
    const { out } = await seen(at, 'show', 'nightly');
    expect(out).toContain('every day at 03:00 in Europe/Berlin');
    expect(out).toMatch(/holder +pod-1\/aaaaaaaa, fence \d+, \d+\.\d s left/);
    expect(out).toContain(runId);
    expect(out).not.toContain('aaaaaaaabbbb');
  });

  it('says what the cron is for, whom to turn to and where its runbook is, if it says so itself', async () => {
    const at = await deployment();
    const said = { description: 'Sends mail.', owner: 'Team Mail', runbookUrl: 'https://wiki.example/mail' };
    await at.catalog.declare([declared('mail', '0 4 * * *', said)], { revision: 8, app: 'mails' });
    expect((await at.json('show', 'mail')).json).toMatchObject(said);
    const { out } = await at.ask('show', 'mail');
    expect(out).toMatch(/description +Sends mail\.\nowner +Team Mail\nrunbook +https:\/\/wiki\.example\/mail\n/);
    const { json } = await at.json('list', '--search', 'team m');
    expect(json).toMatchObject([{ name: 'mail', ...said }]);
    expect((await at.ask('show', 'nightly')).out).not.toMatch(/^(description|owner|runbook)/m);
  });

  it('says which names are like one that is not there', async () => {
    const { code, err } = await (await deployment()).ask('show', 'nihgtly');
    expect([code, err]).toEqual([2, expect.stringContaining('Did you mean "nightly"?')]);
  });
});

describe('fencepost runs and run', () => {
  it('lists the runs of a cron, of one state where it is asked for', async () => {
    const at = await deployment();
    const runId = await failed(at);
    const waiting = await at.claimed('nightly', Date.now() - 1_000);
    const ids = async (...args: string[]) =>
      ((await at.json('runs', 'nightly', ...args)).json as { id: string }[]).map(({ id }) => id);
    expect((await ids()).toSorted()).toEqual([runId, waiting].toSorted());
    expect(await ids('--state', 'failed')).toEqual([runId]);
    expect(await ids('--state', 'claimed')).toEqual([waiting]);
    expect(await ids('--limit', '1')).toHaveLength(1);
    expect((await seen(at, 'runs', 'calm')).out).toBe('calm has no runs.\n');
    expect((await at.ask('runs', 'nigthly')).code).toBe(2);
  });

  it('shows one run with its effects', async () => {
    const at = await deployment();
    const runId = await failed(at);
    const { code, json } = await at.json('run', runId);
    const { journal, ...report } = json as { journal: unknown[] };
    expect([code, journal]).toEqual([0, []]);
    expect(SCHEMAS.RunReport.parse(report)).toMatchObject({
      ...{
        run: { id: runId, payload: { month: 3 }, by: 'ada' },
        effects: [{ name: 'card', state: 'done', result: 7 }],
      },
    });
    expect((await seen(at, 'run', runId)).out).toMatch(/effect +card +done/);
    expect((await at.ask('run', 'nightly@1')).code).toBe(2);
  });

  it('shows the result of a run that succeeded', async () => {
    const at = await deployment();
    const runId = await ended(at, { kind: 'succeeded', result: '{"sent":3}' });
    expect((await at.json('run', runId)).json).toMatchObject({ run: { state: 'succeeded', result: { sent: 3 } } });
    expect((await seen(at, 'run', runId)).out).toContain('Result: {"sent":3}');
  });
});

describe('fencepost why', () => {
  it('answers of a time that is to come, in the zone of the cron', async () => {
    const at = await deployment();
    const tomorrow = new Date(Date.now() + 2 * DAY_MS).toISOString().slice(0, 10);
    const { code, json } = await at.json('why', 'nightly', `${tomorrow} 03:00`);
    expect(code).toBe(0);
    expect(SCHEMAS.WhyReport.parse(json)).toMatchObject({ cron: 'nightly', verdict: 'will-run' });
    const { out } = await seen(at, 'why', 'nightly', `${tomorrow} 04:00`);
    expect(out).toContain('because its schedule has no instant there');
    expect(out).toMatch(/generation +Generation 1 is in force, active/);
  });

  it.each([
    ['nightly', 'soon', 'Expected the'],
    ['nobody', 'now', 'Cron "nobody" not found'],
  ])('refuses %j at %j with a sentence', async (cron, time, sentence) => {
    const { code, err } = await (await deployment()).ask('why', cron, time);
    expect([code, err]).toEqual([2, expect.stringContaining(sentence)]);
  });
});

describe('fencepost failed and retry', () => {
  it('finds what failed, runs it again, and leaves a record of who wanted that', async () => {
    const at = await deployment();
    expect(await at.json('failed')).toMatchObject({ code: 0, json: [] });
    const runId = await failed(at);
    expect(await at.json('failed', '--cron', 'nightly')).toMatchObject({ code: 1, json: [{ id: runId }] });
    expect(await at.json('failed', '--cron', 'calm')).toMatchObject({ code: 0, json: [] });
    const again = await at.json('retry', runId, '--reason', 'paper is there', '--by', 'anna');
    expect(again).toMatchObject({ code: 0, json: { of: runId, runId: `${runId}-r1` } });
    expect(await at.ledger.readRun(`${runId}-r1`)).toMatchObject({ payload: '{"month":3}', by: 'anna' });
    const second = await at.ask('retry', `${runId}-r1`, '--reason', 'x');
    expect([second.code, second.err]).toEqual([2, expect.stringContaining('It is still open')]);
  });
});

describe('the format', () => {
  it.each([
    [true, [], 'text'],
    [true, ['--json'], 'json'],
    [false, [], 'text'],
    [false, ['--json'], 'json'],
  ])('of an answer, at a terminal %j with %j, is %s', async (terminal, flags, format) => {
    const at = await deployment();
    const { out } = await fencepost(['failed', ...flags], { env: at.env, terminal });
    expect(out).toBe(format === 'json' ? '[]\n' : 'No run has failed.\n');
  });
});
