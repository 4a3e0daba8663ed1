import { describe, expect, it } from 'vitest';
import { Mutes } from './mutes.js';
import { LOOK_MS, useAlarmStages, type AlarmStage } from './alarm.stage.js';
import { CRON, START, type StagePod } from '../../../../test/support/scheduler-stage.js';

const staged = useAlarmStages();

const LATE_MS = 5_000;
const order = { by: 'ada', reason: 'a test' };

/** Pods, and a cron of every second that one of them holds. */
async function pods(names: readonly string[], over: object = { lateAfterMs: LATE_MS }) {
  const stage = staged();
  await stage.declare(1, { ...over });
  const all: StagePod[] = [];
  for (const name of names) all.push(await stage.watching(name));
  await stage.clock.advance(4_100);
  const holder = await stage.holder();
  const [first, ...others] = all.toSorted((a) => (a.keeper.holder === holder ? -1 : 1)) as [StagePod, ...StagePod[]];
  return { stage, holder: first, others };
}

const raised = (...all: readonly StagePod[]) => all.flatMap(({ events }) => events.of('alarm.raised'));
const cleared = (...all: readonly StagePod[]) => all.flatMap(({ events }) => events.of('alarm.cleared'));
const sent = ({ messages }: AlarmStage) => [...messages.values()].map((m) => (m.kind === 'ping' ? m.on : m.type));

/** The holder claims its next instant, and never hears of it; as long as it is heard, nobody takes its cron away. */
async function deaf({ stage, holder }: Awaited<ReturnType<typeof pods>>): Promise<() => Promise<void>> {
  let answer = () => {};
  const heldBack = new Promise<void>((resolve) => (answer = resolve));
  holder.own.next('claimAll', { heldBack });
  await stage.clock.advance(1_000);
  await endAll(stage);
  return async () => {
    answer();
    await stage.clock.advance(4_000);
    await endAll(stage);
    await stage.clock.advance(LOOK_MS);
  };
}

async function endAll(stage: AlarmStage): Promise<void> {
  for (const { id, finishedAt } of await stage.memoryLedger.runs(CRON, 100))
    if (finishedAt === null) await stage.end(id);
}

describe('a holder that is there and claims nothing', () => {
  it('is noticed by another pod, which says so once, and once when it is over', async () => {
    const all = await pods(['a', 'b', 'c']);
    const { stage, holder, others } = all;
    const heal = await deaf(all);
    await stage.clock.advance(LATE_MS + 10_000);
    expect(raised(...others)).toEqual([
      {
        cron: CRON,
        kind: 'missed',
        since: START + 6_000,
        text: `${CRON} was due at 2030-01-01T00:00:06.000Z, and no scheduler pod has claimed it.`,
      },
    ]);
    expect([...raised(holder), ...cleared(...others)]).toEqual([]);
    await heal();
    expect(cleared(...others)).toMatchObject([{ cron: CRON, kind: 'missed' }]);
    expect(raised(...others)).toHaveLength(1);
    expect(sent(stage)).toEqual(['alarm.raised', 'alarm.cleared']);
  });

  it('is noticed within its limit and one look', async () => {
    const all = await pods(['a', 'b']);
    const heal = await deaf(all);
    await all.stage.clock.advance(LATE_MS + 900);
    const early = raised(...all.others);
    await all.stage.clock.advance(LOOK_MS);
    expect([early.length, raised(...all.others).length]).toEqual([0, 1]);
    await heal();
  });
});

