import { describe, expect, it } from 'vitest';
import { CRON, SchedulerStage, START } from '../../../../test/support/scheduler-stage.js';
import { accountedUntil } from './held-cron.js';

const at = (second: number) => START + second * 1_000;
const idOf = (second: number) => `${CRON}@${at(second)}`;

/** A cron in its first second, and a dispatcher that has it. */
async function set(options: ConstructorParameters<typeof SchedulerStage>[0] = {}) {
  const stage = new SchedulerStage(options);
  const pod = stage.pod();
  const held = stage.heldCron();
  await stage.clock.advance(1_000);
  return { stage, pod, held };
}

describe('the dispatcher', () => {
  it('claims what is due, then enqueues it, then confirms it', async () => {
    const { stage, pod, held } = await set();
    expect(await pod.dispatcher.dispatch([held])).toEqual([{ lookAt: at(2) }]);
    expect(pod.events.names).toEqual(['occurrence.claiming', 'occurrence.claimed', 'run.enqueued', 'run.confirmed']);
    expect(stage.ledger.calls).toEqual(['claim', 'confirm']);
    expect(stage.memoryQueue.taken).toEqual([{ runId: idOf(1), delivery: 1 }]);
    expect(await stage.memoryLedger.readRun(idOf(1))).toMatchObject({ state: 'enqueued', claimedBy: 'pod/1' });
    expect(held.cursor).toBe(at(1));
  });

  it('claims for many crons and enqueues them in one bulk', async () => {
    const { stage, pod, held } = await set();
    const other = stage.heldCron(1, stage.scheduled({ name: 'other' }));
    await pod.dispatcher.dispatch([held, other]);
    expect(stage.queue.calls).toEqual(['enqueue']);
    expect(stage.memoryQueue.taken).toHaveLength(2);
  });

  it('asks nothing while nothing is due, and says when to look again', async () => {
    const { stage, pod, held } = await set();
    await pod.dispatcher.dispatch([held]);
    stage.ledger.calls.length = 0;
    expect(await pod.dispatcher.dispatch([held])).toEqual([{ lookAt: at(2) }]);
    expect(stage.ledger.calls).toEqual([]);
  });

  it('makes up for nothing before its generation', async () => {
    const { stage, pod } = await set();
    const held = stage.heldCron(1, stage.scheduled({}, { since: at(1) }));
    expect(accountedUntil(held)).toBe(at(1));
    await stage.clock.advance(1_000);
    await pod.dispatcher.dispatch([held]);
    expect(await stage.ran()).toEqual([2]);
    expect(await stage.memoryLedger.skips(CRON, 10)).toEqual([]);
  });

  it('records and tells what went by without running', async () => {
    const { stage, pod, held } = await set();
    await stage.clock.advance(4_500);
    expect(await pod.dispatcher.dispatch([held])).toEqual([{ lookAt: at(6) }]);
    const passed = { after: START, through: at(4), reason: 'misfire' };
    expect(pod.events.of('occurrence.passed')).toEqual([{ cron: CRON, ...passed }]);
    expect(await stage.memoryLedger.skips(CRON, 10)).toEqual([passed]);
  });

  it('records skips alone when nothing is left to run', async () => {
    const { stage, pod } = await set();
    const skipping = stage.scheduled({ misfire: 'skip', graceMs: 0 });
    const held = stage.heldCron(1, skipping);
    await stage.clock.advance(500);
    expect(await pod.dispatcher.dispatch([held])).toEqual([{ lookAt: at(2) }]);
    expect(stage.memoryQueue.taken).toEqual([]);
    expect((await stage.memoryLedger.readCron(CRON)).cursor).toBe(at(1));
  });

  it('enqueues nothing for an occurrence that overlaps its predecessor', async () => {
    const { stage, pod } = await set();
    const held = stage.heldCron(1, stage.scheduled({ overlap: 'skip' }));
    await pod.dispatcher.dispatch([held]);
    await stage.clock.advance(1_000);
    expect(await pod.dispatcher.dispatch([held])).toEqual([{ lookAt: at(3) }]);
    expect(pod.events.of('occurrence.skipped')).toEqual([{ cron: CRON, scheduledAt: at(2), reason: 'overlap' }]);
    expect(stage.memoryQueue.taken).toHaveLength(1);
  });

  it('stops acting for a cron whose claim is refused', async () => {
    const { stage, pod, held } = await set();
    await pod.dispatcher.dispatch([stage.heldCron(7)]);
    await stage.clock.advance(1_000);
    expect(await pod.dispatcher.dispatch([{ ...held, cursor: at(1) }])).toEqual([{ stale: true }]);
    expect(pod.events.of('claim.stale')).toEqual([{ cron: CRON, fence: 1, accepted: 7 }]);
  });

  it('stops acting for a definition that is not the accepted one any more', async () => {
    const { stage, pod } = await set();
    await pod.dispatcher.dispatch([stage.heldCron(1, stage.scheduled({}, { generation: 2 }))]);
    await stage.clock.advance(1_000);
    expect(await pod.dispatcher.dispatch([{ ...stage.heldCron(2), cursor: at(1) }])).toEqual([{ stale: true }]);
    expect(pod.events.of('claim.outdated')).toEqual([{ cron: CRON, generation: 1, accepted: 2 }]);
  });

  it('does not even ask once the lease is gone', async () => {
    const { stage, pod, held } = await set();
    const dispatched = await pod.dispatcher.dispatch([
      { ...held, lease: { ...held.lease, signal: AbortSignal.abort() } },
    ]);
    expect(dispatched).toEqual([{ stale: true }]);
    expect(stage.ledger.calls).toEqual([]);
  });

  it('plans again from where somebody else has moved the cursor', async () => {
    const { stage, pod, held } = await set();
    await pod.dispatcher.dispatch([stage.heldCron(1)]);
    await stage.clock.advance(1_000);
    expect(await pod.dispatcher.dispatch([held])).toEqual([{ lookAt: at(2) }]);
    expect(held.cursor).toBe(at(1));
    expect(await pod.dispatcher.dispatch([held])).toEqual([{ lookAt: at(3) }]);
    expect(await stage.ran()).toEqual([1, 2]);
  });

  it('leaves a cron to its own trouble: the others that are due are claimed and enqueued', async () => {
    const { stage, pod, held } = await set();
    const other = stage.heldCron(1, stage.scheduled({ name: 'other' }));
    stage.ledger.next('claim', 'fail');
    expect(await pod.dispatcher.dispatch([held, other])).toEqual([{ failed: true }, { lookAt: at(2) }]);
    expect(stage.memoryQueue.taken).toEqual([{ runId: `other@${at(1)}`, delivery: 1 }]);
    expect(pod.events.of('store.trouble')).toEqual([
      { doing: `claim of ${CRON}`, error: expect.stringContaining('claim did not') },
    ]);
  });

  it.each([
    ['the queue', 'enqueue'],
    ['the confirmation', 'confirm'],
  ])('counts what was claimed as failed when %s does not answer, and what was not as it is', async (_what, step) => {
    const { stage, pod, held } = await set();
    const overlapping = stage.scheduled({ name: 'other', overlap: 'skip' });
    const other = stage.heldCron(1, overlapping);
    await pod.dispatcher.dispatch([other]);
    await stage.clock.advance(1_000);
    if (step === 'enqueue') stage.queue.next('enqueue', 'fail');
    else stage.ledger.next('confirm', 'fail');
    expect(await pod.dispatcher.dispatch([held, other])).toEqual([{ failed: true }, { lookAt: at(3) }]);
    expect(await stage.memoryLedger.pending(CRON)).toEqual([{ runId: idOf(2), delivery: 1 }]);
  });
});

