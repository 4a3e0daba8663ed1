import { afterEach, describe, expect, it } from 'vitest';
import { CRON, SchedulerStage } from '../support/scheduler-stage.js';

const BACKLOG = 1_050;

const stops: (() => Promise<void>)[] = [];

describe('a backlog of lost deliveries', () => {
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  it('comes back within one sweep, in slices, while another cron fires on time', async () => {
    const stage = new SchedulerStage({ timing: { recoverMs: 1, sweepMs: 1 } });
    const { engine, dispatcher, events } = stage.pod();
    const held = stage.heldCron();
    for (let n = 0; n < BACKLOG; n += 1) {
      await stage.clock.advance(1_000);
      await dispatcher.dispatch([held]);
    }
    stage.memoryQueue.wipe();
    const other = {
      ...stage.heldCron(1, stage.scheduled({ name: 'other' }, { since: stage.clock.now() })),
      known: false,
    };
    engine.hold([{ ...held, known: true, over: false }, other]);
    engine.start();
    stops.push(() => engine.stop());
    await stage.clock.advance(5_000);
    await stage.clock.advance(2_000);
    const again = events.of('run.redelivered').filter(({ cron }) => cron === CRON);
    expect(new Set(again.map(({ runId }) => runId)).size).toBeGreaterThanOrEqual(BACKLOG);
    const late = events.of('occurrence.claimed').filter(({ cron }) => cron === 'other');
    expect(late.length).toBeGreaterThanOrEqual(6);
    expect(Math.max(...late.map(({ lateByMs }) => lateByMs))).toBe(0);
  });
});
