import { expect, it } from 'vitest';
import { SchedulerStage } from '../../../../test/support/scheduler-stage.js';

it('what its ledger has forgotten an engine makes up for within a minute, also long before the next instant', async () => {
  const stage = new SchedulerStage();
  const { engine } = stage.pod();
  engine.hold([{ ...stage.heldCron(1, stage.scheduled({ expression: '0 0 * * * *' })), known: false }]);
  engine.start();
  await stage.clock.advance(3_599_000);
  const saved = stage.memoryLedger.state.save();
  await stage.clock.advance(2_000);
  expect(await stage.ran()).toEqual([3_600]);
  stage.memoryLedger.state.restore(saved);
  expect(await stage.ran()).toEqual([]);
  await stage.clock.advance(61_000);
  expect(await stage.ran()).toEqual([3_600]);
  await engine.stop();
  expect(stage.clock.pending).toBe(0);
});