describe('a cron that is expected to succeed', () => {
  it('raises an alarm when it has not, and clears it with the next success', async () => {
    const { stage, others } = await pods(['a', 'b'], { expectEveryMs: 10_000 });
    await stage.clock.advance(LATE_MS);
    expect(raised(...others)).toEqual([]);
    await stage.clock.advance(LATE_MS);
    expect(raised(...others)).toMatchObject([
      { kind: 'missed', text: expect.stringContaining('has not succeeded yet') },
    ]);
    const [run] = await stage.memoryLedger.runs(CRON, 1);
    await stage.end(run?.id ?? '');
    await stage.clock.advance(LOOK_MS);
    expect(cleared(...others)).toMatchObject([{ kind: 'missed' }]);
  });

  it('raises none while somebody has paused it, and is counted anew after it', async () => {
    const { stage, others, holder } = await pods(['a', 'b'], { expectEveryMs: 100_000 });
    await stage.memoryLedger.pause(CRON, { ...order, until: null });
    await stage.clock.advance(200_000);
    await stage.memoryLedger.resume(CRON);
    await stage.clock.advance(70_000);
    expect(raised(holder, ...others)).toEqual([]);
    await stage.clock.advance(32_000);
    expect(raised(...others)).toMatchObject([{ kind: 'missed' }]);
  });
});

describe('alarms of runs', () => {
  it('say that a run is late, has failed, or waits for a person, each once', async () => {
    const { stage, others } = await pods(['a', 'b'], { lateAfterMs: LATE_MS, expression: '4 0 0 1 1 *' });
    const id = `${CRON}@${START + 4_000}`;
    await stage.clock.advance(LATE_MS + LOOK_MS);
    expect(raised(...others).map(({ kind }) => kind)).toEqual(['late']);
    const unresolvedEffect = { effect: 'charge', item: null, unknownReason: 'lost', since: START + 5_000 } as const;
    await stage.end(id, { kind: 'uncertain', error: 'Error: who knows', unresolvedEffect });
    await stage.clock.advance(3 * LOOK_MS);
    expect(cleared(...others).map(({ kind }) => kind)).toEqual(['late']);
    await stage.memoryLedger.resolve(id, {
      ...{ ...order, nonce: 'n', answer: { verdict: 'give-up' } },
      unresolvedEffect: { ...unresolvedEffect, attempt: 1 },
    });
    await stage.clock.advance(3 * LOOK_MS);
    expect(raised(...others).map(({ kind }) => kind)).toEqual(['late', 'uncertain', 'failed']);
    expect(cleared(...others).map(({ kind }) => kind)).toEqual(['late', 'uncertain']);
  });

  it('say that no worker has the handler of a run, no sooner than it is late', async () => {
    const { stage, others } = await pods(['a', 'b'], { lateAfterMs: LATE_MS, expression: '4 0 0 1 1 *' });
    await stage.memoryLedger.noteWaiting(`${CRON}@${START + 4_000}`, 'no-capable-worker');
    await stage.clock.advance(START + 4_000 + LATE_MS - LOOK_MS - stage.clock.now());
    expect(raised(...others)).toEqual([]);
    await stage.clock.advance(3 * LOOK_MS);
    const kinds = raised(...others).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['late', 'no-capable-worker']);
  });

  it('say that no worker has the handler of a run, however many instants were skipped because of it', async () => {
    const { stage, others } = await pods(['a', 'b'], { lateAfterMs: 60_000, overlap: 'skip' });
    const [first] = (await stage.memoryLedger.runs(CRON, 100)).toReversed();
    await stage.memoryLedger.noteWaiting(first?.id ?? '', 'no-capable-worker');
    await stage.clock.advance(60_000 + 3 * LOOK_MS);
    const alarms = raised(...others).filter(({ kind }) => kind === 'no-capable-worker');
    expect(alarms).toMatchObject([{ since: START + 61_000, text: expect.stringContaining(first?.id ?? '?') }]);
    await stage.clock.advance(10 * LOOK_MS);
    expect(cleared(...others)).toEqual([]);
  });
});

/** Of two that look at about the same time, both have read before either writes; until they are parted. */
function inPairs({ store }: AlarmStage): () => void {
  const read = store.read.bind(store);
  let first: (() => void) | null = null;
  Object.assign(store, {
    read: async (crons: readonly string[]) => {
      const reading = await read(crons);
      if (first) first();
      else await new Promise<void>((resolve) => (first = resolve));
      first = null;
      return reading;
    },
  });
  return () => {
    Object.assign(store, { read });
    first?.();
  };
}

