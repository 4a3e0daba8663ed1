import { afterEach, describe, expect, it } from 'vitest';
import { CRON, SchedulerStage, type StagePod } from '../support/scheduler-stage.js';

const MINUTE_MS = 60_000;
const pods: StagePod[] = [];
afterEach(async () => {
  await Promise.all(pods.splice(0).map((pod) => pod.stop()));
});

async function started(stage: SchedulerStage, name?: string): Promise<StagePod> {
  const pod = stage.pod(name);
  pods.push(pod);
  await pod.start();
  return pod;
}

const causes = ({ events }: StagePod) => events.of('cron.standstill').map(({ cause }) => cause);
const daily = { name: 'daily', expression: '0 0 3 * * *' };

describe('a scheduler pod', () => {
  it('A0 says within a minute that the store of the leases fails, for the crons with an instant since alone', async () => {
    const stage = new SchedulerStage();
    await stage.declare(1, { name: CRON }, daily);
    const pod = await started(stage);
    await stage.clock.advance(10_000);
    expect(causes(pod)).toEqual([]);
    stage.leases.down();
    await stage.clock.advance(9_000 + MINUTE_MS);
    expect(pod.events.of('cron.standstill')).toMatchObject([{ cron: CRON, cause: 'lease-store-down' }]);
    expect(pod.pod.standstills.found[0]?.text).toMatch(/^No run since 2030-01-01T00:00:\d\dZ: the lease store /);
    stage.leases.heal();
    await stage.clock.advance(30_000);
    expect(pod.events.of('cron.resumed')).toMatchObject([{ cron: CRON, cause: 'lease-store-down' }]);
    expect(pod.pod.standstills.found).toEqual([]);
  });

  it('A0 says it of a cron of the day at its instant, although no pod has held it for hours', async () => {
    const stage = new SchedulerStage();
    await stage.declare(1, daily);
    const pod = await started(stage);
    await stage.clock.advance(10_000);
    stage.leases.down();
    await stage.clock.advance(3 * 3_600_000 - 10_000);
    expect(causes(pod)).toEqual([]);
    await stage.clock.advance(MINUTE_MS);
    expect(causes(pod)).toEqual(['lease-store-down']);
  });

  it('A0 says that the ledger refuses every claim', async () => {
    const stage = new SchedulerStage();
    await stage.declare(1, { name: CRON });
    const pod = await started(stage);
    await stage.clock.advance(10_000);
    stage.ledger.down();
    await stage.clock.advance(MINUTE_MS + 5_000);
    expect(causes(pod)).toEqual(['ledger-fails']);
    stage.ledger.heal();
    await stage.clock.advance(30_000);
    expect(pod.events.of('cron.resumed')).toHaveLength(1);
  });

  it('A0 says who paused a cron, and that its run waits for a worker', async () => {
    const stage = new SchedulerStage({ work: () => new Promise(() => {}) });
    await stage.declare(1, { name: CRON, overlap: 'skip' }, { name: 'paused' });
    const pod = await started(stage);
    await stage.memoryLedger.pause('paused', { until: null, by: 'ada', reason: 'a deploy' });
    await stage.clock.advance(MINUTE_MS + 5_000);
    const told = pod.events.of('cron.standstill').map(({ cron, cause }) => [cron, cause] as const);
    expect(new Map(told)).toEqual(
      new Map([
        [CRON, 'workers-busy'],
        ['paused', 'paused'],
      ]),
    );
    const texts = pod.pod.standstills.found.map(({ text }) => text).join('\n');
    expect(texts).toContain(': a deploy.');
    expect(texts).toContain(`Run ${CRON}@`);
  });

  it('A0 asks the ledger nothing for crons that fire or are idle', async () => {
    const stage = new SchedulerStage();
    await stage.declare(
      1,
      { name: CRON },
      ...Array.from({ length: 500 }, (_, n) => ({ ...daily, name: `daily-${n}` })),
    );
    const pod = await started(stage);
    await stage.clock.advance(30_000);
    stage.ledger.calls.length = 0;
    await pod.pod.standstills.look();
    expect(stage.ledger.calls).toEqual([]);
    expect(causes(pod)).toEqual([]);
  });
});

describe("a store's clock", () => {
  it('A3 that goes back is told of with the crons that wait for it, and forgotten once it has caught up', async () => {
    const stage = new SchedulerStage();
    await stage.declare(1, { name: CRON }, daily);
    const pod = await started(stage);
    await stage.clock.advance(10_000);
    stage.clock.jumpWall(-3 * MINUTE_MS);
    stage.podsAheadMs = 3 * MINUTE_MS;
    await stage.clock.advance(MINUTE_MS);
    expect(pod.events.of('cron.standstill')).toMatchObject([{ cron: CRON, cause: 'store-clock-back' }]);
    expect(pod.pod.standstills.found[0]?.text).toMatch(/still 12\d s behind|still 2 min behind/);
    await stage.clock.advance(3 * MINUTE_MS);
    expect(pod.events.of('cron.resumed')).toHaveLength(1);
  });

  it('A3 that went back before a pod started is known by the cursors of its crons', async () => {
    const stage = new SchedulerStage();
    await stage.declare(1, { name: CRON });
    const first = await started(stage);
    await stage.clock.advance(10 * MINUTE_MS);
    await first.stop();
    stage.clock.jumpWall(-5 * MINUTE_MS);
    const pod = await started(stage, 'second');
    await stage.clock.advance(MINUTE_MS + 5_000);
    expect(causes(pod)).toEqual(['store-clock-back']);
  });
});
