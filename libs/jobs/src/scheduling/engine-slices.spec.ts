import { afterEach, describe, expect, it, vi } from 'vitest';
import { SchedulerStage, START } from '../../../../test/support/scheduler-stage.js';
import { LATE_MS, SLICE } from './due-slices.js';

const at = (second: number) => START + second * 1_000;
const YEARLY = '0 0 1 6 *';

const open: { stage: SchedulerStage; stop: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const { stage, stop } of open.splice(0)) {
    await stop();
    expect(stage.clock.pending).toBe(0);
  }
});

/** An engine that holds so many crons that fire in the first second, and others. */
function burst(count: number, others: Readonly<Record<string, string>> = {}) {
  const stage = new SchedulerStage();
  const { engine, events } = stage.pod();
  open.push({ stage, stop: () => engine.stop() });
  const named = Array.from({ length: count }, (_, n) => [`cron-${n}`, '1 * * * * *'] as const);
  const entries = [...named, ...Object.entries(others)].map(([name, expression]) => ({ name, expression }));
  engine.hold(entries.map((over) => ({ ...stage.heldCron(1, stage.scheduled(over)), known: true })));
  const calls = (what: string) => [...stage.ledger.calls, ...stage.queue.calls].filter((call) => call === what).length;
  return { stage, engine, events, calls };
}

/** Each claim of the ledger takes this long from now on; how many crons each was about. */
function slowLedger({ memoryLedger, clock }: SchedulerStage, tookMs: number): number[] {
  const real = memoryLedger.claimAll.bind(memoryLedger);
  const sizes: number[] = [];
  vi.spyOn(memoryLedger, 'claimAll').mockImplementation(async (requests) => {
    sizes.push(requests.length);
    await new Promise<void>((resolve) => clock.after(tookMs, resolve));
    return real(requests);
  });
  return sizes;
}

