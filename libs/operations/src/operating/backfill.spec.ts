import { describe, expect, it } from 'vitest';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import { CRON, entryOf, generationsOf, SECOND, START, type Change } from '../../../../test/support/audit-history.js';
import { OperatingStage } from '../../../../test/support/operating-stage.js';
import type { BackfillOrder } from './cron-operator.js';
import { planBackfill } from './plan-backfill.js';

const ORDER = { by: 'ada', reason: 'a test' };

/** A cron that fires each second, and may overlap. */
async function set(over: Partial<CronDefinition> = { overlap: 'allow' }) {
  const stage = new OperatingStage();
  await stage.declare(over);
  await stage.clock.advance(1_000_000);
  const backfill = (from: number, to: number, more: Partial<BackfillOrder> = {}) =>
    stage.operator.backfill(CRON, { ...ORDER, from: stage.at(from), to: stage.at(to), ...more });
  return { stage, backfill };
}

/** Instants of which each kind is there once: ran, waits, overlapped, written off, and still ahead. */
async function mixed() {
  const { stage, backfill } = await set({ overlap: 'skip', payload: { n: 1 }, handler: 'other' });
  await stage.ran(1);
  await stage.claim(2);
  expect(await stage.claim(3)).toMatchObject({ reason: 'overlap' });
  await stage.execute(stage.idOf(2));
  await stage.writeOff(3, 5);
  await stage.claim(6);
  return { stage, backfill };
}

describe('a backfill', () => {
  it('runs what was written off, leaves alone what ran, and tells of both', async () => {
    const { stage, backfill } = await mixed();
    expect(await backfill(1, 9)).toEqual({
      cron: CRON,
      dryRun: false,
      instants: 8,
      accepted: 3,
      left: { succeeded: 2, claimed: 1, ahead: 2 },
      runIds: [`${stage.idOf(3)}-r1`, stage.idOf(4), stage.idOf(5)],
      aborted: false,
      nextFrom: null,
      open: [`${stage.idOf(3)}-r1`, stage.idOf(4), stage.idOf(5)],
      estimateMs: null,
    });
    expect(await stage.ledger.readRun(stage.idOf(4))).toMatchObject({
      state: 'enqueued',
      reason: 'backfill',
      scheduledAt: stage.at(4),
      by: 'ada',
      payload: '{"n":1}',
      handler: 'other',
      generation: 1,
    });
    expect((await stage.ledger.readCron(CRON)).cursor).toBe(stage.at(6));
  });

  it('in parts does what one does: each waits for the runs of the part before, and records what it did', async () => {
    const { stage, backfill } = await set({ overlap: 'skip' });
    const part = async (from: number, more: Partial<BackfillOrder> = {}) => {
      const running = backfill(from, 0, { forMs: 1_000, ...more });
      await stage.clock.advance(1_000);
      return running;
    };
    const first = await part(-100);
    expect(first).toMatchObject({ instants: 100, accepted: 50, aborted: true, nextFrom: stage.at(-50) });
    expect(first.open).toHaveLength(50);
    const waited = await part(-50, { open: [...first.open, 'other@manual-1'] });
    expect(waited).toMatchObject({ accepted: 0, aborted: true, nextFrom: stage.at(-50), open: first.open });
    for (const runId of first.open.slice(0, 30)) await stage.execute(runId);
    const second = await part(-50, { open: waited.open });
    expect(second).toMatchObject({ instants: 50, accepted: 50, aborted: false, nextFrom: null });
    expect(second.open).toEqual([...first.open.slice(30), ...second.runIds]);
    expect((await stage.audit.list({ limit: 9 })).map(({ action }) => action)).toEqual(['backfill', 'backfill']);
  });

  it('runs instants from before the cron was made, also when it has never fired', async () => {
    const { stage, backfill } = await set();
    expect(await backfill(-3, 3, { dryRun: true })).toMatchObject({ accepted: 4, left: { ahead: 2 } });
    expect(await backfill(-3, 3)).toMatchObject({ accepted: 4, left: { ahead: 2 } });
    await stage.claim(1, { overlap: 'allow' });
    expect(await backfill(-4, 2)).toMatchObject({ accepted: 1, left: { claimed: 1, enqueued: 4 } });
  });

  it('leaves alone what the ledger has forgotten: it may have run', async () => {
    const { stage, backfill } = await set();
    await stage.ran(1, 2, 3);
    await stage.ledger.forgetAll([CRON], 1);
    expect(await backfill(1, 4)).toMatchObject({ accepted: 0, left: { forgotten: 2, succeeded: 1 } });
  });

  it('would do without a dry run what the dry run says, and a dry run writes nothing', async () => {
    const { stage, backfill } = await mixed();
    await stage.ledger.forgetAll([CRON], 3);
    const seen = async () => [
      await stage.ledger.runs(CRON, 99),
      await stage.audit.list({ limit: 99 }),
      stage.queue.taken,
    ];
    const before = structuredClone(await seen());
    const preview = await backfill(-3, 12, { dryRun: true });
    expect(await seen()).toEqual(before);
    expect(await stage.asked()).toEqual([]);
    expect(preview).toMatchObject({ dryRun: true, left: { ahead: 5, claimed: 1, forgotten: 1, succeeded: 1 } });
    expect(await backfill(-3, 12)).toMatchObject({
      ...preview,
      estimateMs: null,
      dryRun: false,
      open: expect.any(Array) as [],
    });
  });

  it('ends before the next batch when it is told to, and goes on when it is asked again', async () => {
    const { stage, backfill } = await set();
    await stage.writeOff(0, 120);
    const stopping = new AbortController();
    const operator = stage.operatorOf({
      queue: { enqueue: async (deliveries) => stage.queue.enqueue(deliveries).finally(() => stopping.abort()) },
    });
    const order = { ...ORDER, from: stage.at(1), to: stage.at(121), signal: stopping.signal };
    expect(await operator.backfill(CRON, order)).toMatchObject({
      instants: 120,
      accepted: 50,
      left: {},
      aborted: true,
    });
    expect(await backfill(1, 121)).toMatchObject({ accepted: 70, left: { enqueued: 50 }, aborted: false });
    expect(await backfill(1, 121, { signal: AbortSignal.abort() })).toMatchObject({
      accepted: 0,
      left: {},
      aborted: true,
    });
  });

  it('delivers what was accepted when the ledger fails in the middle, and says so', async () => {
    const { stage, backfill } = await set();
    await stage.writeOff(0, 60);
    const trigger = stage.ledger.trigger.bind(stage.ledger);
    let calls = 0;
    stage.ledger.trigger = async (request) => {
      if ((calls += 1) === 7) throw new Error('Connection is closed.');
      return trigger(request);
    };
    await expect(backfill(1, 61)).rejects.toThrow('Connection is closed.');
    expect(stage.queue.taken).toHaveLength(49);
    expect(await backfill(1, 61)).toMatchObject({ accepted: 11, left: { enqueued: 49 } });
  });

  it('stands in line where runs may not overlap, and has no more of them there than it has to', async () => {
    const { stage, backfill } = await set({ overlap: 'skip' });
    await stage.writeOff(0, 200);
    const done = backfill(1, 201);
    let most = 0;
    for (let disposition = 0; disposition < 200;) {
      await stage.clock.advance(500);
      const waiting = (await stage.ledger.runs(CRON, 999)).filter(({ state }) => state === 'enqueued');
      most = Math.max(most, waiting.length);
      const oldest = waiting.toReversed().slice(0, 40);
      for (const { id } of oldest) await stage.execute(id);
      disposition += oldest.length;
    }
    expect(await done).toMatchObject({ accepted: 200, left: {} });
    expect(most).toBeLessThanOrEqual(70);
    expect(stage.clock.pending).toBe(0);
  });

  it('of nothing is refused, and so is one that ends before it begins', async () => {
    const { backfill } = await set();
    await expect(backfill(5, 5)).rejects.toThrow('Expected from to be before "to"');
    await expect(backfill(5, 4, { dryRun: true })).rejects.toThrow('Expected from to be before "to"');
    await expect(backfill(0.0001, 4)).rejects.toThrow('whole epoch milliseconds');
  });
});

