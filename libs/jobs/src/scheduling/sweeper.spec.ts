import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { CRON, SchedulerStage } from '../../../../test/support/scheduler-stage.js';
import { Recovery } from './recovery.js';
import { Sweeper } from './sweeper.js';

const EVERY_MS = 5_000;
const OWNER = { compare: async () => {} };

/** Watching so many crons, one of which has an open run; `asked` are those that each call was about. */
async function watching(count: number) {
  const stage = new SchedulerStage();
  const pod = stage.pod();
  const sweeper = new Sweeper({ recovery: pod.recovery, clock: stage.clock, sweepEveryMs: EVERY_MS, owner: OWNER });
  await stage.clock.advance(1_000);
  await pod.dispatcher.dispatch([stage.heldCron()]);
  const crons = [CRON, ...Array.from({ length: count - 1 }, (_, n) => `cron-${n}`)];
  for (const cron of crons) sweeper.watch(cron);
  const overdueAll = vi.spyOn(stage.memoryLedger, 'overdueAll');
  sweeper.start();
  return { stage, sweeper, crons, events: pod.events, asked: () => overdueAll.mock.calls.map(([names]) => names) };
}

/** The next call is on its way until it is released. */
function holdBack(stage: SchedulerStage): () => void {
  let release = () => {};
  stage.ledger.next('overdueAll', { heldBack: new Promise((resolve) => (release = resolve)) });
  return () => release();
}