describe('a pod whose clock is ahead of the store', () => {
  it.each([50, 1_500, 3_600_000])('by %i ms fires at the instants of the store', async (podsAheadMs) => {
    const stage = new SchedulerStage({ podsAheadMs });
    const pod = stage.pod();
    const held = stage.heldCron();
    void pod.engine.hold({ entry: held.entry, schedule: held.schedule }, stage.lease(1).held);
    await stage.clock.advance(5_500);
    await pod.engine.stop();
    expect(await stage.ran()).toEqual([1, 2, 3, 4, 5]);
    expect(await stage.memoryLedger.skips(CRON, 10)).toEqual([]);
  });

  it('is trusted again when it has been set right', async () => {
    const stage = new SchedulerStage({ podsAheadMs: 10_000 });
    const pod = stage.pod();
    const held = stage.heldCron();
    void pod.engine.hold({ entry: held.entry, schedule: held.schedule }, stage.lease(1).held);
    await stage.clock.advance(3_500);
    stage.podsAheadMs = 0;
    await stage.clock.advance(40_000);
    const claimed = pod.events.of('occurrence.claimed').length;
    await stage.clock.advance(3_000);
    await pod.engine.stop();
    const latest = pod.events.of('occurrence.claimed').slice(claimed);
    expect(latest.map(({ lateByMs }) => lateByMs)).toEqual([0, 0, 0]);
  });
});