const at = (second: number) => START + second * SECOND;

/** The seconds of the instants, and whose they are. */
function plan(changes: readonly Change[], from: number, to: number): [number, number][] {
  const planned = planBackfill(entryOf(generationsOf(...changes)), at(from), at(to));
  return planned.map(({ scheduledAt, generation }) => [(scheduledAt - START) / SECOND, generation.generation]);
}

describe('the instants of a backfill', () => {
  it('are those of the generation that each belongs to, the instant of a change being the older one’s', () => {
    const changes = [{ since: START }, { since: at(4), expression: '*/3 * * * * *' }];
    expect(plan(changes, 2, 10)).toEqual([
      [2, 1],
      [3, 1],
      [4, 1],
      [6, 2],
      [9, 2],
    ]);
  });

  it('are those of the oldest schedule before the cron was there', () => {
    const changes = [{ since: START, expression: '*/5 * * * * *' }, { since: at(6) }];
    expect(plan(changes, -11, 8)).toEqual([
      [-10, 1],
      [-5, 1],
      [0, 1],
      [5, 1],
      [7, 2],
    ]);
  });

  it('are a hundred thousand at the most: of more it says where to begin', () => {
    expect(plan([{ since: START }], 0, 100_000)).toHaveLength(100_000);
    expect(() => plan([{ since: START }], 0, 100_001)).toThrow(
      'Expected at most 100000 instants of the cron "tick" in one backfill, got more: start with the range before ' +
        '2026-03-03T11:46:40.000Z.',
    );
  });
});
