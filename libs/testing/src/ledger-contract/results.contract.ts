import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_RESULT_BYTES } from '@fencepost/ledger/run';
import { Stage, type MakeLedgerHarness } from './stage.js';

/** What a handler returned, kept with its run, and found again by a later one. */
export function resultsContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
  });

  async function returned(n: number, result: string): Promise<string> {
    const attempt = await stage.begun(await stage.claimed(n));
    expect(await stage.ledger.finish(attempt, { kind: 'succeeded', result })).toBe('succeeded');
    return attempt.runId;
  }

  async function failed(n: number): Promise<string> {
    const attempt = await stage.begun(await stage.claimed(n));
    await stage.ledger.finish(attempt, { kind: 'failed', error: 'it broke' });
    return attempt.runId;
  }

  describe('a result', () => {
    const largest = JSON.stringify('€'.repeat(Math.floor((MAX_RESULT_BYTES - 2) / 3)));

    it.each([
      ['an object', '{"sent":3,"to":["ada","größe 🦉"]}'],
      ['a text with quotes and a zero byte', JSON.stringify('"a\0b"\n')],
      ['null', 'null'],
      ['the largest one', largest],
    ])('is kept as it was returned, wherever the run is read: %s', async (_what, result) => {
      const runId = await returned(1, result);
      const { ledger, cron } = stage;
      expect((await stage.run(runId)).result).toBe(result);
      expect((await ledger.runs(cron, 10)).map((run) => run.result)).toEqual([result]);
      const { runs } = await ledger.account(cron, stage.instant(1), stage.instant(2));
      expect(runs.map((run) => run.result)).toEqual([result]);
    });

    it('is null while the run goes on, and when its handler returned nothing', async () => {
      const attempt = await stage.begun(await stage.claimed(1));
      expect((await stage.run(attempt.runId)).result).toBeNull();
      await stage.ledger.finish(attempt, { kind: 'succeeded' });
      expect((await stage.run(attempt.runId)).result).toBeNull();
    });

    it('is that of the attempt that succeeded, after one that failed', async () => {
      const first = await stage.begun(await stage.claimed(1));
      await stage.ledger.finish(first, { kind: 'retry', error: 'it broke', delayMs: 0 });
      const second = await stage.begun(first.runId);
      await stage.ledger.finish(second, { kind: 'succeeded', result: '2' });
      expect(await stage.run(first.runId)).toMatchObject({ attempt: 2, result: '2', error: null });
    });

    it('is none of a run that failed', async () => {
      expect((await stage.run(await failed(1))).result).toBeNull();
    });

    it('is not replaced when the end is sent again, nor by a stale attempt', async () => {
      const attempt = await stage.begun(await stage.claimed(1));
      await stage.lapse(attempt);
      const next = await stage.begun(attempt.runId);
      await stage.ledger.finish(next, { kind: 'succeeded', result: '"next"' });
      expect(await stage.ledger.finish(next, { kind: 'succeeded', result: '"again"' })).toBe('succeeded');
      expect(await stage.ledger.finish(attempt, { kind: 'succeeded', result: '"stale"' })).toBeNull();
      expect((await stage.run(attempt.runId)).result).toBe('"next"');
    });

    it('of each of many attempts that end at once is kept with its own run', async () => {
      const attempts = [];
      for (const n of [1, 2, 3, 4]) attempts.push(await stage.begun(await stage.claimed(n)));
      const ends = attempts.map((attempt, n) =>
        stage.ledger.finish(attempt, n === 1 ? { kind: 'failed', error: 'no' } : endOf(n)),
      );
      expect(await Promise.all(ends)).toEqual(['succeeded', 'failed', 'succeeded', 'succeeded']);
      const runs = await Promise.all(attempts.map(({ runId }) => stage.run(runId)));
      expect(runs.map(({ result }) => result)).toEqual(['0', null, null, '3']);
    });

    /** The third returned nothing. */
    function endOf(n: number) {
      return n === 2 ? ({ kind: 'succeeded' } as const) : ({ kind: 'succeeded', result: String(n) } as const);
    }

    it('of more than 16 KiB is refused, and the attempt may end without it', async () => {
      const attempt = await stage.begun(await stage.claimed(1));
      const result = JSON.stringify('€'.repeat(MAX_RESULT_BYTES / 3));
      await expect(stage.ledger.finish(attempt, { kind: 'succeeded', result })).rejects.toThrow(
        `Expected a result of at most 16384 bytes, got ${Buffer.byteLength(result)}.`,
      );
      expect(await stage.ledger.finish(attempt, { kind: 'succeeded' })).toBe('succeeded');
    });

    it('is forgotten with its run, and is not that of a later run with the same id', async () => {
      const order = stage.order({ runId: `${stage.cron}@order-1` });
      expect(await stage.ledger.trigger(order)).toMatchObject({ verdict: 'claimed' });
      const attempt = await stage.begun(order.runId);
      await stage.ledger.finish(attempt, { kind: 'succeeded', result: '1' });
      expect(await stage.forget(0)).toBe(1);
      expect(await stage.ledger.readRun(order.runId)).toBeNull();
      expect(await stage.ledger.trigger({ ...order, nonce: 'again' })).toMatchObject({ verdict: 'claimed' });
      const again = await stage.begun(order.runId);
      await stage.ledger.finish(again, { kind: 'succeeded' });
      expect((await stage.run(order.runId)).result).toBeNull();
    });
  });

  describe('previousSuccess', () => {
    const idBefore = async (runId: string) => (await stage.ledger.previousSuccess(runId))?.id ?? null;

    it('finds the latest run before one that succeeded, with its result', async () => {
      const [first, second] = [await returned(1, '1'), await returned(2, '{"cursor":2}')];
      const third = await stage.claimed(3);
      const found = await stage.ledger.previousSuccess(third);
      expect(found).toEqual(await stage.run(second));
      expect(found?.result).toBe('{"cursor":2}');
      expect(await idBefore(second)).toBe(first);
    });

    it('passes over runs that failed, wait or were skipped, and runs after it', async () => {
      const first = await returned(1, '1');
      await failed(2);
      await stage.claimed(3, { skips: [] });
      await stage.ledger.claim(await stage.request(4, { overlap: 'skip' }));
      const fifth = await stage.claimed(5);
      await returned(6, '6');
      expect(await idBefore(fifth)).toBe(first);
    });

    it('answers null for the first run, one that is not on record, and after the success was forgotten', async () => {
      const first = await returned(1, '1');
      expect(await idBefore(first)).toBeNull();
      expect(await idBefore(stage.idOf(9))).toBeNull();
      const second = await stage.claimed(2);
      expect(await idBefore(second)).toBe(first);
      await stage.forget(1);
      expect(await idBefore(second)).toBeNull();
    });

    it('answers the same for each attempt of a run', async () => {
      const first = await returned(1, '1');
      const attempt = await stage.begun(await stage.enqueued(2));
      expect(await idBefore(attempt.runId)).toBe(first);
      await stage.takeover(attempt);
      expect(await idBefore(attempt.runId)).toBe(first);
    });

    it('looks back over hundreds of failures', async () => {
      const first = await returned(1, '1');
      const cancelled = { by: 'ada', graceMs: 0 };
      for (let n = 2; n <= 261; n += 1) await stage.ledger.cancel(await stage.claimed(n), cancelled);
      expect(await idBefore(await stage.claimed(262))).toBe(first);
    });
  });
}
