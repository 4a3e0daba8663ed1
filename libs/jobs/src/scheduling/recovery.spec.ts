import { describe, expect, it, vi } from 'vitest';
import { CRON, SchedulerStage, START } from '../../../../test/support/scheduler-stage.js';
import { Recovery } from './recovery.js';

const TIMING = { recoverMs: 5_000, sweepMs: 30_000 };
const RUN = `${CRON}@${START + 1_000}`;

/** One occurrence, claimed; `confirmed` unless the queue or the ledger is made to fail. */
async function claimed(fail?: 'enqueue' | 'confirm') {
  const stage = new SchedulerStage({ timing: TIMING });
  const pod = stage.pod();
  await stage.clock.advance(1_000);
  if (fail === 'enqueue') stage.queue.next('enqueue', 'fail');
  if (fail === 'confirm') stage.ledger.next('confirm', 'fail');
  await pod.dispatcher.dispatch([stage.heldCron()]);
  return { stage, pod, recovery: pod.recovery, events: pod.events, ledger: stage.memoryLedger };
}

function begin({ ledger }: Awaited<ReturnType<typeof claimed>>, ttlMs: number) {
  return ledger.begin({ runId: RUN, nonce: 'n', worker: 'worker/1', ttlMs, maxAttempts: 3 });
}

function keeping({ stage, pod }: Awaited<ReturnType<typeof claimed>>, keepRuns: number): Recovery {
  const { dispatcher, telemetry } = pod;
  const [ledger, queue] = [stage.ledger.port, stage.queue.port];
  return new Recovery({ ledger, queue, dispatcher, telemetry, lookAgainMs: 10_000, keepRuns });
}

/** Idle crons with a surplus, and how many runs each call forgets; one that has no answer is rejected. */
function forgets({ memoryLedger }: SchedulerStage, counts: Record<string, number[]>) {
  vi.spyOn(memoryLedger, 'overdueAll').mockImplementation(async (crons) =>
    crons.map(() => ({ status: 'fulfilled', value: { runs: [], watched: 0, surplus: true, notifications: 0 } })),
  );
  return vi.spyOn(memoryLedger, 'forgetAll').mockImplementation(async (crons) =>
    crons.map((cron) => {
      const value = counts[cron]?.shift();
      return value === undefined
        ? { status: 'rejected', reason: new Error('Connection is closed.') }
        : { status: 'fulfilled', value };
    }),
  );
}

describe('a new holder', () => {
  it('enqueues what its predecessor claimed and never enqueued', async () => {
    const { stage, recovery, events, ledger } = await claimed('enqueue');
    expect(stage.memoryQueue.taken).toEqual([]);
    await recovery.recoverPending(CRON);
    expect(stage.memoryQueue.taken).toEqual([{ runId: RUN, delivery: 2 }]);
    expect(events.of('run.redelivered')).toEqual([{ cron: CRON, runId: RUN, delivery: 2, was: 'claimed' }]);
    expect(await ledger.readRun(RUN)).toMatchObject({ state: 'enqueued' });
    expect(await ledger.pending(CRON)).toEqual([]);
  });

  it('delivers once more what its predecessor enqueued and never confirmed', async () => {
    const { stage, recovery } = await claimed('confirm');
    await recovery.recoverPending(CRON);
    expect(stage.memoryQueue.taken.map(({ delivery }) => delivery)).toEqual([1, 2]);
  });
});

