import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import { OperatorInputError } from '@fencepost/ledger';
import { CRON } from '../../../../test/support/audit-history.js';
import { OperatingStage } from '../../../../test/support/operating-stage.js';

const ORDER = { by: 'ada', reason: 'a test' };

/** A cron that fires each second, ten seconds old. */
async function set(over: Partial<CronDefinition> = {}) {
  const stage = new OperatingStage();
  await stage.declare(over);
  await stage.clock.advance(10_000);
  return { stage, operator: stage.operator };
}

describe('a list', () => {
  it('tells of each cron what it is, where it stands, and what comes next', async () => {
    const { stage, operator } = await set();
    await stage.ran(1, 2);
    await operator.pause(CRON, ORDER);
    expect(await operator.list()).toEqual([
      {
        name: CRON,
        expression: '* * * * * *',
        timeZone: 'UTC',
        state: 'active',
        generation: 1,
        since: stage.at(0),
        next: stage.at(11),
        paused: { since: stage.at(10), until: null, ...ORDER },
        cursor: stage.at(2),
        last: expect.objectContaining({ id: stage.idOf(2), state: 'succeeded' }),
        app: 'test',
        revision: 1,
        tags: [],
        ...{ description: null, owner: null, runbookUrl: null },
        droppedNotifications: null,
      },
    ]);
  });

  it('has the next instant of the schedule that is still in force, and of the one to come', async () => {
    const { stage, operator } = await set({ expression: '*/5 * * * * *' });
    await stage.clock.advance(3_500);
    await stage.declare({ expression: '30 * * * * *' });
    const [first] = await operator.list();
    expect(first).toMatchObject({ generation: 2, since: stage.at(15.5), next: stage.at(15) });
    await stage.clock.advance(2_000);
    expect(await operator.list()).toMatchObject([{ next: stage.at(30) }]);
  });

  it('has the next instant that is not due yet, with a spread', async () => {
    const { stage, operator } = await set({ expression: '*/10 * * * * *', spreadMs: 9_000 });
    const [overview] = await operator.list();
    expect(overview?.next).toBe(stage.at(10));
  });
});

describe('a pause', () => {
  it('is in force until it is resumed, and both leave a record, a second resume none', async () => {
    const { stage, operator } = await set();
    const pause = await operator.pause(CRON, ORDER);
    expect(pause).toEqual({ since: stage.at(10), until: null, ...ORDER });
    expect(await operator.resume(CRON, ORDER)).toEqual({ ended: pause, runId: null });
    expect(await operator.resume(CRON, ORDER)).toEqual({ ended: null, runId: null });
    const about = { ...ORDER, cron: CRON, role: 'app', from: `app ${hostname()}`, runId: null };
    expect(await stage.audit.list({ limit: 9 })).toMatchObject([
      { ...about, action: 'resume', after: { paused: null, runId: null } },
      { ...about, action: 'pause', after: { since: new Date(stage.at(10)).toISOString(), until: null, ...ORDER } },
    ]);
  });

  it('may have an end, in the future', async () => {
    const { stage, operator } = await set();
    expect(await operator.pause(CRON, { ...ORDER, until: stage.at(20) })).toMatchObject({ until: stage.at(20) });
    await expect(operator.pause(CRON, { ...ORDER, until: stage.at(10) })).rejects.toThrow(OperatorInputError);
  });
});