describe('who watches', () => {
  it('may be two pods for a while: the alarm is told by one of them', async () => {
    const { stage, holder, others } = await pods(['a', 'b'], { expression: '4 0 0 1 1 *', lateAfterMs: LATE_MS });
    // As if a third pod had the cron: neither the first nor the second holds it.
    Object.assign(holder.engine, { held: () => undefined });
    const part = inPairs(stage);
    await stage.clock.advance(LATE_MS + 4 * LOOK_MS);
    part();
    expect(raised(holder, ...others)).toHaveLength(1);
    expect(sent(stage)).toEqual(['alarm.raised']);
  });

  it('is never the holder, as long as there is another pod', async () => {
    const { stage, holder } = await pods(['a', 'b']);
    const reads: unknown[] = [];
    holder.telemetry.listen((name) => void reads.push(name));
    await stage.clock.advance(LATE_MS + 3 * LOOK_MS);
    expect(raised(holder)).toEqual([]);
    expect(holder.events.of('alarm.alone')).toEqual([]);
  });

  it('is the pod itself when it is the only one, and it says so once', async () => {
    const { stage, holder } = await pods(['a']);
    await stage.clock.advance(LATE_MS + 3 * LOOK_MS);
    expect(holder.events.of('alarm.alone')).toEqual([{ crons: 1 }]);
    expect(raised(holder)).toMatchObject([{ kind: 'late' }]);
  });

  it('tells again what a pod that died had not told, under the same id', async () => {
    const { stage, others } = await pods(['a', 'b']);
    stage.failing = 1;
    await stage.clock.advance(LATE_MS + LOOK_MS);
    expect([raised(...others), sent(stage)]).toEqual([[], []]);
    await stage.clock.advance(10_000 + LOOK_MS);
    expect(raised(...others)).toHaveLength(1);
    expect(sent(stage)).toEqual(['alarm.raised']);
  });
});

describe('a muted cron', () => {
  const mute = (stage: AlarmStage, forMs: number) => new Mutes(stage.store).set({ cron: CRON }, { ...order, forMs });

  it('raises its alarms, and nobody outside hears of them or of their end', async () => {
    const all = await pods(['a', 'b']);
    await mute(all.stage, 600_000);
    const heal = await deaf(all);
    await all.stage.clock.advance(LATE_MS + 10_000);
    expect(raised(...all.others)).toMatchObject([{ kind: 'missed', muted: true }]);
    await heal();
    expect(cleared(...all.others)).toMatchObject([{ kind: 'missed', muted: true }]);
    expect(sent(all.stage)).toEqual([]);
  });

  it('is heard of when the mute is over and the alarm is not', async () => {
    const all = await pods(['a', 'b']);
    await mute(all.stage, 20_000);
    const heal = await deaf(all);
    await all.stage.clock.advance(LATE_MS + 5_000);
    expect(sent(all.stage)).toEqual([]);
    await all.stage.clock.advance(15_000);
    expect(sent(all.stage)).toEqual(['alarm.raised']);
    await heal();
    expect(sent(all.stage)).toEqual(['alarm.raised', 'alarm.cleared']);
    expect(raised(...all.others).map(({ muted }) => muted)).toEqual([true, undefined]);
  });

  it('that was heard of before is heard of when it is well again', async () => {
    const all = await pods(['a', 'b']);
    const heal = await deaf(all);
    await all.stage.clock.advance(LATE_MS + 10_000);
    await mute(all.stage, 600_000);
    await heal();
    expect(sent(all.stage)).toEqual(['alarm.raised', 'alarm.cleared']);
  });

  it('keeps its mute while crons come and go', async () => {
    const { stage } = await pods(['a', 'b']);
    await mute(stage, 600_000);
    await stage.clock.advance(20 * LOOK_MS);
    expect(await new Mutes(stage.store).list()).toHaveLength(1);
  });
});
