import { describe, expect, it } from 'vitest';
import { CRON, SchedulerStage, START } from '../../../../test/support/scheduler-stage.js';

const at = (second: number) => START + second * 1_000;

describe('the engine in an outage', () => {
  it('accounts for every instant when the outage ends', async () => {
    const stage = new SchedulerStage();
    const { engine } = stage.pod();
    engine.hold([stage.heldCron(1, stage.scheduled({ catchUpWindowMs: 3_600_000 }))]);
    await stage.clock.advance(2_500);
    stage.ledger.down();
    await stage.clock.advance(6_000);
    stage.ledger.heal();
    await stage.clock.advance(1_000);
    expect(await stage.ran()).toEqual([1, 2, 8, 9]);
    expect(await stage.memoryLedger.skips(CRON, 10)).toEqual([{ after: at(2), through: at(7), reason: 'merged' }]);
    await engine.stop();
  });

  it('gives a cron up that it can claim and never enqueue, for another pod to try, without a flood of deliveries', async () => {
    const stage = new SchedulerStage();
    const { engine } = stage.pod();
    engine.hold([stage.heldCron()]);
    stage.queue.down();
    await stage.clock.advance(7_000);
    expect(engine.held(CRON)).toBeDefined();
    await stage.clock.advance(5_000);
    expect(engine.held(CRON)).toBeUndefined();
    expect(stage.clock.pending).toBe(0);
    const { delivery } = (await stage.memoryLedger.runs(CRON, 10)).at(-1) ?? { delivery: 0 };
    expect(delivery).toBeGreaterThan(1);
    expect(delivery).toBeLessThanOrEqual(10);
  });
});
