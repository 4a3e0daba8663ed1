import { expect, it, vi } from 'vitest';
import { SchedulerStage } from '../../../../test/support/scheduler-stage.js';
import { fallenBehind } from './load-state.js';

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

it('a few of the idle crons are compared, and all of them when one of those was forgotten', async () => {
  const stage = new SchedulerStage();
  const { recovery, telemetry, ledger } = stage.pod();
  const held = Array.from({ length: 100 }, (_, n) => ({ ...stage.heldCron(), known: true, cursor: n }));
  const compared: number[] = [];
  let forgotten = false;
  vi.spyOn(stage.memoryLedger, 'readCrons').mockImplementation(async (crons) => {
    compared.push(crons.length);
    const record = await stage.memoryLedger.readCron('any');
    return crons.map(() => ({ ...record, cursor: forgotten ? null : 1_000 }));
  });
  const since = 10_000_000;
  expect(await fallenBehind(held, since, { ledger, recovery, telemetry })).toEqual([]);
  forgotten = true;
  expect(await fallenBehind(held, since, { ledger, recovery, telemetry })).toHaveLength(100);
  expect(compared).toEqual([16, 16, 100]);
});
