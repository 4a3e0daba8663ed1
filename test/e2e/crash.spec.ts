import { describe, expect, it } from 'vitest';
import type { FailPoint } from '../pods/fail-point.js';
import { useDeployment } from '../support/deployment.js';

/*
 * A process that dies between two steps leaves a half behind: a claim without a job, a job without a confirmation, an
 * effect without its record. Each is killed exactly there.
 */
const deployment = useDeployment();
const STEPS = { CRONS: 'steps' };
/** Jobs that carry spans are added in a step of their own, as on a cluster and with the ledger in PostgreSQL. */
const THREE_STEPS = { FENCEPOST_TRACING: 'true' };
const ALL_ONCE = ['first', 'second', 'third'];

async function killSchedulerAt(event: string, env: Readonly<Record<string, string>> = {}) {
  const failPoint: FailPoint = { event, action: 'kill' };
  const killed = await deployment.pods.scheduler('killed-scheduler', { failPoint, env });
  await deployment.fireOnce('steps');
  expect(await killed.exited).toMatchObject({ signal: 'SIGKILL' });
  const [run] = await deployment.runsOf('steps');
  return run;
}

async function killInThreeSteps(event: string): Promise<string> {
  const run = await killSchedulerAt(event, THREE_STEPS);
  expect(run?.state).toBe('claimed');
  return run?.id ?? '';
}

describe('a scheduler that is killed around the step that claims and enqueues', () => {
  it('leaves before it an instant that the next holder claims', async () => {
    const { pods } = deployment;
    expect(await killSchedulerAt('occurrence.claiming')).toBeUndefined();
    const [next] = await Promise.all([pods.scheduler('next-scheduler'), pods.worker('worker', { env: STEPS })]);

    const run = await deployment.onlyRunOf('steps');
    expect(run).toMatchObject({ state: 'succeeded', attempt: 1, delivery: 1 });
    expect(next.eventsOf('run_redelivered')).toEqual([]);
    expect(await deployment.effectsOf(run.id)).toEqual(ALL_ONCE);
    await pods.terminateAll();
  });

  it('leaves after it a run that a worker executes at once, without any scheduler', async () => {
    const { pods } = deployment;
    const left = await killSchedulerAt('occurrence.claimed');
    expect(left).toMatchObject({ state: 'enqueued', delivery: 1 });
    const worker = await pods.worker('worker', { env: STEPS });

    const run = await deployment.onlyRunOf('steps');
    expect(run).toMatchObject({ id: left?.id, state: 'succeeded', attempt: 1, delivery: 1 });
    expect(worker.eventsOf('attempt_needless')).toEqual([]);
    expect(await deployment.effectsOf(run.id)).toEqual(ALL_ONCE);
    await pods.terminateAll();
  });
});

describe('a scheduler that is killed where these are three steps', () => {
  it('between claim and enqueue leaves a run that the next holder enqueues', async () => {
    const { pods } = deployment;
    const runId = await killInThreeSteps('occurrence.claimed');
    const [next] = await Promise.all([pods.scheduler('next-scheduler'), pods.worker('worker', { env: STEPS })]);

    const run = await deployment.onlyRunOf('steps');
    expect(run).toMatchObject({ id: runId, state: 'succeeded', attempt: 1, delivery: 2 });
    // With the first look of its term; the sweep would have found it too, seconds later.
    const [acquired, redelivered] = [await next.waitFor('lease_acquired'), await next.waitFor('run_redelivered')];
    expect(Number(redelivered['time']) - Number(acquired['time'])).toBeLessThan(1_000);
    expect(await deployment.effectsOf(runId)).toEqual(ALL_ONCE);
    expect(await deployment.stores.sink.turnedDown()).toEqual({ stale: 0, repeated: 0 });
    await pods.terminateAll();
  });

  it('between enqueue and confirm leaves a run that is delivered twice and carried out once', async () => {
    const { pods } = deployment;
    const runId = await killInThreeSteps('run.enqueued');
    await (await pods.scheduler('next-scheduler')).waitFor('run_confirmed');
    const worker = await pods.worker('worker', { env: STEPS });

    const run = await deployment.onlyRunOf('steps');
    expect(run).toMatchObject({ id: runId, state: 'succeeded', attempt: 1, delivery: 2 });
    // Two jobs in the queue, each of which reached the worker.
    await worker.waitFor('attempt_succeeded');
    await worker.waitFor('attempt_needless', ({ state }) => state === 'succeeded');
    expect(await deployment.effectsOf(runId)).toEqual(ALL_ONCE);
    expect(await deployment.stores.sink.turnedDown()).toEqual({ stale: 0, repeated: 0 });
    await pods.terminateAll();
  });
});

describe('a worker that is killed', () => {
  it.each([
    ['before an effect acted', 'effect.begun', 0],
    ['between an effect and its record', 'effect.acted', 1],
    ['after an effect was recorded', 'effect.finished', 0],
  ])('%s is followed by another one that goes on there', async (_where, event, repeated) => {
    const { pods } = deployment;
    const failPoint: FailPoint = { event, action: 'kill', where: { effect: 'second' } };
    const [killed] = await Promise.all([
      pods.worker('killed-worker', { env: STEPS, failPoint }),
      pods.scheduler('scheduler'),
    ]);
    await deployment.fireOnce('steps');
    expect(await killed.exited).toMatchObject({ signal: 'SIGKILL' });
    const next = await pods.worker('next-worker', { env: STEPS });

    const run = await deployment.onlyRunOf('steps');
    expect(run).toMatchObject({ state: 'succeeded', attempt: 2 });
    expect(run.worker).toMatch(/^next-worker\//);
    expect(await deployment.effectsOf(run.id)).toEqual(ALL_ONCE);
    expect(await deployment.stores.sink.turnedDown()).toEqual({ stale: 0, repeated });
    expect(next.eventsOf('effect_begun').map(({ effect, unknown }) => [effect, unknown])).toEqual([
      ...(event === 'effect.finished' ? [] : [['second', true]]),
      ['third', false],
    ]);
    await pods.terminateAll();
  });

  it('before its handler has begun costs the run one attempt', async () => {
    const { pods } = deployment;
    const failPoint: FailPoint = { event: 'attempt.begun', action: 'kill' };
    const killed = await pods.worker('killed-worker', { env: STEPS, failPoint });
    await pods.scheduler('scheduler');
    await deployment.fireOnce('steps');
    expect(await killed.exited).toMatchObject({ signal: 'SIGKILL' });
    await pods.worker('next-worker', { env: STEPS });

    const run = await deployment.onlyRunOf('steps');
    expect(run).toMatchObject({ state: 'succeeded', attempt: 2 });
    expect(await deployment.effectsOf(run.id)).toEqual(ALL_ONCE);
    await pods.terminateAll();
  });

  it('after the end of a run has completed its job as well: nobody delivers it again', async () => {
    const { pods } = deployment;
    const failPoint: FailPoint = { event: 'attempt.succeeded', action: 'kill' };
    const killed = await pods.worker('killed-worker', { env: STEPS, failPoint });
    await pods.scheduler('scheduler');
    await deployment.fireOnce('steps');
    expect(await killed.exited).toMatchObject({ signal: 'SIGKILL' });

    const run = await deployment.onlyRunOf('steps');
    expect(run).toMatchObject({ state: 'succeeded', attempt: 1, delivery: 1 });
    const job = await deployment.stores.queue.jobOf(run.id);
    expect(await job?.getState()).toBe('completed');
    await pods.terminateAll();
  });
});
