import type { Lease } from '@fencepost/lease';
import { afterEach, describe, expect, it } from 'vitest';
import { CRON, SchedulerStage, START, type StageOptions } from '../../../../test/support/scheduler-stage.js';

const at = (second: number) => START + second * 1_000;

const engines: { stage: SchedulerStage; stop: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const { stage, stop } of engines.splice(0)) {
    stage.ledger.heal();
    await stop();
    expect(stage.clock.pending).toBe(0);
  }
});

/** An engine that holds the cron, in the moment before its first look. */
function holding(options: StageOptions = {}, cron?: Parameters<SchedulerStage['scheduled']>[0]) {
  const stage = new SchedulerStage(options);
  const { engine, events } = stage.pod();
  const held = takenOver(stage, 1, cron);
  engine.hold([held]);
  engines.push({ stage, stop: () => engine.stop() });
  return { stage, engine, events, held };
}

/** A cron of which nothing is known yet. */
function takenOver(stage: SchedulerStage, fence = 1, cron?: Parameters<SchedulerStage['scheduled']>[0]) {
  return { ...stage.heldCron(fence, stage.scheduled(cron)), known: false };
}

/** Another pod claims the second instant, just before this one would. */
async function claimElsewhere(stage: SchedulerStage, { fence, nonce: term }: Lease): Promise<void> {
  const occurrence = { scheduledAt: at(2), dueAt: at(2), reason: 'schedule', missed: null } as const;
  const decision = {
    generation: 1,
    nonce: 'elsewhere',
    cursor: at(1),
    skips: [],
    occurrence,
    overlap: 'allow',
  } as const;
  const reply = await stage.memoryLedger.claim({ cron: CRON, fence, term, holder: 'elsewhere/1', ...decision });
  expect(reply).toMatchObject({ verdict: 'claimed' });
}

