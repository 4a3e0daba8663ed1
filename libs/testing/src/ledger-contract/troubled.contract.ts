import { beforeEach, describe, expect, it } from 'vitest';
import { notableContract } from './notable.contract.js';
import { LONG_MS, Stage, type MakeLedgerHarness } from './stage.js';

/** Which runs have failed, which wait for a person, and which crons an examination reads more of. */
export function troubledContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
  });

  async function idsIn(state: 'failed' | 'uncertain', limit = 10, crons = [stage.cron]): Promise<string[]> {
    return (await stage.ledger.runsIn(state, crons, limit)).map(({ id }) => id);
  }

  async function failed(n: number): Promise<string> {
    const attempt = await stage.begun(await stage.claimed(n));
    await stage.ledger.finish(attempt, { kind: 'failed', error: `${n} broke` });
    return attempt.runId;
  }

  describe('the runs that have failed', () => {
    it('are those alone, the latest first, and no more than were asked for', async () => {
      for (const n of [1, 2]) await failed(n);
      await stage.succeeded(3);
      await stage.begun(await stage.claimed(4));
      await failed(5);
      const expected = [5, 2, 1].map((n) => stage.idOf(n));
      expect(await idsIn('failed')).toEqual(expected);
      expect(await idsIn('failed', 2)).toEqual(expected.slice(0, 2));
      expect(await idsIn('failed', 0)).toEqual([]);
      expect(await idsIn('uncertain')).toEqual([]);
    });

    it('go by when they failed, whatever their instants are', async () => {
      const [early, late] = [await stage.begun(await stage.claimed(1)), await stage.begun(await stage.claimed(2))];
      await stage.ledger.finish(late, { kind: 'failed', error: 'x' });
      await stage.harness.advance(2);
      await stage.ledger.finish(early, { kind: 'failed', error: 'x' });
      expect(await idsIn('failed')).toEqual([early.runId, late.runId]);
      expect(await idsIn('failed', 1)).toEqual([early.runId]);
    });

    it('count one whose attempts are used up, and one that was given up', async () => {
      const attempt = await stage.begun(await stage.claimed(1));
      await stage.lapse(attempt);
      await stage.ledger.begin(stage.attempt(attempt.runId, { maxAttempts: 1 }));
      const other = await stage.uncertain(2);
      await stage.ledger.resolve(other.runId, await stage.answer(other.runId, 'give-up'));
      expect((await idsIn('failed')).toSorted()).toEqual([1, 2].map((n) => stage.idOf(n)));
    });

    it('are gone when they are forgotten, or when their time is up', async () => {
      await failed(1);
      await stage.forget(0);
      expect(await idsIn('failed')).toEqual([]);
      stage = await Stage.of(makeHarness, { keepMs: 30 });
      await failed(1);
      await stage.harness.advance(40);
      expect(await idsIn('failed')).toEqual([]);
    });
  });

  describe('the runs that wait for a person', () => {
    it('are those alone, the latest first, with what is asked', async () => {
      for (const n of [1, 2, 3]) await stage.uncertain(n, { effect: `effect ${n}` });
      await failed(4);
      const found = await stage.ledger.runsIn('uncertain', [stage.cron], 2);
      expect(found.map(({ id, unresolvedEffect }) => [id, unresolvedEffect?.effect])).toEqual([
        [stage.idOf(3), 'effect 3'],
        [stage.idOf(2), 'effect 2'],
      ]);
    });

    it('go by since when they do: one that is asked about again comes first', async () => {
      const first = await stage.uncertain(1);
      await stage.harness.advance(2);
      await stage.uncertain(2);
      expect(await idsIn('uncertain')).toEqual([2, 1].map((n) => stage.idOf(n)));
      await stage.ledger.resolve(first.runId, await stage.answer(first.runId, 'not-done'));
      await stage.harness.advance(2);
      await stage.leaveUncertain(await stage.begun(first.runId));
      expect(await idsIn('uncertain')).toEqual([1, 2].map((n) => stage.idOf(n)));
      expect(await idsIn('uncertain', 1)).toEqual([first.runId]);
    });

    it.each(['done', 'not-done', 'give-up'] as const)('are fewer once one is answered (%s)', async (verdict) => {
      for (const n of [1, 2]) await stage.uncertain(n);
      await stage.ledger.resolve(stage.idOf(2), await stage.answer(stage.idOf(2), verdict));
      expect(await idsIn('uncertain')).toEqual([stage.idOf(1)]);
    });

    it('are fewer once one is cancelled', async () => {
      for (const n of [1, 2]) await stage.uncertain(n);
      await stage.ledger.cancel(stage.idOf(1), { by: 'ada', graceMs: LONG_MS });
      expect(await idsIn('uncertain')).toEqual([stage.idOf(2)]);
    });
  });

  notableContract(makeHarness);

  describe('the troubled runs of several crons', () => {
    it('are as many of each as were asked for, and none of the others', async () => {
      const crons = ['a', 'b', 'c'].map((name) => `${stage.cron}-${name}`);
      for (const cron of crons) {
        for (let n = 1; n <= 3; n += 1) {
          const request = stage.order({ runId: `${cron}@manual-${n}` });
          await stage.ledger.trigger(request);
          await stage.ledger.finish(await stage.begun(request.runId), { kind: 'failed', error: 'x' });
        }
      }
      const found = await idsIn('failed', 2, crons.slice(0, 2));
      const expected = crons.slice(0, 2).flatMap((cron) => [`${cron}@manual-2`, `${cron}@manual-3`]);
      expect(found.toSorted()).toEqual(expected);
    });
  });
}
