import { afterEach, describe, expect, it } from 'vitest';
import { CRON, RUN, WorkerStage } from '../../../../test/support/worker-stage.js';

let stage: WorkerStage;
afterEach(() => expect(stage.manual.pending).toBe(0));

const LATER = { kind: 'later', waitMs: 1_000 };

describe('a delivery to a worker without a handler for its cron', () => {
  it('waits for another worker, and the ledger says why', async () => {
    stage = await WorkerStage.with();
    expect(await stage.deliver(null)).toEqual(LATER);
    expect(stage.events.of('attempt.unhandled')).toEqual([{ cron: CRON, runId: RUN }]);
    const run = await stage.memoryLedger.readRun(RUN);
    expect(run).toMatchObject({ state: 'enqueued', waiting: 'no-capable-worker', attempt: 0 });
  });

  it('is noted once, however often it comes, and the note goes with the next attempt', async () => {
    stage = await WorkerStage.with();
    for (let n = 0; n < 3; n += 1) await stage.deliver(null);
    expect(stage.ledger.calls.filter((name) => name === 'noteWaiting')).toHaveLength(1);
    await stage.deliver(() => {});
    expect(await stage.memoryLedger.readRun(RUN)).toMatchObject({ state: 'succeeded', waiting: null });
  });

  it('is carried out by the handler that its run names', async () => {
    stage = await WorkerStage.with({ handler: 'send-report', payload: '{"to":["ada"],"copies":2}' });
    let payload: unknown;
    const disposition = await stage.deliver((run) => void (payload = run.payload), { handles: 'send-report' });
    expect(disposition).toEqual({ kind: 'settled' });
    expect(payload).toEqual({ to: ['ada'], copies: 2 });
    expect(await stage.state()).toBe('succeeded');
  });

  it('waits when the handler its run names is not here either', async () => {
    stage = await WorkerStage.with({ handler: 'send-report' });
    expect(await stage.deliver(() => expect.unreachable(), { handles: 'another' })).toEqual(LATER);
    expect((await stage.memoryLedger.readRun(RUN))?.waiting).toBe('no-capable-worker');
  });

  it('is settled when its run is over, or was never recorded: nobody else may ever find out', async () => {
    stage = await WorkerStage.with();
    await stage.memoryLedger.cancel(RUN, { by: 'ada', graceMs: 0 });
    expect(await stage.deliver(null)).toEqual({ kind: 'settled' });
    await stage.memoryLedger.forgetAll([CRON], 0);
    expect(await stage.deliver(null)).toEqual({ kind: 'settled' });
    expect(stage.events.of('attempt.needless').map(({ state }) => state)).toEqual(['cancelled', 'missing']);
  });

  it.each([
    ['', null],
    [', also where there is a handler', () => {}],
  ])('is settled while its run waits for a person, whose answer brings it again%s', async (_where, handler) => {
    stage = await WorkerStage.with();
    const attempt = await stage.takenOver();
    const unresolvedEffect = { effect: 'mail', item: null, unknownReason: 'timeout', since: 0 } as const;
    await stage.memoryLedger.finish(attempt, { kind: 'uncertain', error: 'who knows', unresolvedEffect });
    expect(await stage.deliver(handler)).toEqual({ kind: 'settled' });
    expect(stage.events.of('attempt.needless')).toMatchObject([{ state: 'uncertain' }]);
  });

  it.each(['readRun', 'noteWaiting'] as const)(
    'comes again soon when the ledger can not be asked: %s',
    async (call) => {
      stage = await WorkerStage.with();
      stage.ledger.next(call, 'fail');
      expect(await stage.deliver(null)).toEqual(LATER);
      expect(stage.events.of('store.failed')).toMatchObject([{ operation: 'handler.find', runId: RUN }]);
    },
  );

  it('whose cron has one here costs no look at the run', async () => {
    stage = await WorkerStage.with({ handler: 'send-report' });
    expect(await stage.deliver(() => {})).toEqual({ kind: 'settled' });
    expect(stage.ledger.calls).not.toContain('readRun');
  });
});
