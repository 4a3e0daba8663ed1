import { beforeEach, describe, expect, it } from 'vitest';
import type { AttemptRef, TriggerRequest } from '@fencepost/ledger';
import { Stage, type MakeLedgerHarness } from './stage.js';

const GO = { verdict: 'go', unknown: null };

/** A run that is asked for in place of one that failed: what is done stays done. */
export function rerunContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  let attempt: AttemptRef;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
    attempt = await stage.begun(await stage.enqueued(1));
  });

  async function rerun(over: Partial<TriggerRequest> = {}): Promise<AttemptRef> {
    const request = stage.order({ rerunOf: attempt.runId, ...over });
    expect(await stage.ledger.trigger(request)).toEqual({ verdict: 'claimed', runId: request.runId });
    return stage.begun(request.runId);
  }

  async function fail(): Promise<void> {
    await stage.ledger.finish(attempt, { kind: 'failed', error: 'it broke' });
  }

  describe('a run again', () => {
    it('gets what is done of the other, with its result and its hash', async () => {
      await stage.beginEffect(attempt, 'mail', { payloadHash: 'h1' });
      await stage.finishEffect(attempt, 'mail', '{"id":7}');
      await stage.beginEffect(attempt, 'two\nlines 🦉');
      await stage.finishEffect(attempt, 'two\nlines 🦉', '1');
      await fail();
      const again = await rerun();
      const done = { verdict: 'done', result: '{"id":7}', payloadHash: 'h1' };
      expect(await stage.beginEffect(again, 'mail')).toEqual(done);
      expect(await stage.beginEffect(again, 'two\nlines 🦉')).toMatchObject({ verdict: 'done', result: '1' });
    });

    it('begins everything else anew: nothing of it is unknown', async () => {
      await stage.beginEffect(attempt, 'begun');
      await stage.beginEffect(attempt, 'failed');
      await stage.failEffect(attempt, 'failed');
      await fail();
      const again = await rerun();
      expect(await stage.ledger.effects(again.runId)).toEqual([]);
      expect(await stage.beginEffect(again, 'begun', { ifUnknown: 'tell' })).toEqual(GO);
      expect(await stage.beginEffect(again, 'failed', { ifUnknown: 'tell' })).toEqual(GO);
    });

    it('gets the items that are done, and no others', async () => {
      const finished = [
        { key: 'a', kind: 'done' } as const,
        { key: 'b', kind: 'failed', error: 'x' } as const,
        { key: 'd/\n🦉', kind: 'done' } as const,
      ];
      await stage.ledger.advanceItems(attempt, 'mails', { finished: [], begun: ['a', 'b', 'c', 'd/\n🦉'] });
      await stage.ledger.advanceItems(attempt, 'mails', { finished, begun: [] });
      await fail();
      const again = await rerun();
      const items = await stage.ledger.items(again.runId, 'mails');
      expect(items.map(({ key, state }) => `${state} ${key}`).toSorted()).toEqual(['done a', 'done d/\n🦉']);
    });

    it('lists what it got before what it does itself, in the order of the other', async () => {
      for (const name of ['c', 'x', 'b', 'a']) {
        await stage.beginEffect(attempt, name);
        if (name !== 'x') await stage.finishEffect(attempt, name, '1');
      }
      await fail();
      const again = await rerun();
      await stage.beginEffect(again, 'x');
      expect((await stage.ledger.effects(again.runId)).map(({ name }) => name)).toEqual(['c', 'b', 'a', 'x']);
    });

    it('never overwrites what it got', async () => {
      await stage.beginEffect(attempt, 'mail');
      await stage.finishEffect(attempt, 'mail', '1');
      await fail();
      const again = await rerun();
      expect(await stage.finishEffect(again, 'mail', '2')).toBe('known');
      expect(await stage.failEffect(again, 'mail')).toBe('known');
      expect(await stage.beginEffect(again, 'mail')).toMatchObject({ verdict: 'done', result: '1' });
    });

    it('leaves the other as it was, and is left alone by what happens to it later', async () => {
      await stage.beginEffect(attempt, 'mail');
      await stage.beginEffect(attempt, 'late');
      await stage.finishEffect(attempt, 'mail', '1');
      await fail();
      const before = [await stage.run(attempt.runId), await stage.ledger.effects(attempt.runId)];
      const again = await rerun();
      await stage.beginEffect(again, 'own');
      expect([await stage.run(attempt.runId), await stage.ledger.effects(attempt.runId)]).toEqual(before);
      await stage.finishEffect(attempt, 'late', '2');
      await stage.forget(1);
      expect(await stage.beginEffect(again, 'late')).toEqual(GO);
      expect(await stage.beginEffect(again, 'mail')).toMatchObject({ verdict: 'done', result: '1' });
    });

    it('is refused when the other is not on record: what it had done would be done again', async () => {
      const request = stage.order({ rerunOf: stage.idOf(9) });
      expect(await stage.ledger.trigger(request)).toEqual({ verdict: 'forgotten' });
      expect(await stage.ledger.readRun(request.runId)).toBeNull();
    });

    it('gets the items that are done, also where no effect is on record', async () => {
      await stage.ledger.advanceItems(attempt, 'mails', { finished: [{ key: 'a', kind: 'done' }], begun: [] });
      await fail();
      const again = await rerun();
      expect(await stage.ledger.items(again.runId, 'mails')).toMatchObject([{ key: 'a', state: 'done' }]);
    });

    it('is one run when the call is sent again: what it did itself stays', async () => {
      await stage.beginEffect(attempt, 'mail');
      await stage.finishEffect(attempt, 'mail', '1');
      await fail();
      const request = stage.order({ rerunOf: attempt.runId });
      const reply = await stage.ledger.trigger(request);
      const again = await stage.begun(request.runId);
      await stage.beginEffect(again, 'own');
      const before = await stage.ledger.effects(again.runId);
      expect(await stage.ledger.trigger(request)).toEqual(reply);
      expect(await stage.ledger.effects(again.runId)).toEqual(before);
    });
  });
}