describe('the end of a pause', () => {
  async function paused() {
    const { stage, operator } = await set();
    await stage.ran(8);
    await operator.pause(CRON, ORDER);
    await stage.clock.advance(10_000);
    return { stage, operator };
  }

  it('runs once for all instants of the pause, when that is asked for', async () => {
    const { stage, operator } = await paused();
    for (const second of [9, 12, 19]) expect(await stage.claim(second)).toMatchObject({ reason: 'paused' });
    await stage.claim(20, {
      occurrence: null,
      skips: [{ after: stage.at(19), through: stage.at(20), reason: 'misfire' }],
    });
    const { runId } = await operator.resume(CRON, { ...ORDER, missed: 'fire-once' });
    expect(runId).toMatch(/^tick@manual-[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(await stage.ledger.readRun(runId ?? '')).toMatchObject({
      state: 'enqueued',
      reason: 'catch-up',
      by: 'ada',
      // Also the one shortly before the pause that nobody had claimed by then.
      missed: { count: 11, from: stage.at(9), to: stage.at(19) },
    });
    expect(stage.queue.taken).toMatchObject([{ runId }]);
  });

  it('is refused when nobody knows what is to become of the instants, and the pause stays', async () => {
    const { stage, operator } = await paused();
    const order = { ...ORDER, missed: 'all' as 'skip' };
    await expect(operator.resume(CRON, order)).rejects.toThrow(
      'Expected missed to be "skip" or "fire-once", got \'all\'.',
    );
    expect((await stage.ledger.readCron(CRON)).paused).not.toBeNull();
  });
});

describe('a trigger', () => {
  it('is a run of its own: recorded, enqueued, confirmed, and the pods are asked to look', async () => {
    const { stage, operator } = await set({ payload: { of: 'the definition' }, handler: 'other' });
    const reply = await operator.trigger(CRON, { by: 'ada' });
    const { runId } = reply as { runId: string };
    expect(runId).toMatch(/^tick@manual-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await stage.ledger.readRun(runId)).toMatchObject({
      state: 'enqueued',
      reason: 'manual',
      by: 'ada',
      generation: 1,
      payload: '{"of":"the definition"}',
      handler: 'other',
    });
    expect(stage.queue.taken).toEqual([{ runId, delivery: 1 }]);
    expect(await stage.asked()).toEqual([CRON]);
    expect(await stage.audit.list({ limit: 9 })).toMatchObject([{ action: 'trigger', by: 'ada', reason: null, runId }]);
    expect((await stage.ledger.readCron(CRON)).cursor).toBeNull();
  });

  it('takes the payload and the reason that it is given, null as well', async () => {
    const { stage, operator } = await set({ payload: 1, overlap: 'allow' });
    await operator.trigger(CRON, { ...ORDER, payload: [2] });
    await operator.trigger(CRON, { ...ORDER, payload: null });
    const runs = await stage.ledger.runs(CRON, 9);
    expect(new Set(runs.map(({ payload }) => payload))).toEqual(new Set(['[2]', null]));
    expect(await stage.audit.list({ limit: 1 })).toMatchObject([{ reason: 'a test' }]);
  });

  it('ignores a pause, and respects overlap unless it is forced', async () => {
    const { stage, operator } = await set();
    await operator.pause(CRON, ORDER);
    expect(await operator.trigger(CRON, ORDER)).toMatchObject({ verdict: 'claimed' });
    expect(await operator.trigger(CRON, ORDER)).toEqual({ verdict: 'skipped', reason: 'overlap' });
    expect(stage.queue.taken).toHaveLength(1);
    expect(await stage.audit.list({ limit: 9 })).toMatchObject([{ action: 'trigger' }, { action: 'pause' }]);
    expect(await operator.trigger(CRON, { ...ORDER, force: true })).toMatchObject({ verdict: 'claimed' });
  });

  it.each([
    ['enqueue', 1, [CRON]],
    ['confirm', 1, [CRON]],
    ['publishDue', 0, []],
  ])('is accepted also when %s fails: the ledger has it pending', async (word, pending, looks) => {
    const { stage } = await set();
    const broken = async () => Promise.reject(new Error('Connection is closed.'));
    const { queue, membership, ledger } = stage;
    if (word === 'confirm') ledger.confirm = broken;
    const operator = stage.operatorOf({
      queue: word === 'enqueue' ? { enqueue: broken } : queue,
      membership: word === 'publishDue' ? { publishDue: broken } : membership,
    });
    expect(await operator.trigger(CRON, ORDER)).toMatchObject({ verdict: 'claimed' });
    expect(await ledger.pending(CRON)).toHaveLength(pending);
    expect(await stage.asked()).toEqual(looks);
  });
});

describe('a cancellation', () => {
  it('ends a run that waits', async () => {
    const { stage, operator } = await set();
    const { runId } = (await operator.trigger(CRON, ORDER)) as { runId: string };
    expect(await operator.cancel(runId, ORDER)).toEqual({ verdict: 'cancelled' });
    await stage.ran(1);
    expect(await operator.cancel(stage.idOf(1), ORDER)).toEqual({ verdict: 'terminal', state: 'succeeded' });
    expect(await stage.ledger.readRun(runId)).toMatchObject({ state: 'cancelled', cancel: { by: 'ada' } });
    expect(await stage.audit.list({ limit: 1 })).toMatchObject([{ action: 'cancel', ...ORDER, cron: CRON, runId }]);
  });

  it.each([
    ['the definition', {}, 7_000],
    ['the order', { graceMs: 0 }, 0],
  ])('gives a run that runs as long as %s says', async (_, over, grace) => {
    const { stage, operator } = await set({ cancelGraceMs: 7_000 });
    await stage.claim(1);
    await stage.ledger.begin({ runId: stage.idOf(1), nonce: 'n', worker: 'w', ttlMs: 60_000, maxAttempts: 1 });
    const until = stage.at(10) + grace;
    expect(await operator.cancel(stage.idOf(1), { ...ORDER, ...over })).toEqual({ verdict: 'cancelling', until });
  });
});
