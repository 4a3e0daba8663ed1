import { Queue } from 'bullmq';
import { describe, expect, it } from 'vitest';
import type { TurnedDown } from '@fencepost/lease/sinks';
import type { FailPoint } from '../pods/fail-point.js';
import { useDeployment } from '../support/deployment.js';
import type { Pod } from '../support/pod.js';
import { until } from '../support/until.js';

/*
 * What this project exists for. A worker stops in the middle of a run, for longer than its lease: a garbage collection, a
 * host that swaps, a paused virtual machine. Another worker takes the run over. Then the first one wakes up, with no idea
 * that time has passed, and goes on exactly where it was.
 *
 * The run has three effects on one sink. Each test freezes the first worker at another point.
 */
// The scheduler lives through all of it, so its lease may be long.
const deployment = useDeployment({ FENCEPOST_LEASE_TTL: '3s', FENCEPOST_RUN_LEASE: '2s' });
const STEPS = { CRONS: 'steps' };
const NOTHING: TurnedDown = { stale: 0, repeated: 0 };
const ALL_ONCE = ['first', 'second', 'third'];

/** A scheduler, a run, and a worker that stands still in the middle of it. */
async function freezeFirstWorker(failPoint: Omit<FailPoint, 'action'>): Promise<Pod> {
  const { pods } = deployment;
  const [frozen] = await Promise.all([
    pods.worker('first-worker', { env: STEPS, failPoint: { ...failPoint, action: 'freeze' } }),
    pods.scheduler('scheduler'),
  ]);
  await deployment.fireOnce('steps');
  await frozen.waitFor('fail_point');
  return frozen;
}

/** Where the handler stops and waits, in every worker, until `openGate`. */
function closeGate(step: string): Promise<unknown> {
  return deployment.stores.redis.sadd(`${deployment.prefix}:closed-gates`, step);
}

function openGate(step: string): Promise<unknown> {
  return deployment.stores.redis.srem(`${deployment.prefix}:closed-gates`, step);
}

/**
 * How the story has to end, whatever the first worker tried: the second one's success stands, each effect happened once.
 * @param turnedDown what the sink saw and did not take
 */
async function expectTheSecondWorkersWord(turnedDown: TurnedDown): Promise<void> {
  const run = await deployment.onlyRunOf('steps');
  expect(run).toMatchObject({ state: 'succeeded', attempt: 2, error: null });
  expect(run.worker).toMatch(/^second-worker\//);
  expect(await deployment.effectsOf(run.id)).toEqual(ALL_ONCE);
  expect(await deployment.stores.sink.turnedDown()).toEqual(turnedDown);
  await deployment.pods.terminateAll();
  expect(await deployment.onlyRunOf('steps')).toEqual(run);
}

describe('a worker that is frozen past its run lease, and wakes up when another one has finished the run', () => {
  it('begins none of the effects that were left, and its finish is refused', async () => {
    const first = await freezeFirstWorker({ event: 'effect.finished', where: { effect: 'first' } });
    const second = await deployment.pods.worker('second-worker', { env: STEPS });
    await second.waitFor('attempt_succeeded');
    const { refusals } = await deployment.stores.ledger.readCron('steps');

    first.thaw();
    await first.waitFor('attempt_refused', ({ step }) => step === 'finish');
    expect(first.eventsOf('effect_begun').map(({ effect }) => effect)).toEqual(['first']);
    expect((await deployment.stores.ledger.readCron('steps')).refusals).toBeGreaterThan(refusals);
    await expectTheSecondWorkersWord(NOTHING);
  });

  it('is refused by the ledger when it is past every check of its own', async () => {
    const first = await freezeFirstWorker({ event: 'effect.beginning', where: { effect: 'second' } });
    const second = await deployment.pods.worker('second-worker', { env: STEPS });
    await second.waitFor('attempt_succeeded');
    const { refusals } = await deployment.stores.ledger.readCron('steps');

    first.thaw();
    await first.waitFor('attempt_refused', ({ step }) => step === 'effect');
    expect((await deployment.stores.ledger.readCron('steps')).refusals).toBeGreaterThan(refusals);
    expect(first.eventsOf('effect_begun').map(({ effect }) => effect)).toEqual(['first']);
    await expectTheSecondWorkersWord(NOTHING);
  });

  it('reports its last effect too late to change anything, and its finish is refused', async () => {
    const first = await freezeFirstWorker({ event: 'effect.acted', where: { effect: 'third' } });
    const second = await deployment.pods.worker('second-worker', { env: STEPS });
    await second.waitFor('attempt_succeeded');

    first.thaw();
    await first.waitFor('attempt_refused', ({ step }) => step === 'finish');
    expect(first.eventsOf('attempt_succeeded')).toEqual([]);
    // Nobody could know that the third had happened; the sink knew it by its key.
    await expectTheSecondWorkersWord({ stale: 0, repeated: 1 });
  });
});

describe('a worker that is frozen past its run lease, and wakes up while another one is at the run', () => {
  it('is refused by the sink when the ledger had allowed the effect before', async () => {
    const first = await freezeFirstWorker({ event: 'steps.inside', where: { effect: 'second' } });
    await closeGate('second');
    const second = await deployment.pods.worker('second-worker', { env: STEPS });
    await second.waitFor('effect_known', ({ effect }) => effect === 'first');
    expect(await deployment.stores.sink.turnedDown()).toEqual({ stale: 0, repeated: 0 });

    first.thaw();
    await first.waitFor('attempt_refused');
    await expect.poll(() => deployment.stores.sink.turnedDown()).toEqual({ stale: 1, repeated: 0 });
    expect(first.eventsOf('effect_acted').map(({ effect }) => effect)).toEqual(['first']);
    await openGate('second');
    await expectTheSecondWorkersWord({ stale: 1, repeated: 0 });
  });

  it('has its late "done" kept as a fact, so that the other one does not repeat the effect', async () => {
    const first = await freezeFirstWorker({ event: 'effect.acted', where: { effect: 'third' } });
    await closeGate('third');
    const second = await deployment.pods.worker('second-worker', { env: STEPS });
    await second.waitFor('effect_known', ({ effect }) => effect === 'second');

    first.thaw();
    await first.waitFor('effect_late', ({ effect }) => effect === 'third');
    await openGate('third');
    await second.waitFor('effect_known', ({ effect }) => effect === 'third');
    await expectTheSecondWorkersWord(NOTHING);
  });
});

describe('the same with plain BullMQ', () => {
  it('carries the effects out twice: what is above is not for nothing', async () => {
    const { pods, prefix, stores } = deployment;
    const queue = new Queue('plain', { connection: stores.redis, prefix: `{${prefix}}` });
    const failPoint: FailPoint = { event: 'effect.finished', action: 'freeze', where: { effect: 'first' } };
    const first = await pods.plainBullmq('first-worker', { failPoint });
    const job = await queue.add('steps', {});
    await first.waitFor('fail_point');
    const second = await pods.plainBullmq('second-worker');
    await second.waitFor('handler_returned');
    await until('the job is completed', () => job.isCompleted());

    first.thaw();
    await first.waitFor('handler_returned');
    const effects = await stores.redis.lrange(`${prefix}:plain-sink`, 0, -1);
    expect(effects).toEqual(['first', ...ALL_ONCE, 'second', 'third']);
    await queue.close();
    await pods.terminateAll();
  });
});
