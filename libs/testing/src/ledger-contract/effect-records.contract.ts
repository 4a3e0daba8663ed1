import { beforeEach, describe, expect, it } from 'vitest';
import type { AttemptRef } from '@fencepost/ledger';
import { Stage, type MakeLedgerHarness } from './stage.js';

/** What is listed of the effects of a run. */
export function effectRecordsContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  let attempt: AttemptRef;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
    attempt = await stage.begun(await stage.enqueued(1));
  });

  describe('the effects of a run', () => {
    it('come in the order they were begun, whatever became of them in which order', async () => {
      const names = Array.from({ length: 40 }, (_, n) => `step ${(n * 7) % 40}`);
      for (const name of names) await stage.beginEffect(attempt, name);
      for (const name of names.toReversed()) await stage.finishEffect(attempt, name, '1');
      expect((await stage.ledger.effects(attempt.runId)).map(({ name }) => name)).toEqual(names);
    });

    it('say of each what became of it, when, and by whom', async () => {
      const before = await stage.harness.now();
      await stage.beginEffect(attempt, 'begun', { payloadHash: 'h1' });
      await stage.beginEffect(attempt, 'done');
      await stage.finishEffect(attempt, 'done', '{"id":7}');
      await stage.beginEffect(attempt, 'failed');
      await stage.failEffect(attempt, 'failed', 'it broke');
      const after = await stage.harness.now();
      const since = expect.any(Number);
      const { fence } = attempt;
      const records = await stage.ledger.effects(attempt.runId);
      expect(records).toEqual([
        { name: 'begun', state: 'begun', since, finishedAt: null, fence, result: null, error: null, payloadHash: 'h1' },
        {
          ...{ name: 'done', state: 'done', since, finishedAt: since, fence },
          ...{ result: '{"id":7}', error: null, payloadHash: null },
        },
        {
          ...{ name: 'failed', state: 'failed', since, finishedAt: since, fence },
          ...{ result: null, error: 'it broke', payloadHash: null },
        },
      ]);
      for (const record of records) {
        expect(record.since).toBeGreaterThanOrEqual(before);
        expect(record.finishedAt ?? record.since).toBeLessThanOrEqual(after);
      }
    });

    it('come with their runs, in the order asked for, and without unknown runs', async () => {
      const { ledger } = stage;
      const other = await stage.enqueued(2);
      await stage.beginEffect(attempt, 'one');
      await stage.finishEffect(attempt, 'one', '{"id":7}');
      await stage.beginEffect(attempt, 'other');
      const asked = [other, `${attempt.runId.split('@')[0]}@1`, attempt.runId];
      const [second, first, ...others] = await ledger.readWithEffects(asked);
      expect(others).toEqual([]);
      expect(second).toEqual({ run: await ledger.readRun(other), effects: [] });
      expect(first).toEqual({
        run: await ledger.readRun(attempt.runId),
        effects: await ledger.effects(attempt.runId),
      });
      expect(first?.effects.map(({ name, state }) => [name, state])).toEqual([
        ['one', 'done'],
        ['other', 'begun'],
      ]);
      expect(await ledger.readWithEffects([])).toEqual([]);
    });

    it('name the attempt that ended one, and the first that began one', async () => {
      for (const name of ['begun', 'done']) await stage.beginEffect(attempt, name);
      const next = await stage.takeover(attempt);
      for (const name of ['begun', 'done']) await stage.beginEffect(next, name);
      await stage.finishEffect(next, 'done', '1');
      const fences = (await stage.ledger.effects(attempt.runId)).map(({ name, fence }) => [name, fence]);
      expect(fences).toEqual([
        ['begun', attempt.fence],
        ['done', next.fence],
      ]);
    });

    it('are none for a run without any, and for one that nobody knows', async () => {
      expect(await stage.ledger.effects(attempt.runId)).toEqual([]);
      expect(await stage.ledger.effects(stage.idOf(9))).toEqual([]);
    });

    it('are those of one run alone', async () => {
      const other = await stage.begun(await stage.claimed(2));
      await stage.beginEffect(attempt, 'mine');
      await stage.beginEffect(other, 'theirs');
      expect((await stage.ledger.effects(attempt.runId)).map(({ name }) => name)).toEqual(['mine']);
    });

    it('are kept with the run when it is over, and forgotten with it', async () => {
      await stage.beginEffect(attempt, 'mail');
      await stage.finishEffect(attempt, 'mail', '1');
      await stage.ledger.advanceItems(attempt, 'mails', { finished: [], begun: ['a'] });
      await stage.ledger.finish(attempt, { kind: 'failed', error: 'it broke' });
      expect(await stage.ledger.effects(attempt.runId)).toMatchObject([{ name: 'mail', state: 'done' }]);
      expect(await stage.ledger.items(attempt.runId, 'mails')).toHaveLength(1);
      expect(await stage.forget(0)).toBe(1);
      expect(await stage.ledger.effects(attempt.runId)).toEqual([]);
      expect(await stage.ledger.items(attempt.runId, 'mails')).toEqual([]);
    });
  });
}
