import type { Run } from '@fencepost/ledger/run';
import { describe, expect, it } from 'vitest';
import { HOUR, runAt, START, WAITING, definitionOf } from '../../../../test/support/audit-history.js';
import { evaluateRules } from '../alarms/evaluate-rules.js';
import { lateBy, outcomeIn } from './timeline-run.js';
import { spreadOf } from '@fencepost/schedule';
import { JOB, jobsStage } from '../../../../test/support/operating-stage.js';
import { scheduleOf } from './scheduled.js';

/** A run whose instant was ten days ago, and which began now. */
const old = (over: Partial<Run>) =>
  runAt(START, { startedAt: START + 240 * HOUR, finishedAt: START + 241 * HOUR, ...over });

describe('a backfilled or manual run', () => {
  it.each(['backfill', 'manual'] as const)('has no lateness, whenever it began: %s', (reason) => {
    expect(lateBy(old({ reason }))).toBeNull();
    expect(outcomeIn(old({ reason }), 60_000)).toBe('ran');
  });

  it.each(['schedule', 'catch-up'] as const)('is told from one of the schedule, which is late: %s', (reason) => {
    expect(lateBy(old({ reason }))).toBe(240 * HOUR);
    expect(outcomeIn(old({ reason }), 60_000)).toBe('late');
  });

  it.each([
    ['schedule', ['late']],
    ['backfill', []],
    ['manual', []],
  ] as const)('rings no alarm about lateness while it waits: %s', (reason, kinds) => {
    const waiting = runAt(START, { ...WAITING, reason });
    const definition = { name: waiting.cron, lateAfterMs: 60_000 };
    const snapshot = {
      definition,
      now: START + HOUR,
      runs: [waiting],
      countFrom: START,
      successAt: START,
      nextDueAt: null,
    };
    const found = evaluateRules(snapshot as unknown as Parameters<typeof evaluateRules>[0]);
    expect(found.filter(({ kind }) => kind === 'late').map(({ kind }) => kind)).toEqual(kinds);
  });
});

const ORDER = { by: 'ada', reason: 'a test' };

describe('a job, for whoever operates it', () => {
  it('is listed without a next instant, with its newest run', async () => {
    const { stage, jobs } = await jobsStage();
    const { runId } = await jobs.enqueue(JOB);
    const overview = (await stage.operator.list()).find(({ name }) => name === JOB);
    expect(overview).toMatchObject({ expression: '@manual', state: 'active', next: null, cursor: null });
    expect(overview?.last?.id).toBe(runId);
  });

  it('has nothing that could be backfilled', async () => {
    const { stage } = await jobsStage();
    await stage.clock.advance(86_400_000);
    const [from, to] = [stage.at(-86_400), stage.at(86_400)];
    expect(await stage.operator.backfill(JOB, { ...ORDER, from, to, dryRun: true })).toMatchObject({ instants: 0 });
    expect(await stage.operator.backfill(JOB, { ...ORDER, from, to })).toMatchObject({ instants: 0, aborted: false });
    expect(stage.queue.taken).toEqual([]);
  });

  it('can be asked for by a person, and told to stop', async () => {
    const { stage } = await jobsStage();
    const reply = await stage.operator.trigger(JOB, { by: 'ada', payload: { to: 'ben' } });
    if (reply.verdict !== 'claimed') throw new Error(`Expected a run, got ${reply.verdict}.`);
    expect(await stage.ledger.readRun(reply.runId)).toMatchObject({ state: 'enqueued', payload: '{"to":"ben"}' });
    expect(await stage.operator.cancel(reply.runId, ORDER)).toEqual({ verdict: 'cancelled' });
  });
});

describe('scheduled', () => {
  const HOURLY = { expression: 'H * * * *', spreadMs: 3_600_000 };

  it('a schedule is read once for equal definitions', () => {
    expect(scheduleOf(definitionOf(HOURLY), START)).toBe(scheduleOf(definitionOf(HOURLY), START));
  });

  it.each([
    { name: 'other' },
    { expression: '5 * * * *' },
    { timeZone: 'Asia/Kolkata' },
    { spreadMs: 60_000 },
    { dst: { gap: 'skip', repeat: 'first' } as const },
  ])('that of a cron with another %j is another one', (over) => {
    expect(scheduleOf(definitionOf({ ...HOURLY, ...over }), START)).not.toBe(scheduleOf(definitionOf(HOURLY), START));
  });

  it('crons of the same expression are put off as their names say', () => {
    const names = Array.from({ length: 20 }, (_, n) =>
      spreadOf(`c${n}`, scheduleOf(definitionOf({ ...HOURLY, name: `c${n}` }), START).spreadOverMs),
    );
    expect(new Set(names).size).toBe(20);
  });
});
