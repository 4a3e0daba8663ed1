import { afterEach, describe, expect, it } from 'vitest';
import { CRON, SchedulerStage, type StagePod } from '../../../../test/support/scheduler-stage.js';

const HOUR_MS = 3_600_000;
const DAILY = { expression: '0 12 * * *' };
const NOON_MS = 12 * HOUR_MS;

const pods: { stage: SchedulerStage; pod: StagePod }[] = [];
afterEach(async () => {
  for (const { stage, pod } of pods.splice(0)) {
    await pod.engine.stop();
    expect(stage.clock.pending).toBe(0);
  }
});

/** A pod that holds a cron which is due once a day, at noon, and has looked at it. */
async function holding(random = 0) {
  const stage = new SchedulerStage({ random: () => random });
  const pod = stage.pod();
  pods.push({ stage, pod });
  pod.engine.hold([{ ...stage.heldCron(1, stage.scheduled(DAILY)), known: false }]);
  await stage.clock.advance(0);
  return { stage, pod };
}

/** The crons that another pod sees as overdue, so long after noon. */
async function overdueAfterNoon({ stage }: { stage: SchedulerStage }, pastMs: number) {
  await stage.clock.advance(NOON_MS + pastMs - (stage.clock.now() % (24 * HOUR_MS)));
  return (await stage.membership.port.heartbeat('watch')).overdue.map(({ cron }) => cron);
}

describe('the due time of a cron that fires once a day', () => {
  it('is not published while it is far off', async () => {
    const { stage } = await holding();
    expect(stage.membership.calls).not.toContain('publishDue');
    await stage.clock.advance(NOON_MS - 2 * HOUR_MS - 1);
    expect(stage.membership.calls).not.toContain('publishDue');
  });

  it.each([0, 0.5, 0.999])('is known to the others an hour before, if its holder dies then (%d)', async (random) => {
    const { stage, pod } = await holding(random);
    await stage.clock.advance(NOON_MS - HOUR_MS);
    pod.crash();
    expect(await overdueAfterNoon({ stage }, 1_000)).toEqual([CRON]);
  });

  it('is published at another time for each cron: all may be due at one instant', async () => {
    const publishedAt = async (random: number) => {
      const { stage } = await holding(random);
      while (!stage.membership.calls.includes('publishDue')) await stage.clock.advance(60_000);
      return stage.clock.now();
    };
    const [late, early] = [await publishedAt(0), await publishedAt(0.999)];
    expect(late - early).toBeGreaterThan(HOUR_MS - 120_000);
  });

  it('is taken back once it has been claimed: the next one is far off again', async () => {
    const held = await holding();
    expect(await overdueAfterNoon(held, 1_000)).toEqual([]);
    expect(await held.stage.ran()).toEqual([NOON_MS / 1_000]);
    await held.stage.clock.advance(20 * HOUR_MS);
    expect((await held.stage.membership.port.heartbeat('watch')).overdue).toEqual([]);
  });

  it('is taken back where a former holder left an outdated one', async () => {
    const { stage, pod } = await holding();
    await stage.membership.port.publishDue(new Map([[CRON, stage.clock.now() - 1_000]]));
    pod.engine.publishDueAgain(CRON);
    await stage.clock.advance(0);
    expect((await stage.membership.port.heartbeat('watch')).overdue).toEqual([]);
  });

  it('is taken back where somebody asked to look at the cron again', async () => {
    const { stage, pod } = await holding();
    await stage.membership.port.publishDue(new Map([[CRON, 0]]));
    pod.engine.recheck(CRON);
    await stage.clock.advance(0);
    expect((await stage.membership.port.heartbeat('watch')).overdue).toEqual([]);
  });
});
