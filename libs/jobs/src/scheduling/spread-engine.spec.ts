import { afterEach, describe, expect, it } from 'vitest';
import { spreadOf } from '@fencepost/schedule';
import { CRON, SchedulerStage, START } from '../../../../test/support/scheduler-stage.js';

type Pod = ReturnType<SchedulerStage['pod']>;

const PERIOD_MS = 60_000;
const SPREAD_MS = 50_000;
const OFFSET_MS = spreadOf(CRON, SPREAD_MS);
const EVERY_MINUTE = { expression: '* * * * *', spreadMs: SPREAD_MS };

let pods: Pod[] = [];
afterEach(async () => {
  await Promise.all(pods.map(ended));
  pods = [];
});

async function started(stage: SchedulerStage, name = 'pod'): Promise<Pod> {
  const pod = stage.pod(name);
  pods.push(pod);
  await pod.start();
  await stage.clock.advance(0);
  return pod;
}

async function ended(pod: Pod): Promise<void> {
  await pod.stop();
}

function declare(stage: SchedulerStage, ...declared: Parameters<SchedulerStage['declare']>) {
  return stage.declare(...declared);
}

/** Milliseconds since the start, of every run of the cron, oldest first. */
async function timesOf(stage: SchedulerStage, cron = CRON) {
  const runs = await stage.memoryLedger.runs(cron, 100);
  return runs.toReversed().map(({ id, scheduledAt, dueAt, claimedAt }) => ({
    id,
    scheduled: scheduledAt - START,
    due: dueAt - START,
    claimed: claimedAt - START,
  }));
}

const minutes = (...which: number[]) =>
  which.map((minute) => {
    const due = minute * PERIOD_MS + OFFSET_MS;
    return { id: `${CRON}@${START + minute * PERIOD_MS}`, scheduled: minute * PERIOD_MS, due, claimed: due };
  });

describe('a cron with a spread', () => {
  it('has an offset that these tests can see', () => {
    expect(OFFSET_MS).toBeGreaterThan(2_000);
    expect(OFFSET_MS).toBeLessThan(SPREAD_MS);
  });

  it('fires at its instants plus its offset, under the ids of its instants', async () => {
    const stage = new SchedulerStage();
    await declare(stage, 1, EVERY_MINUTE);
    const { events } = await started(stage);
    await stage.clock.advance(PERIOD_MS + OFFSET_MS - 1);
    expect(await timesOf(stage)).toEqual([]);
    await stage.clock.advance(2 * PERIOD_MS);
    expect(await timesOf(stage)).toEqual(minutes(1, 2));
    expect(events.of('occurrence.claimed').map(({ lateByMs }) => lateByMs)).toEqual([0, 0]);
    expect(await stage.memoryLedger.skips(CRON, 10)).toEqual([]);
  });

  it('loses no instant to a change of its definition between the instant and its offset, and fires it once', async () => {
    const stage = new SchedulerStage();
    await declare(stage, 1, EVERY_MINUTE);
    const { catalogCache } = await started(stage);
    await stage.clock.advance(PERIOD_MS + 1_000);
    await declare(stage, 2, { ...EVERY_MINUTE, graceMs: 1_000 });
    await catalogCache.refresh();
    await stage.clock.advance(PERIOD_MS);
    await declare(stage, 3, { ...EVERY_MINUTE, graceMs: 2_000 });
    await catalogCache.refresh();
    await stage.clock.advance(PERIOD_MS - 2_000);
    expect(await timesOf(stage)).toEqual(minutes(1, 2));
    expect(await stage.memoryLedger.skips(CRON, 10)).toEqual([]);
  });

  it('has missed nothing that was due before it was declared', async () => {
    const stage = new SchedulerStage();
    await stage.clock.advance(PERIOD_MS + OFFSET_MS);
    await declare(stage, 1, EVERY_MINUTE);
    await started(stage);
    await stage.clock.advance(PERIOD_MS);
    expect(await timesOf(stage)).toEqual(minutes(2));
    expect(await stage.memoryLedger.skips(CRON, 10)).toEqual([]);
  });

  it.each(['fire-once', 'skip'] as const)(
    'loses none to a pod whose clock is ahead, which first takes what is to come for late (%s)',
    async (misfire) => {
      const stage = new SchedulerStage({ podsAheadMs: 20_000 });
      await declare(stage, 1, { ...EVERY_MINUTE, misfire, graceMs: 0 });
      await stage.clock.advance(PERIOD_MS + OFFSET_MS - 10_000);
      await started(stage);
      await stage.clock.advance(PERIOD_MS);
      const ran = (await timesOf(stage)).map(({ scheduled }) => scheduled);
      expect(ran).toContain(PERIOD_MS);
      const skipped = await stage.memoryLedger.skips(CRON, 10);
      for (const { through } of skipped) expect(through).toBeLessThan(START + PERIOD_MS);
    },
  );
});
