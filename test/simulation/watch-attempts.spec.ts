import { describe, expect, it } from 'vitest';
import { ASK, MINUTE, ORDER, SUCCEEDED, WatchStage } from './watch-stage.js';

describe('what attempts are promised', () => {
  it('is broken by a fence that is not larger (I4)', async () => {
    const stage = new WatchStage();
    const { fence } = await stage.running();
    await stage.claim(2);
    stage.answerBegun(fence, 1);
    await stage.begin(stage.idOf(2));
    expect(stage.broken).toContain('I4: tick@1893456120000 began under fence');
  });

  it('is broken by a second attempt beside one that is alive (I5)', async () => {
    const stage = new WatchStage();
    const { fence, runId } = await stage.running();
    stage.answerBegun(fence + 1, 2);
    await stage.begin(runId);
    expect(stage.broken).toContain('I5: tick@1893456060000 began while attempt 1 holds it');
  });

  it('is broken by a run that begins beside one it has to wait for', async () => {
    const stage = new WatchStage();
    const { fence } = await stage.running();
    await stage.clock.advance(MINUTE);
    await stage.ledger.claim(stage.request(2, { overlap: 'queue-all' }));
    stage.answerBegun(fence + MINUTE * 1_000, 1);
    await stage.begin(stage.idOf(2));
    expect(stage.broken).toContain('overlap: tick@1893456120000 began beside tick@1893456060000');
  });

  it('is broken by a stale attempt that keeps, ends or goes on with its run (I5)', async () => {
    for (const act of ['heartbeat', 'finish', 'beginEffect', 'finishEffect', 'advanceItems'] as const) {
      const stage = new WatchStage();
      const first = await stage.running();
      await stage.takeOver(first);
      stage.lie({
        ...{ heartbeat: async () => 'extended', finish: async () => 'succeeded', advanceItems: async () => 'recorded' },
        ...{ beginEffect: async () => ({ verdict: 'go', unknown: null }), finishEffect: async () => 'recorded' },
      });
      await {
        heartbeat: () => stage.ledger.heartbeat(first, MINUTE),
        finish: () => stage.ledger.finish(first, SUCCEEDED),
        beginEffect: () => stage.ledger.beginEffect(first, ASK),
        finishEffect: () => stage.ledger.finishEffect(first, 'ask-mail', { kind: 'done', result: '1' }),
        advanceItems: () => stage.ledger.advanceItems(first, 'ask-items', { begun: ['a'], finished: [] }),
      }[act]();
      expect(stage.broken).toContain('I5: tick@1893456060000');
    }
  });

  it('is broken by a lease that is revived after its end (I5)', async () => {
    const stage = new WatchStage();
    const attempt = await stage.running();
    await stage.clock.advance(6 * MINUTE);
    stage.lie({ heartbeat: async () => 'extended' });
    await stage.ledger.heartbeat(attempt, MINUTE);
    expect(stage.broken).toContain('I5: tick@1893456060000 was extended');
  });

  it('is broken by a run that is over and begins again (I6)', async () => {
    const stage = new WatchStage();
    const attempt = await stage.running();
    await stage.ledger.finish(attempt, SUCCEEDED);
    stage.answerBegun(attempt.fence + 1, 2);
    await stage.begin(attempt.runId);
    expect(stage.broken).toContain('I6: tick@1893456060000 was succeeded and began');
  });

  it('is broken by an end that becomes another one (I6)', async () => {
    const stage = new WatchStage();
    const attempt = await stage.running();
    await stage.ledger.finish(attempt, SUCCEEDED);
    const run = await stage.ledger.readRun(attempt.runId);
    stage.lie({ readRun: async () => run && { ...run, state: 'cancelled' } });
    await stage.ledger.cancel(attempt.runId, { ...ORDER, graceMs: 0 });
    expect(stage.broken).toContain('I6: tick@1893456060000 was succeeded and became cancelled');
  });

  it('is broken by a step that the state table does not have', async () => {
    const stage = new WatchStage();
    await stage.claim(1);
    const run = await stage.ledger.readRun(stage.idOf(1));
    stage.lie({ readRun: async () => run && { ...run, state: 'uncertain' } });
    await stage.ledger.confirm([stage.idOf(1)]);
    expect(stage.broken).toContain('table: tick@1893456060000 went from claimed to uncertain, by confirm');
  });

  it('is broken by an attempt more than there may be, or one that is not counted (I10)', async () => {
    const stage = new WatchStage();
    const attempt = await stage.running();
    await stage.clock.advance(6 * MINUTE);
    stage.answerBegun(attempt.fence + 1, 2);
    await stage.begin(attempt.runId, { maxAttempts: 1 });
    expect(stage.broken).toContain('I10: tick@1893456060000 began attempt 2 of 1');
    const other = new WatchStage();
    const first = await other.running();
    await other.clock.advance(6 * MINUTE);
    other.answerBegun(first.fence + 1, 1);
    await other.begin(first.runId);
    expect(other.broken).toContain('I10: tick@1893456060000 began attempt 1, expected 2');
  });
});