describe('the engine, of many crons that are due at one instant', () => {
  it('claims, enqueues and confirms a slice of them in one call each', async () => {
    const { stage, calls } = burst(SLICE);
    await stage.clock.advance(1_000);
    for (const call of ['claimAll', 'enqueue', 'confirm']) expect(calls(call), call).toBe(1);
    expect(stage.memoryQueue.taken).toHaveLength(SLICE);
  });

  it('says with them that its pod lives, whose timers are late now', async () => {
    const stage = new SchedulerStage();
    await stage.declare(1, {});
    const pod = stage.pod();
    open.push({ stage, stop: () => pod.stop() });
    await pod.start();
    // With an instant each second its own timer asks for replies.
    await stage.clock.advance(3_000);
    expect(stage.membership.calls).toContain('beat');
  });

  it('has at most two slices in progress, however many there are, and loses none', async () => {
    const { stage, engine } = burst(10 * SLICE + 1);
    await stage.clock.advance(500);
    const sizes = slowLedger(stage, 40);
    await stage.clock.advance(500 + 39);
    expect(sizes).toEqual([SLICE, SLICE]);
    expect(engine.behind()).toEqual({ lateMs: 39, crons: 10 * SLICE + 1 });
    await stage.clock.advance(400);
    expect(sizes).toEqual([...Array.from({ length: 10 }, () => SLICE), 1]);
    expect(new Set(stage.memoryQueue.taken.map(({ runId }) => runId)).size).toBe(10 * SLICE + 1);
    expect(engine.behind()).toEqual({ lateMs: 0, crons: 0 });
  });

  it('has enqueued and confirmed the first slice while the next is being claimed', async () => {
    const { stage, calls } = burst(SLICE + 1);
    await stage.clock.advance(500);
    const real = stage.memoryLedger.claimAll.bind(stage.memoryLedger);
    let answer = () => {};
    const late: typeof real = async (requests) =>
      new Promise<void>((resolve) => (answer = resolve)).then(() => real(requests));
    vi.spyOn(stage.memoryLedger, 'claimAll').mockImplementationOnce(real).mockImplementationOnce(late);
    await stage.clock.advance(510);
    expect(calls('confirm')).toBe(1);
    expect(stage.memoryQueue.taken).toHaveLength(SLICE);
    answer();
    await stage.clock.advance(1);
    expect(stage.memoryQueue.taken).toHaveLength(SLICE + 1);
  });

  it.each(['enqueue', 'confirm', 'claimAll'] as const)('tries only the slice again whose %s failed', async (step) => {
    const { stage, calls } = burst(2 * SLICE + 1);
    await stage.clock.advance(500);
    const store = step === 'enqueue' ? stage.queue : stage.ledger;
    (store as typeof stage.ledger).next(step as 'confirm', { heldBack: Promise.resolve() }, 'fail');
    await stage.clock.advance(510);
    const done = new Set(stage.memoryQueue.taken.map(({ runId }) => runId));
    expect(done.size).toBe(step === 'confirm' ? 2 * SLICE + 1 : SLICE + 1);
    await stage.clock.advance(1_000);
    const ran = new Set(stage.memoryQueue.taken.map(({ runId }) => runId));
    expect(ran.size).toBe(2 * SLICE + 1);
    expect(calls('claimAll')).toBe(step === 'claimAll' ? 4 : 3);
  });

  it('claims the instants of others on time while the burst drains', async () => {
    const seconds = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`other-${n}`, `${n + 2} * * * * *`]));
    const { stage, events } = burst(5_000, seconds);
    await stage.clock.advance(500);
    slowLedger(stage, 500);
    await stage.clock.advance(40_000);
    const late = events.of('occurrence.claimed').filter(({ cron }) => cron.startsWith('other-'));
    expect(late).toHaveLength(30);
    expect(Math.max(...late.map(({ lateByMs }) => lateByMs))).toBeLessThanOrEqual(LATE_MS + 500);
    expect(events.of('occurrence.claimed')).toHaveLength(5_030);
  });

  it('lets the instants of others pass also when a slice takes longer than they may wait', async () => {
    const { stage, events } = burst(3_000, { other: '5 * * * * *' });
    await stage.clock.advance(500);
    slowLedger(stage, 3_000);
    await stage.clock.advance(40_000);
    expect(events.of('occurrence.claimed').filter(({ cron }) => cron === 'other')).toMatchObject([{ lateByMs: 5_000 }]);
    expect(events.of('occurrence.claimed')).toHaveLength(3_001);
  });

  it('claims a cron of every second first, as it would lose the seconds that the burst takes', async () => {
    const { stage, events } = burst(20 * SLICE, { 'each-second': '* * * * * *' });
    await stage.clock.advance(500);
    slowLedger(stage, 200);
    await stage.clock.advance(4_000);
    const late = events.of('occurrence.claimed').filter(({ cron }) => cron === 'each-second');
    expect(late.length).toBeGreaterThanOrEqual(3);
    expect(Math.max(...late.map(({ lateByMs }) => lateByMs))).toBeLessThanOrEqual(LATE_MS + 200);
  });

  it('claims in the order of the due times', async () => {
    const { stage, events } = burst(2 * SLICE, { later: '2 * * * * *' });
    await stage.clock.advance(500);
    stage.clock.jumpWall(2_000);
    await stage.clock.advance(30_000);
    expect(events.of('occurrence.claimed').at(-1)).toMatchObject({ runId: `later@${at(2)}` });
  });
});

describe('crons of new terms', () => {
  it('are loaded a few at a time, and delay no instant of the others', async () => {
    const { stage, engine, events } = burst(1, { other: '* * * * * *' });
    await stage.clock.advance(500);
    const real = stage.memoryLedger.readCrons.bind(stage.memoryLedger);
    const sizes: number[] = [];
    vi.spyOn(stage.memoryLedger, 'readCrons').mockImplementation(async (crons) => {
      sizes.push(crons.length);
      await new Promise<void>((resolve) => stage.clock.after(400, resolve));
      return real(crons);
    });
    const taken = Array.from({ length: 6 * SLICE }, (_, n) =>
      stage.scheduled({ name: `taken-${n}`, expression: YEARLY }),
    );
    engine.hold(taken.map((entry) => ({ ...stage.heldCron(1, entry), known: false })));
    await stage.clock.advance(100);
    expect(sizes).toEqual([SLICE, SLICE]);
    await stage.clock.advance(2_400);
    expect(sizes).toEqual(Array.from({ length: 6 }, () => SLICE));
    const lateness = events
      .of('occurrence.claimed')
      .filter(({ cron }) => cron === 'other')
      .map(({ lateByMs }) => lateByMs);
    expect(lateness).toEqual([0, 0, 0]);
    expect(engine.behind().lateMs).toBe(0);
  });
});
