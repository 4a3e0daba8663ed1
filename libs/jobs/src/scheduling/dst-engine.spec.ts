import { expect, it } from 'vitest';
import { CRON, SchedulerStage } from '../../../../test/support/scheduler-stage.js';
import { checkCron } from '../nest/cron-declaration.js';

/** Just before the clocks of New York change, and for as long as both copies of the repeated hour last. */
const [GAP, REPEAT] = [Date.UTC(2030, 2, 10, 6, 50), Date.UTC(2030, 10, 3, 5, 20)];
const WATCHED_MS = 80 * 60_000;

/** What a pod fires that reads the cron from the catalog, as a worker has declared it: UTC. */
async function fired(from: number, expression: string, dst: object): Promise<string[]> {
  const stage = new SchedulerStage();
  stage.clock.jumpWall(from - stage.clock.now());
  const options = { name: CRON, timeZone: 'America/New_York', ...dst };
  const { declaration } = checkCron('Jobs.nightly', { expression, options }, from);
  await stage.catalog.port.declare([declaration], { app: 'test', revision: 1 });
  const pod = stage.pod();
  await pod.start();
  await stage.clock.advance(WATCHED_MS);
  await pod.stop();
  const runs = await stage.memoryLedger.runs(CRON, 10);
  return runs.toReversed().map(({ scheduledAt }) => new Date(scheduledAt).toISOString().slice(11, 16));
}

it.each<[object, string[]]>([
  [{}, ['07:00']],
  [{ dst: { gap: 'next-valid' } }, ['07:00']],
  [{ dst: { gap: 'skip' } }, []],
  [{ dst: { gap: 'shift' } }, ['07:30']],
])('a fixed time that the clocks leave out is fired as %j says', async (dst, instants) => {
  expect(await fired(GAP, '30 2 * * *', dst)).toEqual(instants);
});

it.each<[object, string[]]>([
  [{}, ['05:30']],
  [{ dst: { repeat: 'first' } }, ['05:30']],
  [{ dst: { repeat: 'last' } }, ['06:30']],
  [{ dst: { repeat: 'both' } }, ['05:30', '06:30']],
])('a fixed time that comes twice is fired as %j says', async (dst, instants) => {
  expect(await fired(REPEAT, '30 1 * * *', dst)).toEqual(instants);
});
