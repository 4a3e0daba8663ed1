import { describe, expect, it } from 'vitest';
import { parseFence } from '@fencepost/lease';
import type { TriggerRequest } from '@fencepost/ledger';
import { MINUTE, ORDER, WatchStage, ASK, SUCCEEDED } from './watch-stage.js';

const TRIGGER: Omit<TriggerRequest, 'runId' | 'nonce' | 'scheduledAt'> = {
  ...{ reason: 'backfill', generation: 1, by: 'ada', payload: null, handler: null },
  ...{ missed: null, overlap: 'allow' },
};

describe('what schedulers are promised', () => {
  it('is broken by a second run of an instant (I1)', async () => {
    const stage = new WatchStage();
    await stage.claim(1);
    stage.forgetAll();
    await stage.ledger.claim(stage.request(1));
    expect(stage.broken).toContain('I1: tick@1893456060000 was claimed again');
  });

  it('is broken by a backfill of an instant that has a run, or is ahead (I1)', async () => {
    const stage = new WatchStage();
    const runId = await stage.claim(2);
    stage.lie({ trigger: async () => ({ verdict: 'claimed', runId }) });
    await stage.ledger.trigger({ ...TRIGGER, runId, nonce: 'n', scheduledAt: stage.instant(2) });
    expect(stage.broken).toContain('I1: tick@1893456120000 was made again');
    const other = new WatchStage();
    other.lie({ trigger: async () => ({ verdict: 'claimed', runId }) });
    await other.ledger.trigger({ ...TRIGGER, runId, nonce: 'n', scheduledAt: other.instant(2) });
    expect(other.broken).toContain('I1: tick@1893456120000 was made for an instant that is ahead');
  });

  it('is broken by a claim that leaves out what came before (I2)', async () => {
    const stage = new WatchStage();
    await stage.claim(1);
    await stage.clock.advance(3 * MINUTE);
    stage.lie({ claim: async () => ({ verdict: 'recorded' }) });
    await stage.ledger.claim(stage.request(3));
    expect(stage.broken).toContain('I2: tick went from');
  });

  it('is broken by ranges that overlap, and by an instant that is not due (I2)', async () => {
    const stage = new WatchStage();
    stage.lie({ claim: async () => ({ verdict: 'recorded' }) });
    const [after, through] = [stage.instant(0), stage.instant(2)];
    const skips = [1, 2].map(() => ({ after, through, reason: 'misfire' }) as const);
    await stage.ledger.claim(stage.request(1, { skips, occurrence: null }));
    expect(stage.broken).toContain('I2: tick skips');
    const early = new WatchStage();
    early.lie({ claim: async () => ({ verdict: 'recorded' }) });
    await early.ledger.claim(early.request(1));
    expect(early.broken).toContain('I2: tick went on to 1893456060000, due in 60000 ms');
  });

  it('is broken by a misfire that is within its grace (grace)', async () => {
    const claim = async (graceMs: number) => {
      const stage = new WatchStage({ graceMs });
      await stage.clock.advance(3 * MINUTE);
      const skips = [{ after: stage.start, through: stage.instant(2), reason: 'misfire' } as const];
      await stage.ledger.claim(stage.request(3, { cursor: null, skips }));
      return stage.broken;
    };
    expect(await claim(MINUTE)).toBe(
      'grace: tick left out 1893456120000 as a misfire, 60000 ms late and within its grace',
    );
    expect(await claim(MINUTE - 1)).toContain('no violation');
  });

  it('is broken by a cursor that goes back by itself (I2)', async () => {
    const stage = new WatchStage();
    await stage.claim(2);
    const before = await stage.ledger.readCron('tick');
    stage.lie({ readCron: async () => ({ ...before, cursor: stage.instant(1) }) });
    await stage.ledger.readCron('tick');
    expect(stage.broken).toContain('I2: tick shows cursor');
  });

  it.each([
    ['a lower fence', { fence: parseFence('6') }, 'accepted fence 6 (term 7) after 7 (term 7)'],
    ['the same fence in another term', { term: 'term 8' }, 'accepted fence 7 (term 8) after 7 (term 7)'],
    ['an older definition', { generation: 0 }, 'accepted generation 0 after 1'],
  ])('is broken by %s that is accepted (I3)', async (_, over, text) => {
    const stage = new WatchStage();
    await stage.claim(1);
    await stage.clock.advance(MINUTE);
    stage.lie({ claim: async () => ({ verdict: 'recorded' }) });
    await stage.ledger.claim(stage.request(2, over));
    expect(stage.broken).toContain(`I3: tick ${text}`);
  });

  it('is broken by a run of a cron that is paused', async () => {
    const stage = new WatchStage();
    await stage.ledger.pause('tick', { ...ORDER, until: null });
    stage.lie({ claim: async () => ({ verdict: 'claimed', runId: stage.idOf(1) }) });
    await stage.clock.advance(MINUTE);
    await stage.ledger.claim(stage.request(1));
    expect(stage.broken).toContain('pause: tick is paused, and 1893456060000 was claimed');
  });
});

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
