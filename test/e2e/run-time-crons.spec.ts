import { describe, expect, it } from 'vitest';
import { onlyAt, useDeployment } from '../support/deployment.js';
import { until } from '../support/until.js';

const ECHO = { env: { CRONS: 'echo' } };
const NONE = { env: { CRONS: '' } };
/** A run that nobody could take is asked again only after seconds. */
const LONG = { timeout: 180_000 };
const BY = { by: 'the test' };

const deployment = useDeployment();

async function echoed(runId: string): Promise<unknown> {
  return JSON.parse((await deployment.stores.sink.read(runId)) ?? 'null') as unknown;
}

describe('a cron that is made at run time', () => {
  it('is carried out in another process, by the method of a cron that stands in code', async () => {
    const { pods, stores } = deployment;
    await Promise.all([pods.worker('worker', ECHO), pods.scheduler('scheduler')]);
    const { expression, instant } = onlyAt(Date.now() + 1_000);
    const entry = await stores.crons.set('greet', { expression, handler: 'echo', payload: { said: 'hello' } }, BY);
    expect(entry).toMatchObject({ app: null, generation: 1, by: 'the test' });

    const run = await deployment.onlyRunOf('greet');
    expect(run).toMatchObject({ id: `greet@${instant}`, state: 'succeeded', attempt: 1, handler: 'echo' });
    expect(await echoed(run.id)).toEqual({ cron: 'greet', reason: 'schedule', payload: { said: 'hello' } });
    await pods.terminateAll();
  });

  it('waits for a worker that has the method, says so, and no longer says so when one came', LONG, async () => {
    const { pods, stores } = deployment;
    const [unable, scheduler] = await Promise.all([pods.worker('unable', NONE), pods.scheduler('scheduler')]);
    const { expression, instant } = onlyAt(Date.now() + 1_000);
    await stores.crons.set('greet', { expression, handler: 'echo' }, BY);
    const runId = `greet@${instant}`;
    await until('it is noted why the run waits', async () => {
      return (await stores.ledger.readRun(runId))?.waiting === 'no-capable-worker';
    });
    await scheduler.waitFor('run_unrouted', (line) => line['runId'] === runId);

    await pods.worker('able', ECHO);
    const run = await deployment.onlyRunOf('greet');
    expect(run).toMatchObject({ id: runId, state: 'succeeded', attempt: 1, waiting: null });
    expect(run.worker).toMatch(/^able\//);
    expect(unable.eventsOf('attempt_begun')).toEqual([]);
    await pods.terminateAll();
  });
});

describe('a run that somebody triggers', () => {
  it('from a worker without its method runs in the one that has it, also without any scheduler', async () => {
    const { pods, stores } = deployment;
    const [asked] = await Promise.all([pods.worker('asked', NONE), pods.worker('able', ECHO)]);
    const reply = await asked.post('operate/trigger/echo', { by: 'a page', payload: { said: 'now' } });
    expect(reply).toMatchObject({ verdict: 'claimed', runId: expect.stringMatching(/^echo@manual-/) });

    const run = await deployment.onlyRunOf('echo');
    expect(run).toMatchObject({ state: 'succeeded', reason: 'manual', by: 'a page' });
    expect(run.worker).toMatch(/^able\//);
    expect(await echoed(run.id)).toEqual({ cron: 'echo', reason: 'manual', payload: { said: 'now' } });
    expect((await stores.ledger.readCron('echo')).cursor).toBeNull();
    await pods.terminateAll();
  });
});