describe('the sweep', () => {
  it('leaves a run alone that still waits in the queue', async () => {
    const { stage, recovery, events } = await claimed();
    await stage.clock.advance(TIMING.sweepMs);
    await recovery.sweep([CRON]);
    expect(events.of('run.redelivered')).toEqual([]);
    expect(stage.queue.calls).toContain('holds');
  });

  it('delivers a run again that a wiped queue has forgotten', async () => {
    const { stage, recovery, events } = await claimed();
    stage.memoryQueue.wipe();
    await stage.clock.advance(TIMING.sweepMs - 1);
    await recovery.sweep([CRON]);
    expect(stage.memoryQueue.taken).toHaveLength(1);
    await stage.clock.advance(1);
    await recovery.sweep([CRON]);
    expect(stage.memoryQueue.taken.map(({ delivery }) => delivery)).toEqual([1, 2]);
    expect(events.of('run.redelivered')).toMatchObject([{ was: 'enqueued' }]);
  });

  it('hands a run whose worker is gone to another one, whatever the queue thinks of its job', async () => {
    const set = await claimed();
    await begin(set, 10_000);
    await set.stage.clock.advance(10_000);
    await set.recovery.sweep([CRON]);
    expect(set.events.of('run.redelivered')).toMatchObject([{ runId: RUN, delivery: 2, was: 'running' }]);
    expect(await set.ledger.readRun(RUN)).toMatchObject({ state: 'orphaned' });
  });

  it('forgets the oldest finished runs beyond those that are kept, and asks for it only where there are such', async () => {
    const set = await claimed();
    const begun = await begin(set, 10_000);
    if (begun.verdict !== 'begun') throw new Error('Expected the run to begin.');
    await set.ledger.finish({ runId: RUN, fence: begun.fence, nonce: 'n' }, { kind: 'succeeded' });
    const asked = set.stage.ledger.calls.length;
    await keeping(set, 1).sweep([CRON, 'other']);
    expect(set.stage.ledger.calls.slice(asked)).toEqual(['overdueAll']);
    await keeping(set, 0).sweep([CRON, 'other']);
    expect(set.stage.ledger.calls.slice(asked)).toEqual(['overdueAll', 'overdueAll', 'forgetAll']);
    expect(await set.ledger.readRun(RUN)).toBeNull();
  });

  it('forgets the runs of all crons in one call, and goes on with those that have more than one call deletes', async () => {
    const { stage, pod } = await claimed();
    const forgetAll = forgets(stage, { a: [500, 500, 3], b: [0], c: [100, 99] });
    await pod.recovery.sweep(['a', 'b', 'c']);
    expect(forgetAll.mock.calls.map(([crons]) => crons)).toEqual([['a', 'b', 'c'], ['a', 'c'], ['a']]);
  });

  it('leaves the rest of a long backlog to a look that follows at once', async () => {
    const { stage, pod } = await claimed();
    const forgetAll = forgets(stage, { a: Array.from({ length: 200 }, () => 500), b: [30] });
    await pod.recovery.sweep(['a', 'b']);
    expect(forgetAll).toHaveBeenCalledTimes(100);
    expect(pod.recovery.takeSurplus()).toEqual(
      new Map([
        ['b', 0.1],
        ['a', Infinity],
      ]),
    );
  });

  it('sweeps a cron again whose runs could not be forgotten, and forgets those of the others', async () => {
    const { stage, pod, events } = await claimed();
    const forgetAll = forgets(stage, { a: [500, 1], broken: [], c: [1] });
    expect(await pod.recovery.sweep(['a', 'broken', 'c'])).toEqual(['a', 'c']);
    expect(forgetAll.mock.calls.map(([crons]) => crons)).toEqual([['a', 'broken', 'c'], ['a']]);
    expect(events.of('store.failed')).toMatchObject([{ operation: 'cron.sweep', cron: 'broken' }]);
    forgetAll.mockRejectedValueOnce(new Error('Connection is closed.'));
    expect(await pod.recovery.sweep(['a', 'c'])).toEqual([]);
  });

  it('answers which crons have no open run', async () => {
    const { recovery } = await claimed();
    expect(await recovery.sweep(['first', CRON, 'last'])).toEqual(['first', 'last']);
  });

  it('hands on the notifications that wait, and goes on sweeping their cron until they do not', async () => {
    const { stage, pod, ledger } = await claimed();
    const drained: string[] = [];
    const { dispatcher, telemetry } = pod;
    const notifier = { drain: (cron: string) => void drained.push(cron) };
    const ports = { ledger: stage.ledger.port, queue: stage.queue.port, dispatcher, telemetry, notifier };
    const recovery = new Recovery({ ...ports, lookAgainMs: 10_000, keepRuns: 10 });
    const begun = await ledger.begin({
      runId: RUN,
      nonce: 'n',
      worker: 'w',
      ttlMs: 9,
      maxAttempts: 3,
      notify: 'failed',
    });
    if (begun.verdict !== 'begun') throw new Error('Expected it to begin.');
    await ledger.finish({ runId: RUN, nonce: 'n', fence: begun.fence }, { kind: 'failed', error: 'x' });
    expect(await recovery.sweep([CRON, 'other'])).toEqual(['other']);
    expect(drained).toEqual([CRON]);
    const [note] = await ledger.notifications(CRON, 1);
    await ledger.settleNotifications(CRON, [note?.receipt ?? '']);
    expect(await recovery.sweep([CRON])).toEqual([CRON]);
    expect(drained).toEqual([CRON]);
  });

  it('counts a cron that could not be swept among those that may have open runs, and goes on with the others', async () => {
    const set = await claimed();
    set.stage.memoryQueue.wipe();
    await set.stage.clock.advance(TIMING.sweepMs);
    const real = set.ledger.overdueAll.bind(set.ledger);
    vi.spyOn(set.ledger, 'overdueAll').mockImplementationOnce(async ([, ...others], options) => [
      { status: 'rejected', reason: new Error('Connection is closed.') },
      ...(await real(others, options)),
    ]);
    expect(await set.recovery.sweep(['broken', CRON, 'last'])).toEqual(['last']);
    expect(set.events.of('store.failed')).toMatchObject([{ operation: 'cron.sweep', cron: 'broken' }]);
    expect(set.events.of('run.redelivered')).toMatchObject([{ runId: RUN }]);
  });
});