describe('the engine', () => {
  it('fires each instant once, at its time, with one timer', async () => {
    const { stage, events } = holding();
    await stage.clock.advance(0);
    for (let second = 1; second <= 10; second += 1) {
      expect(stage.clock.pending).toBe(1);
      await stage.clock.advance(1_000);
      expect(events.of('occurrence.claimed').at(-1)).toMatchObject({ runId: `${CRON}@${at(second)}`, lateByMs: 0 });
    }
    expect(await stage.ran()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('looks at the clock twice a minute, also when nothing is due for long: it may have been stepped', async () => {
    const { stage } = holding({}, { expression: '0 0 12 * * *' });
    await stage.clock.advance(0);
    stage.clock.jumpWall(12 * 3_600_000);
    await stage.clock.advance(30_000);
    expect(await stage.ran()).toEqual([12 * 3_600]);
  });

  it.each([
    ['claimAll', 'fail'],
    ['claimAll', 'lose-reply'],
    ['confirm', 'fail'],
    ['confirm', 'lose-reply'],
    ['readCrons', 'fail'],
    ['pending', 'fail'],
  ] as const)('loses and doubles nothing when %s happens to %s, and tries again soon', async (call, mishap) => {
    const { stage, events } = holding();
    await stage.clock.advance(1_900);
    stage.ledger.next(call, mishap, mishap);
    await stage.clock.advance(3_600);
    expect(await stage.ran()).toEqual([1, 2, 3, 4, 5]);
    const enqueued = new Set(stage.memoryQueue.taken.map(({ runId }) => runId));
    expect(enqueued.size).toBe(5);
    const troubled = call === 'claimAll' || call === 'confirm';
    expect(events.of('store.failed')).toHaveLength(troubled ? 2 : 0);
    expect(await stage.memoryLedger.pending(CRON)).toEqual([]);
  });

  it.each(['fail', 'lose-reply'] as const)('enqueues in the end what the queue did not take: %s', async (mishap) => {
    const { stage } = holding();
    await stage.clock.advance(1_900);
    stage.queue.next('enqueue', mishap, mishap);
    await stage.clock.advance(1_600);
    expect(await stage.ran()).toEqual([1, 2, 3]);
    expect(new Set(stage.memoryQueue.taken.map(({ runId }) => runId)).size).toBe(3);
    expect(await stage.memoryLedger.pending(CRON)).toEqual([]);
  });

  it('is not held up for its other crons by one whose store does not answer', async () => {
    const { stage, engine } = holding();
    await stage.clock.advance(500);
    stage.ledger.next('readCrons', 'fail', 'fail', 'fail', 'fail', 'fail', 'fail');
    engine.hold([takenOver(stage, 1, { name: 'b' })]);
    await stage.clock.advance(1_000);
    expect(await stage.ran()).toEqual([1]);
    expect(await stage.ran('b')).toEqual([]);
  });

  it('recovers what its predecessor left before it claims anything', async () => {
    const stage = new SchedulerStage();
    const predecessor = stage.pod();
    await stage.clock.advance(1_000);
    stage.queue.next('enqueue', 'fail');
    await predecessor.dispatcher.dispatch([stage.heldCron(1)]);
    const { engine } = stage.pod();
    engines.push({ stage, stop: () => engine.stop() });
    engine.hold([takenOver(stage, 2)]);
    await stage.clock.advance(1_000);
    expect(stage.memoryQueue.taken).toEqual([
      { runId: `${CRON}@${at(1)}`, delivery: 2 },
      { runId: `${CRON}@${at(2)}`, delivery: 1 },
    ]);
  });

  it('continues from the cursor that another pod has moved', async () => {
    const { stage } = holding();
    await stage.clock.advance(1_999);
    await claimElsewhere(stage, stage.lease(1).held);
    await stage.clock.advance(1_501);
    expect(await stage.ran()).toEqual([1, 2, 3]);
  });

  it('delivers at once what was claimed unseen, such as by a call of its own that came through after its timeout', async () => {
    const { stage } = holding();
    await stage.clock.advance(1_999);
    await claimElsewhere(stage, stage.lease(1).held);
    await stage.clock.advance(1);
    expect(stage.memoryQueue.taken).toEqual([
      { runId: `${CRON}@${at(1)}`, delivery: 1 },
      { runId: `${CRON}@${at(2)}`, delivery: 2 },
    ]);
  });

  it('lets a cron go whose claim is stale, and fires its others', async () => {
    const { stage, engine, events } = holding();
    engine.hold([takenOver(stage, 1, { name: 'b' })]);
    await stage.clock.advance(1_999);
    await claimElsewhere(stage, stage.lease(9).held);
    expect(engine.held(CRON)).toBeDefined();
    await stage.clock.advance(2_001);
    expect(engine.held(CRON)).toBeUndefined();
    expect(events.of('claim.stale')).toEqual([{ cron: CRON, fence: 1, accepted: 9 }]);
    expect(await stage.ran()).toEqual([1, 2]);
    expect(await stage.ran('b')).toEqual([1, 2, 3, 4]);
  });
});

describe('a stopped engine', () => {
  it('claims nothing any more, and leaves no timer', async () => {
    const { stage, engine } = holding();
    engine.start();
    await stage.clock.advance(1_500);
    await engine.stop();
    expect(stage.clock.pending).toBe(0);
    await stage.clock.advance(60_000);
    expect(await stage.ran()).toEqual([1]);
  });

  it('does not act for a lease that arrives late', async () => {
    const { stage, engine } = holding();
    await engine.stop();
    engine.hold([takenOver(stage, 2)]);
    await stage.clock.advance(1_000);
    expect(stage.clock.pending).toBe(0);
    expect(stage.ledger.calls).toEqual([]);
  });
});

describe('the sweep of the engine', () => {
  it('comes at its interval as long as something is open, and does not pile up over a slow store', async () => {
    const { stage, engine } = holding();
    let answer = () => {};
    engine.start();
    await stage.clock.advance(4_999);
    expect(stage.ledger.calls).not.toContain('overdueAll');
    stage.ledger.next('overdueAll', { heldBack: new Promise((resolve) => (answer = resolve)) });
    await stage.clock.advance(20_000);
    expect(stage.ledger.calls.filter((call) => call === 'overdueAll')).toHaveLength(1);
    answer();
    await stage.clock.advance(5_000);
    expect(stage.ledger.calls.filter((call) => call === 'overdueAll')).toHaveLength(2);
  });
});
