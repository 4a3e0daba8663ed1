import { describe, expect, it } from 'vitest';
import { useDeployment } from '../support/deployment.js';

describe('a worker without the handler of a cron', () => {
  const deployment = useDeployment();

  it('leaves its run to the one that has it', async () => {
    const { pods } = deployment;
    const [other, scheduler] = await Promise.all([
      pods.worker('other-worker', { env: { CRONS: 'tick', TICK_EXPRESSION: '0 0 1 1 *' } }),
      pods.scheduler('scheduler'),
    ]);
    await deployment.fireOnce('steps');
    await scheduler.waitFor('run_unrouted');
    const able = await pods.worker('able-worker', { env: { CRONS: 'steps' } });

    const run = await deployment.onlyRunOf('steps');
    expect(run).toMatchObject({ state: 'succeeded', attempt: 1 });
    expect(run.worker).toMatch(/^able-worker\//);
    expect(await deployment.effectsOf(run.id)).toEqual(['first', 'second', 'third']);
    await able.waitFor('attempt_succeeded');
    for (const event of ['attempt_begun', 'attempt_unhandled']) expect(other.eventsOf(event)).toEqual([]);
    await pods.terminateAll();
  });
});