describe('the sweeper', () => {
  it('asks about two hundred crons in one call, and one call after the other', async () => {
    const { stage, crons, asked } = await watching(401);
    const release = holdBack(stage);
    await stage.clock.advance(EVERY_MS);
    expect(asked()).toHaveLength(1);
    release();
    await stage.clock.advance(0);
    expect(asked()).toEqual([crons.slice(0, 200), crons.slice(200, 400), crons.slice(400)]);
  });

  it('asks again only about crons that have open runs', async () => {
    const { stage, asked } = await watching(3);
    await stage.clock.advance(2 * EVERY_MS);
    expect(asked()).toEqual([[CRON, 'cron-0', 'cron-1'], [CRON]]);
  });

  it('asks once in a dozen sweeps which idle crons have runs: somebody may have made one and told nobody', async () => {
    const { stage, sweeper, asked } = await watching(4);
    await stage.clock.advance(EVERY_MS);
    sweeper.leave('cron-1');
    await openRun(stage, 'cron-0');
    await openRun(stage, 'cron-1');
    await stage.clock.advance(11 * EVERY_MS);
    const [first, ...later] = asked();
    expect(first).toEqual([CRON, 'cron-0', 'cron-1', 'cron-2']);
    expect(later.slice(0, -1)).toEqual(Array.from({ length: 10 }, () => [CRON]));
    expect(later.at(-1)).toContain('cron-0');
    expect(later.at(-1)).not.toContain('cron-1');
  });

  it('asks in the next round which of the crons that it got have runs, and about no others of them', async () => {
    const { stage, sweeper, asked } = await watching(1);
    await stage.clock.advance(EVERY_MS);
    await openRun(stage, 'run-by-hand');
    for (const cron of ['run-by-hand', 'never-claimed']) sweeper.add(cron);
    await stage.clock.advance(EVERY_MS);
    expect(asked().at(-1)).toEqual([CRON, 'run-by-hand']);
  });

  it('asks about ten thousand new crons a round: a pod that boots has other things to do', async () => {
    const { stage, sweeper } = await watching(1);
    const withOpenRuns = vi.spyOn(stage.memoryLedger, 'withOpenRuns');
    for (let n = 0; n < 10_003; n += 1) sweeper.add(`new-${n}`);
    sweeper.leave('new-0');
    await stage.clock.advance(3 * EVERY_MS);
    const asked = withOpenRuns.mock.calls.map(([crons]) => crons);
    expect(asked.map((crons) => crons.length)).toEqual([9_999, 3]);
    expect(new Set(asked.flat()).size).toBe(10_002);
    await sweeper.stop();
  });

  it('looks at an idle cron in full about once in two days: a deletion of its old records may have failed', async () => {
    const { stage, asked } = await watching(3);
    await stage.clock.advance(48 * 3_600_000 + 60 * EVERY_MS);
    expect(asked().filter((names) => names.includes('cron-0')).length).toBeGreaterThanOrEqual(2);
    expect(asked().filter((names) => names.includes('cron-0')).length).toBeLessThanOrEqual(3);
  });

  it('asks no more about a cron that was given up while it was asked about', async () => {
    const { stage, sweeper, asked } = await watching(3);
    const release = holdBack(stage);
    await stage.clock.advance(EVERY_MS);
    sweeper.leave(CRON);
    release();
    await stage.clock.advance(2 * EVERY_MS);
    expect(asked()).toHaveLength(1);
  });

  it('asks again about a cron without open runs that was claimed for meanwhile', async () => {
    const { stage, sweeper, asked } = await watching(2);
    const release = holdBack(stage);
    await stage.clock.advance(EVERY_MS);
    sweeper.watch('cron-0');
    release();
    await stage.clock.advance(EVERY_MS);
    expect(asked()[1]?.toSorted()).toEqual(['cron-0', CRON]);
  });

  it('asks again about all of a call that failed, and tells of each', async () => {
    const { stage, events, asked } = await watching(2);
    stage.ledger.next('overdueAll', 'fail');
    await stage.clock.advance(2 * EVERY_MS);
    expect(events.of('store.failed').map(({ operation, cron }) => [operation, cron])).toEqual([
      ['cron.sweep', CRON],
      ['cron.sweep', 'cron-0'],
    ]);
    expect(asked()).toEqual([[CRON, 'cron-0']]);
  });

  it('looks as often at a cron whose runs pile up as its surplus asks for, pauses or not, and no more once that is over', async () => {
    const KEEP = 1_000;
    const stage = new SchedulerStage();
    const { dispatcher, telemetry } = stage.pod();
    const ports = { ledger: stage.memoryLedger, queue: stage.memoryQueue, dispatcher, telemetry };
    const recovery = new Recovery({ ...ports, lookAgainMs: 10_000, keepRuns: KEEP });
    const sweeper = new Sweeper({ recovery, clock: stage.clock, sweepEveryMs: EVERY_MS, owner: OWNER });
    sweeper.watch(CRON);
    sweeper.watch('idle');
    sweeper.start();
    /** At 500 a second, but for a quarter of a second every two, from the beginning of the next sweep on. */
    const most = { atFirst: 0, later: 0 };
    for (let step = 0; step < 500; step += 1) {
      if (step % 100 < 88) await endedRuns(stage, 10);
      await stage.clock.advance(20);
      const kept = (await stage.memoryLedger.runs(CRON, Infinity)).length;
      if (stage.clock.monotonic() < EVERY_MS) most.atFirst = kept;
      else most.later = Math.max(most.later, kept);
    }
    expect(most.atFirst).toBeGreaterThan(2 * KEEP);
    expect(most.later).toBeLessThanOrEqual(1.1 * KEEP);
    await stage.clock.advance(6 * EVERY_MS);
    const overdueAll = vi.spyOn(stage.memoryLedger, 'overdueAll');
    await stage.clock.advance(2 * EVERY_MS);
    expect(overdueAll.mock.calls.length).toBeLessThanOrEqual(2);
    await sweeper.stop();
  });
});

async function openRun({ memoryLedger }: SchedulerStage, cron: string): Promise<void> {
  const about = { reason: 'manual', generation: 1, by: 'test', payload: null, handler: null, missed: null } as const;
  const runId = `${cron}@manual-${randomUUID()}`;
  await memoryLedger.trigger({ runId, nonce: randomUUID(), scheduledAt: null, overlap: 'allow', ...about });
}

/** Runs that somebody asked for, and that a worker has ended. */
async function endedRuns({ memoryLedger: ledger, clock }: SchedulerStage, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const runId = `${CRON}@manual-${randomUUID()}`;
    const nonce = randomUUID();
    const about = { reason: 'manual', generation: 1, by: 'test', payload: null, handler: null, missed: null } as const;
    await ledger.trigger({ runId, nonce, scheduledAt: null, overlap: 'allow', ...about });
    const begun = await ledger.begin({ runId, nonce, worker: 'w/1', ttlMs: 60_000, maxAttempts: 1 });
    if (begun.verdict !== 'begun')
      throw new Error(`Expected ${runId} to begin at ${clock.now()}, got ${begun.verdict}.`);
    await ledger.finish({ runId, nonce, fence: begun.fence }, { kind: 'succeeded' });
  }
}
