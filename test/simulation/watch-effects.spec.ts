import { describe, expect, it } from 'vitest';
import { ASK, WatchStage } from './watch-stage.js';

describe('what effects are promised', () => {
  it('is broken by one that begins again and nobody was asked (I7)', async () => {
    const stage = new WatchStage();
    const first = await stage.running();
    await stage.ledger.beginEffect(first, ASK);
    const second = await stage.takeOver(first);
    await stage.ledger.beginEffect(second, { name: 'ask-mail', ifUnknown: 'go' });
    expect(stage.broken).toContain('I7: tick@1893456060000 began "ask-mail" again, and nobody was asked');
  });

  it('is broken by one that begins again without a word of the first time (I7)', async () => {
    const stage = new WatchStage();
    const first = await stage.running();
    await stage.ledger.beginEffect(first, { name: 'row', ifUnknown: 'go' });
    const second = await stage.takeOver(first);
    stage.lie({ beginEffect: async () => ({ verdict: 'go', unknown: null }) });
    await stage.ledger.beginEffect(second, { name: 'row', ifUnknown: 'go' });
    expect(stage.broken).toContain('I7: tick@1893456060000 began "row" again without a word');
  });

  it('is broken by an item that begins again and nobody was asked (I7)', async () => {
    const stage = new WatchStage();
    const first = await stage.running();
    await stage.ledger.advanceItems(first, 'ask-items', { begun: ['a'], finished: [] });
    const second = await stage.takeOver(first);
    await stage.ledger.advanceItems(second, 'ask-items', { begun: ['a'], finished: [] });
    expect(stage.broken).toContain('I7: tick@1893456060000 began "ask-items/a" again');
  });

  it('is broken by a run that begins while it waits for a person (I7)', async () => {
    const stage = new WatchStage();
    const attempt = await stage.running();
    const question = { effect: 'ask-mail', item: null, unknownReason: 'lost', since: 0 } as const;
    await stage.ledger.finish(attempt, { kind: 'uncertain', error: 'nobody knows', question });
    stage.answerBegun(attempt.fence + 1, 2);
    await stage.begin(attempt.runId);
    expect(stage.broken).toContain('I7: tick@1893456060000 began while it waits for a person');
  });

  it('is broken by a done that is done again, or with another result (I8)', async () => {
    for (const reply of [
      { verdict: 'go', unknown: null },
      { verdict: 'done', result: '2', payloadHash: null },
    ] as const) {
      const stage = new WatchStage();
      const attempt = await stage.running();
      await stage.ledger.beginEffect(attempt, ASK);
      await stage.ledger.finishEffect(attempt, 'ask-mail', { kind: 'done', result: '1' });
      stage.lie({ beginEffect: async () => reply });
      await stage.ledger.beginEffect(attempt, ASK);
      expect(stage.broken).toContain('I8: tick@1893456060000');
    }
  });

  it('is broken by a late done that is not kept (I8)', async () => {
    const stage = new WatchStage();
    const first = await stage.running();
    await stage.ledger.beginEffect(first, ASK);
    await stage.takeOver(first);
    stage.lie({ finishEffect: async () => 'stale' });
    await stage.ledger.finishEffect(first, 'ask-mail', { kind: 'done', result: '1' });
    expect(stage.broken).toContain('I8: tick@1893456060000 lost the word that "ask-mail" is done');
  });

  it('is broken by a failure that is written over a done (I8)', async () => {
    const stage = new WatchStage();
    const attempt = await stage.running();
    await stage.ledger.beginEffect(attempt, ASK);
    await stage.ledger.finishEffect(attempt, 'ask-mail', { kind: 'done', result: '1' });
    stage.lie({ finishEffect: async () => 'recorded' });
    await stage.ledger.finishEffect(attempt, 'ask-mail', { kind: 'failed', error: 'no' });
    expect(stage.broken).toContain('I8: tick@1893456060000 did "ask-mail" with 1');
  });
});
