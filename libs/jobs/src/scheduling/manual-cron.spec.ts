import { afterEach, describe, expect, it } from 'vitest';
import { SchedulerStage, START, type StagePod } from '../../../../test/support/scheduler-stage.js';
import { Jobs } from '../enqueuing/jobs.js';

const JOB = 'send-mail';

let pod: StagePod;
afterEach(() => pod.stop());

/** A pod that holds a cron without instants, and has nothing to sweep any more. */
async function set(expression = '@manual') {
  const stage = new SchedulerStage();
  await stage.declare(1, { name: JOB, expression });
  pod = stage.pod();
  const started = pod.start();
  await stage.clock.advance(0);
  await started;
  await stage.clock.advance(11_000);
  const { memoryCatalog: catalog, memoryLedger: ledger, clock } = stage;
  const [queue, membership] = [stage.queue.port, stage.membership.port];
  return { stage, ledger, jobs: new Jobs({ catalog, ledger, clock, queue, membership }) };
}

describe('a cron that runs only when it is asked for', () => {
  it('is held by a pod, and never claims anything', async () => {
    const { stage, ledger } = await set();
    expect(pod.engine.held(JOB)).toBeDefined();
    await stage.clock.advance(86_400_000);
    expect(pod.events.of('occurrence.claiming')).toEqual([]);
    expect(await ledger.readCron(JOB)).toMatchObject({ cursor: null, fence: 0 });
    expect(pod.events.of('catalog.unreadable')).toEqual([]);
  });

  it('fires from the moment it gets a schedule, and makes up for nothing before', async () => {
    const { stage, ledger } = await set();
    await stage.clock.advance(60_000);
    await stage.declare(2, { name: JOB, expression: '* * * * * *' });
    const since = stage.clock.now();
    await stage.clock.advance(10_000);
    const instants = (await ledger.runs(JOB, 100)).map(({ scheduledAt }) => scheduledAt);
    expect(instants.length).toBeGreaterThan(3);
    expect(Math.min(...instants)).toBeGreaterThan(since);
  });

  it('fires no more from the moment it loses its schedule', async () => {
    const { stage, ledger } = await set('* * * * * *');
    await stage.declare(2, { name: JOB, expression: '@manual' });
    await stage.clock.advance(10_000);
    const before = await ledger.runs(JOB, 100);
    expect(before.length).toBeGreaterThan(0);
    await stage.clock.advance(60_000);
    expect(await ledger.runs(JOB, 100)).toHaveLength(before.length);
    expect((before[0]?.scheduledAt ?? 0) - START).toBeLessThan(20_000);
  });
});
