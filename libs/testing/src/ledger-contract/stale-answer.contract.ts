import { beforeEach, describe, expect, it } from 'vitest';
import type { UnresolvedEffectRef, ResolveRequest } from '@fencepost/ledger';
import { Stage, type MakeLedgerHarness } from './stage.js';

/** An answer counts for the question that it names, whatever the run has come to ask meanwhile. */
export function staleAnswerContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness, { sweepMs: 1 });
  });

  /** A run that asks about one item, and what is recorded of it. */
  async function asking(item: string | null) {
    const { runId } = await stage.uncertain(1, { item });
    const recorded = async () => ({
      run: await stage.run(runId),
      effects: await stage.ledger.effects(runId),
      items: await stage.ledger.items(runId, 'charge'),
    });
    return { runId, recorded };
  }

  describe('an answer to another question', () => {
    it.each<[string, string | null, Partial<UnresolvedEffectRef>]>([
      ['attempt', null, { attempt: 2 }],
      ['effect', null, { effect: 'charges' }],
      ['moment', null, { since: 1 }],
      ['item', 'alice', { item: 'bob' }],
      ['effect, where the run asks about an item', 'alice', { item: null }],
      ['item, where the run asks about the effect', null, { item: '' }],
    ])('is refused with what the run asks: another %s', async (_what, item, over) => {
      const { runId, recorded } = await asking(item);
      const before = await recorded();
      for (const verdict of ['done', 'not-done', 'give-up'] as const) {
        const request = await stage.answer(runId, verdict);
        const reply = await stage.ledger.resolve(runId, {
          ...request,
          unresolvedEffect: { ...request.unresolvedEffect, ...over },
        });
        expect(reply).toEqual({ verdict: 'asks-another', attempt: 1, unresolvedEffect: before.run.unresolvedEffect });
      }
      expect(await recorded()).toEqual(before);
    });

    it('is refused again when it is sent again, and the right one counts after it', async () => {
      const { runId } = await asking('alice');
      const right = await stage.answer(runId, 'done');
      const wrong: ResolveRequest = { ...right, unresolvedEffect: { ...right.unresolvedEffect, item: 'bob' } };
      expect((await stage.ledger.resolve(runId, wrong)).verdict).toBe('asks-another');
      expect((await stage.ledger.resolve(runId, wrong)).verdict).toBe('asks-another');
      expect(await stage.ledger.resolve(runId, right)).toMatchObject({ verdict: 'resolved', state: 'enqueued' });
    });

    it('is refused when the run went on and asks about the next item', async () => {
      const { runId } = await asking('alice');
      const stale = await stage.answer(runId, 'not-done');
      await stage.ledger.resolve(runId, await stage.answer(runId, 'done'));
      await stage.leaveUncertain(await stage.begun(runId), { item: 'bob' });
      expect(await stage.ledger.resolve(runId, stale)).toMatchObject({
        ...{ verdict: 'asks-another', attempt: 2 },
        unresolvedEffect: { effect: 'charge', item: 'bob' },
      });
      expect(await stage.ledger.items(runId, 'charge')).toEqual([
        expect.objectContaining({ key: 'alice', state: 'done' }),
        expect.objectContaining({ key: 'bob', state: 'begun' }),
      ]);
    });

    it('is refused when the run went on and asks about the same item again', async () => {
      const { runId } = await asking('alice');
      const stale = await stage.answer(runId, 'done');
      await stage.ledger.resolve(runId, await stage.answer(runId, 'not-done'));
      await stage.leaveUncertain(await stage.begun(runId), { item: 'alice' });
      expect(await stage.ledger.resolve(runId, stale)).toMatchObject({ verdict: 'asks-another', attempt: 2 });
    });

    it.each([0, 1.5, Number.NaN])('is refused for an attempt that is none: %s', async (attempt) => {
      const { runId } = await asking(null);
      const request = await stage.answer(runId, 'done');
      const answer = stage.ledger.resolve(runId, {
        ...request,
        unresolvedEffect: { ...request.unresolvedEffect, attempt },
      });
      await expect(answer).rejects.toThrow(RangeError);
    });
  });
}
