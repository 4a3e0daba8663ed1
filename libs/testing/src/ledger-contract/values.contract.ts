import { beforeEach, describe, expect, it } from 'vitest';
import type { AttemptOutcome, BeginRequest, ClaimRequest, TriggerRequest } from '@fencepost/ledger';
import { fence, Stage, type MakeLedgerHarness } from './stage.js';

const ODD_TEXTS = [
  'with spaces and "quotes"',
  'two\nlines\r\n',
  'ü – 日本語 – 🦉',
  '__proto__',
  'constructor',
  '\u0001\u001f',
  '-1',
  '0',
  '%s %d',
  '{a:b}',
];

/** Whatever a user writes comes back as it was, and a number that is none is refused before anything is written. */
export function valuesContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
  });

  it.each(ODD_TEXTS)('keeps %j as a name, a result, a worker, a holder and an error', async (text) => {
    const runId = await stage.claimed(1, { holder: text, term: text, nonce: text });
    const attempt = await stage.begun(runId, { worker: text, nonce: text });
    await stage.beginEffect(attempt, text);
    expect(await stage.finishEffect(attempt, text, JSON.stringify({ [text]: text }))).toBe('recorded');
    const done = { verdict: 'done', result: JSON.stringify({ [text]: text }), payloadHash: null };
    expect(await stage.beginEffect(attempt, text)).toEqual(done);
    expect(await stage.ledger.finish(attempt, { kind: 'failed', error: text })).toBe('failed');
    expect(await stage.run(runId)).toMatchObject({ claimedBy: text, worker: text, error: text });
  });

  it.each(ODD_TEXTS)('keeps %j as who asked, paused and cancelled, as a payload and a handler', async (text) => {
    const order = { by: text, reason: text, until: null };
    const paused = await stage.ledger.pause(stage.cron, order);
    expect(paused).toMatchObject(order);
    expect(await stage.ledger.resume(stage.cron)).toEqual(paused);
    const request = stage.order({ nonce: text, by: text, payload: text, handler: text });
    await stage.ledger.trigger(request);
    expect(await stage.run(request.runId)).toMatchObject({ by: text, payload: text, handler: text });
    expect(await stage.ledger.cancel(request.runId, { by: text, graceMs: 0 })).toEqual({ verdict: 'cancelled' });
    expect((await stage.run(request.runId)).cancel).toMatchObject({ by: text });
  });

  it('takes an empty error for none, and keeps an empty result and an empty name', async () => {
    const attempt = await stage.begun(await stage.claimed(1));
    await stage.beginEffect(attempt, '');
    await stage.finishEffect(attempt, '', '');
    expect(await stage.beginEffect(attempt, '')).toEqual({ verdict: 'done', result: '', payloadHash: null });
    await stage.ledger.finish(attempt, { kind: 'failed', error: '' });
    expect(await stage.run(attempt.runId)).toMatchObject({ state: 'failed', error: null });
  });

  it('keeps a result of a hundred kilobytes, and an error with a long stack', async () => {
    const attempt = await stage.begun(await stage.claimed(1));
    const result = JSON.stringify({ rows: Array.from({ length: 8_000 }, (_, n) => `row ${n} – ü`) });
    expect(result.length).toBeGreaterThan(100_000);
    await stage.beginEffect(attempt, 'export');
    await stage.finishEffect(attempt, 'export', result);
    expect(await stage.beginEffect(attempt, 'export')).toMatchObject({ verdict: 'done', result });
    const error = `Error: it broke\n${'    at somewhere (file.js:1:1)\n'.repeat(500)}`;
    await stage.ledger.finish(attempt, { kind: 'retry', error, delayMs: 0 });
    expect((await stage.run(attempt.runId)).error).toBe(error);
  });

  it.each(['x}', 'two\nlines', 'x'.repeat(101), 'a b', '-x', 'ü', 'a:b', ''])(
    'refuses a cron of the name %j, whoever asks for it, and before anything is written',
    async (cron) => {
      const calls = [
        async () => stage.ledger.claim({ ...(await stage.request(1)), cron }),
        () => stage.ledger.trigger(stage.order({ runId: `${cron}@manual-1` })),
        () => stage.ledger.pause(cron, { by: 'ada', reason: 'a try', until: null }),
        () => stage.ledger.resume(cron),
      ];
      for (const call of calls) await expect(call()).rejects.toThrow(RangeError);
    },
  );

  describe('a number that is none', () => {
    const NONE = [Number.NaN, Number.POSITIVE_INFINITY, 1.5, -1, 2 ** 53];

    async function claimWith(over: Partial<ClaimRequest>): Promise<unknown> {
      return stage.ledger.claim(await stage.request(2, over));
    }

    it.each(NONE)('is refused in a claim before anything is written (%d)', async (none) => {
      await stage.claimed(1);
      const before = [await stage.ledger.readCron(stage.cron), await stage.ledger.runs(stage.cron, 10)];
      const after = stage.instant(1);
      const claims: Partial<ClaimRequest>[] = [
        { occurrence: { ...stage.occurrence(2), scheduledAt: none } },
        { occurrence: { ...stage.occurrence(2), dueAt: none } },
        { spreadMs: none },
        { generation: none },
        { startBy: none },
        { maxConcurrency: none },
        { cancelGraceMs: none },
        { skips: [{ after, through: none, reason: 'misfire' }] },
        { skips: [{ after: none, through: after + 1, reason: 'misfire' }] },
      ];
      for (const over of claims) await expect(claimWith(over)).rejects.toThrow(RangeError);
      expect([await stage.ledger.readCron(stage.cron), await stage.ledger.runs(stage.cron, 10)]).toEqual(before);
      await stage.claimed(2);
    });

    it('is refused in a claim without a fence, without anything to record, or with ranges out of order', async () => {
      const range = (after: number, through: number) => ({
        after: stage.instant(after),
        through: stage.instant(through),
        reason: 'misfire' as const,
      });
      await expect(claimWith({ fence: fence(0) })).rejects.toThrow('Expected fence');
      await expect(claimWith({ occurrence: null })).rejects.toThrow('has neither an occurrence nor skips');
      await expect(claimWith({ occurrence: { ...stage.occurrence(1), dueAt: stage.instant(0) } })).rejects.toThrow(
        'Expected dueAt',
      );
      await expect(claimWith({ skips: [range(0, 2)] })).rejects.toThrow('Expected scheduledAt');
      await expect(claimWith({ skips: [range(1, 1)] })).rejects.toThrow('Expected through');
      await expect(claimWith({ skips: [range(0, 1), range(-2, -1)] })).rejects.toThrow('Expected after');
      expect(await stage.ledger.readCron(stage.cron)).toMatchObject({ cursor: null });
    });

    it.each(NONE)('is refused in a run by hand before anything is written (%d)', async (none) => {
      const orders: Partial<TriggerRequest>[] = [
        { scheduledAt: none },
        { generation: none },
        { maxConcurrency: none },
        { cancelGraceMs: none },
        { notBefore: none },
        { priority: none },
        { missed: { count: none, from: 0, to: 1 } },
        { missed: { count: 1, from: none, to: 1 } },
        { missed: { count: 1, from: 0, to: none } },
      ];
      for (const over of orders) await expect(stage.ledger.trigger(stage.order(over))).rejects.toThrow(RangeError);
      const pause = stage.ledger.pause(stage.cron, { by: 'ada', reason: 'none', until: none });
      await expect(pause).rejects.toThrow(RangeError);
      await expect(stage.ledger.account(stage.cron, none, 2 ** 52)).rejects.toThrow(RangeError);
      await expect(stage.ledger.account(stage.cron, 5, none)).rejects.toThrow(RangeError);
      expect(await stage.ledger.runs(stage.cron, 10)).toEqual([]);
      expect((await stage.ledger.readCron(stage.cron)).paused).toBeNull();
    });

    it.each([...NONE, 0])('is refused in an attempt before anything is written (%d)', async (none) => {
      const runId = await stage.claimed(1);
      const begins: Partial<BeginRequest>[] = [{ ttlMs: none }, { maxAttempts: none }];
      for (const over of begins)
        await expect(stage.ledger.begin(stage.attempt(runId, over))).rejects.toThrow(RangeError);
      expect((await stage.run(runId)).state).toBe('claimed');
      const attempt = await stage.begun(runId);
      await expect(stage.ledger.heartbeat(attempt, none)).rejects.toThrow(RangeError);
      const retry: AttemptOutcome = { kind: 'retry', error: 'again', delayMs: none === 0 ? -1 : none };
      await expect(stage.ledger.finish(attempt, retry)).rejects.toThrow(RangeError);
      expect((await stage.run(runId)).state).toBe('running');
    });

    it.each(NONE)('is refused when listing and forgetting (%d)', async (none) => {
      await expect(stage.overdue(none)).rejects.toThrow(RangeError);
      await expect(stage.overdue(1, none)).rejects.toThrow(RangeError);
      await expect(stage.forget(none)).rejects.toThrow(RangeError);
    });
  });
}
