import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseFence } from '@fencepost/lease';
import { ASK, MINUTE, SUCCEEDED, WatchStage } from './watch-stage.js';

describe('a world that has been healed', () => {
  async function ranTwice(): Promise<WatchStage> {
    const stage = new WatchStage();
    for (let n = 1; n <= 2; n += 1) await stage.ledger.finish(await stage.begin(await stage.claim(n)), SUCCEEDED);
    return stage;
  }

  it('is not settled while an instant has neither a run nor a skip (I2)', async () => {
    const stage = await ranTwice();
    await stage.clock.advance(2 * MINUTE);
    await stage.ledger.claim(stage.request(4, { cursor: stage.instant(2) }));
    await expect(stage.settle()).rejects.toThrow('I2: tick@1893456180000 has no run, and no recorded skip');
  });

  it('is not settled while an instant ran and was written off (I2)', async () => {
    const stage = await ranTwice();
    const account = await stage.ledger.account('tick', 0, stage.clock.now() + 1);
    const skips = [{ after: stage.start, through: stage.instant(1), reason: 'misfire' } as const];
    stage.lie({ account: async () => ({ ...account, skips }) });
    await expect(stage.settle()).rejects.toThrow('I2: tick@1893456060000 ran (schedule), and lies in a range');
  });

  it('is not settled while a cron is overdue', async () => {
    const stage = await ranTwice();
    await stage.clock.advance(2 * MINUTE);
    await expect(stage.settle()).rejects.toThrow('liveness: tick is at 1893456120000');
  });

  it('is not settled while a run is open (I9)', async () => {
    const stage = await ranTwice();
    await stage.claim(3);
    await expect(stage.settle()).rejects.toThrow('I9: tick@1893456180000 is still claimed after');
  });

  it('is not settled when the records are not what was promised (I6, I8)', async () => {
    const stage = await ranTwice();
    const runs = await stage.ledger.runs('tick', 9);
    stage.lie({ runs: async () => runs.map((run) => ({ ...run, state: 'failed' })) });
    await expect(stage.settle()).rejects.toThrow('I6: tick@1893456060000 is failed at 1, not succeeded at 1');
    const other = new WatchStage();
    const attempt = await other.running();
    await other.ledger.beginEffect(attempt, ASK);
    await other.ledger.finishEffect(attempt, 'ask-mail', { kind: 'done', result: '1' });
    await other.ledger.finish(attempt, SUCCEEDED);
    other.lie({ effects: async () => [] });
    await expect(other.settle()).rejects.toThrow('I8: tick@1893456060000 has done "ask-mail"');
  });

  it('is not settled when a sink saw what it should not have', async () => {
    const stage = await ranTwice();
    const act = { runId: 'a', key: 'a/ask-mail', fence: parseFence('1') };
    stage.sinks.asked(act);
    stage.sinks.asked({ ...act, fence: parseFence('2') });
    await expect(stage.settle()).rejects.toThrow('sinks: 1 effects were repeated without asking');
  });

  it('is not settled when a delivery is not counted (I9)', async () => {
    const stage = new WatchStage();
    const runId = await stage.claim(1);
    stage.lie({ redeliver: async () => ({ runId, delivery: 1 }) });
    await stage.ledger.redeliver({ runId, delivery: 1 }, randomUUID());
    expect(stage.broken).toContain('I9: tick@1893456060000 got delivery 1 after 1');
  });
});
