import { randomUUID } from 'node:crypto';
import { parseFence } from '@fencepost/lease';
import { describe, expect, it } from 'vitest';
import { CRON, RUN, START, WorkerStage } from '../../../../test/support/worker-stage.js';
import type { RunContext } from './run-context.js';

describe('the result of a run', () => {
  it('is what its handler returned, as JSON', async () => {
    const stage = await WorkerStage.with();
    const returned = { sent: 3, at: new Date(START), left: undefined };
    expect(await stage.deliver(async () => returned)).toEqual({ kind: 'settled' });
    expect((await stage.memoryLedger.readRun(RUN))?.result).toBe('{"sent":3,"at":"2030-01-01T00:00:00.000Z"}');
    expect(stage.events.names).toEqual(['attempt.begun', 'attempt.succeeded']);
  });

  it('is that of the attempt that succeeded, also of a handler with a timeout', async () => {
    const stage = await WorkerStage.with();
    await stage.deliver(() => Promise.reject(new Error('no')), { delayMs: 0 });
    await stage.deliver(({ attempt }) => ({ attempt }), { handler: { timeoutMs: 1_000 } });
    expect(await stage.memoryLedger.readRun(RUN)).toMatchObject({ state: 'succeeded', result: '{"attempt":2}' });
  });

  it.each([undefined, null])('is null for a handler that returns %s', async (returned) => {
    const stage = await WorkerStage.with();
    await stage.deliver(() => returned);
    expect(await stage.memoryLedger.readRun(RUN)).toMatchObject({ state: 'succeeded', result: null });
    expect(stage.events.of('run.result-dropped')).toEqual([]);
  });

  const circle: Record<string, unknown> = {};
  circle['self'] = circle;

  it.each<[string, unknown, string]>([
    ['20,000 bytes', 'x'.repeat(19_998), 'it is larger than 16 KiB (20000 bytes)'],
    ['a bigint', { id: 1n }, "JSON can't carry it (Do not know how to serialize a BigInt)"],
    ['a circle', circle, "JSON can't carry it (Converting circular structure to JSON)"],
    ['an instance', { of: new Map() }, "JSON can't carry an instance of Map (at result.of)"],
    ['a function', () => 1, 'it is not data'],
  ])('is dropped with one warning, and the run has succeeded: %s', async (_what, returned, reason) => {
    const stage = await WorkerStage.with();
    stage.ledger.next('finish', 'fail', 'lose-reply');
    const delivered = stage.deliver(() => returned);
    await stage.manual.advance(2_000);
    expect(await delivered).toEqual({ kind: 'settled' });
    expect(await stage.memoryLedger.readRun(RUN)).toMatchObject({ state: 'succeeded', attempt: 1, result: null });
    expect(stage.events.of('run.result-dropped')).toMatchObject([{ cron: CRON, runId: RUN, attempt: 1, reason }]);
    expect(stage.log).toEqual([`warn 1 true the result was not kept: ${reason}`]);
  });
});

describe('run.previous', () => {
  /** A later instant of the cron, claimed. */
  async function claimed(stage: WorkerStage, n: number): Promise<string> {
    const scheduledAt = START + n * 60_000;
    await stage.manual.advance(Math.max(0, scheduledAt - stage.manual.now()));
    const reply = await stage.memoryLedger.claim({
      cron: CRON,
      fence: parseFence('1'),
      term: 'term',
      holder: 'scheduler/1',
      generation: 1,
      nonce: randomUUID(),
      cursor: START + (n - 1) * 60_000,
      skips: [],
      overlap: 'skip',
      occurrence: { scheduledAt, dueAt: scheduledAt, reason: 'schedule', missed: null },
    });
    if (reply.verdict !== 'claimed') throw new Error(`Expected a claim, got ${JSON.stringify(reply)}.`);
    return reply.runId;
  }

  const counting = async (run: RunContext) => {
    const { result } = (await run.previous()) ?? { result: null };
    return { count: ((result as { count: number } | null)?.count ?? 0) + 1 };
  };

  it('resolves with the last success before the run, and its result', async () => {
    const stage = await WorkerStage.with();
    await stage.deliver(counting);
    const second = await claimed(stage, 1);
    await stage.deliver(() => Promise.reject(new Error('no')), { runId: second, attempts: 1 });
    const third = await claimed(stage, 2);
    let previous: Awaited<ReturnType<RunContext['previous']>> = null;
    await stage.deliver(
      async (run) => {
        previous = await run.previous();
        return counting(run);
      },
      { runId: third },
    );
    const instant = new Date(START);
    expect(previous).toEqual({ id: RUN, scheduledAt: instant, finishedAt: instant, result: { count: 1 } });
    expect((await stage.memoryLedger.readRun(third))?.result).toBe('{"count":2}');
  });

  it('resolves with null for the first run', async () => {
    const stage = await WorkerStage.with();
    let previous: unknown = 'none';
    await stage.deliver(async (run) => void (previous = await run.previous()));
    expect(previous).toBeNull();
  });

  it('is asked of the ledger by nobody who does not call it, and again through a short outage', async () => {
    const stage = await WorkerStage.with();
    await stage.deliver(() => 1);
    expect(stage.ledger.calls).not.toContain('previousSuccess');
    const second = await claimed(stage, 1);
    stage.ledger.next('previousSuccess', 'fail');
    const delivered = stage.deliver(async (run) => (await run.previous())?.result, { runId: second });
    await stage.manual.advance(2_000);
    await delivered;
    expect(await stage.memoryLedger.readRun(second)).toMatchObject({ state: 'succeeded', attempt: 1, result: '1' });
    expect(stage.events.of('store.failed')).toMatchObject([{ operation: 'run.read', runId: second }]);
  });
});
