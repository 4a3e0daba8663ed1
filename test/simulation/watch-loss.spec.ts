import { describe, expect, it } from 'vitest';
import { ASK, SUCCEEDED, WatchStage } from './watch-stage.js';

describe('a history that is lost', () => {
  it('is a breach when nobody says so, or the ledger is durable', async () => {
    const stage = new WatchStage();
    await stage.claim(1);
    stage.forgetAll();
    await stage.ledger.confirm([stage.idOf(1)]);
    expect(stage.broken).toContain('I2: the ledger forgot tick@1893456060000, which is claimed');
    const durable = new WatchStage();
    durable.watch.onHistoryLost();
    expect(durable.broken).toContain('a durable ledger lost its history');
  });

  it('is not held against a ledger that goes on from what is left', async () => {
    const stage = new WatchStage({ durable: false });
    await stage.running();
    stage.forgetAll();
    stage.watch.onHistoryLost();
    await stage.clock.advance(1);
    await stage.ledger.finish(await stage.begin(await stage.claim(1)), SUCCEEDED);
    expect(stage.watch.violation).toBeNull();
  });

  it('leaves open whether a late word still counts, and who has the run', async () => {
    for (const reply of ['late', 'stale'] as const) {
      const stage = new WatchStage({ durable: false });
      const first = await stage.running();
      await stage.ledger.beginEffect(first, ASK);
      stage.watch.onHistoryLost();
      const second = await stage.takeOver(first);
      stage.lie({ finishEffect: async () => reply });
      await stage.ledger.finishEffect(first, 'ask-mail', { kind: 'done', result: '1' });
      expect(await stage.ledger.finish(second, SUCCEEDED)).toBe('succeeded');
      stage.watch.check();
    }
  });

  it('forgives no fence that a sink has seen (I4)', async () => {
    const stage = new WatchStage({ durable: false });
    const { fence } = await stage.running();
    stage.forgetAll();
    stage.watch.onHistoryLost();
    await stage.claim(1);
    stage.answerBegun(fence, 1);
    await stage.begin(stage.idOf(1));
    expect(stage.broken).toContain('I4: tick@1893456060000 began under fence');
  });
});
