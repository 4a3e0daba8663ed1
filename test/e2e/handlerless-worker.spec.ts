import { describe, expect, it } from 'vitest';
import { useDeployment } from '../support/deployment.js';

describe('a worker without the handler of a cron', () => {
  const deployment = useDeployment();

  it('leaves its run to the one that has it', async () => {
    const { pods } = deployment;
    const [other] = await Promise.all([
      pods.worker('other-worker', { env: { CRONS: 'tick', TICK_EXPRESSION: '0 0 1 1 *' } }),
      pods.scheduler('scheduler'),
    ]);
    await deployment.fireOnce('steps');
    // Alone with it, so that it is offered the run for certain.
    await other.waitFor('attempt_unhandled');
    const able = await pods.worker('able-worker', { env: { CRONS: 'steps' } });

    const run = await deployment.onlyRunOf('steps');
    expect(run).toMatchObject({ state: 'succeeded', attempt: 1 });
    expect(run.worker).toMatch(/^able-worker\//);
    expect(await deployment.effectsOf(run.id)).toEqual(['first', 'second', 'third']);
    await able.waitFor('attempt_succeeded');
    expect(other.eventsOf('attempt_begun')).toEqual([]);
    await pods.terminateAll();
  });
});
