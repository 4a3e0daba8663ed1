import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseFence } from '@fencepost/lease';
import { ASK, MINUTE, SUCCEEDED, WatchStage } from './watch-stage.js';

describe('a watched ledger that keeps its word', () => {
  it('is not complained of, and nobody notices the watch', async () => {
    const stage = new WatchStage();
    const first = await stage.running();
    expect(await stage.ledger.beginEffect(first, ASK)).toEqual({ verdict: 'go', unknown: null });
    const second = await stage.takeOver(first);
    expect(await stage.ledger.beginEffect(second, ASK)).toMatchObject({ verdict: 'unknown' });
    expect(await stage.ledger.finishEffect(first, 'ask-mail', { kind: 'done', result: '1' })).toBe('late');
    expect(await stage.ledger.heartbeat(first, MINUTE)).toBe('stale');
    expect(await stage.ledger.finish(first, SUCCEEDED)).toBeNull();
    expect(await stage.ledger.finish(second, SUCCEEDED)).toBe('succeeded');
    stage.watch.check();
    expect(stage.sometimes.counts).toMatchObject({ 'begin: takeover': 1, 'effect: late fact': 1, 'finish: stale': 1 });
  });

  it('may repeat what it has said to the same nonce', async () => {
    const stage = new WatchStage();
    const request = stage.request(1);
    await stage.clock.advance(MINUTE);
    expect(await stage.ledger.claim(request)).toMatchObject({ verdict: 'claimed' });
    expect(await stage.ledger.claim(request)).toMatchObject({ verdict: 'claimed' });
    const attempt = await stage.begin(stage.idOf(1), { nonce: 'n' });
    expect(await stage.begin(stage.idOf(1), { nonce: 'n' })).toEqual(attempt);
    expect(await stage.ledger.finish(attempt, SUCCEEDED)).toBe('succeeded');
    expect(await stage.ledger.finish(attempt, SUCCEEDED)).toBe('succeeded');
    stage.watch.check();
    expect(stage.sometimes.missing()).not.toContain('finish: repeated');
    expect(stage.sometimes.counts).toMatchObject({ 'claim: repeated': 1, 'begin: repeated': 1, 'finish: repeated': 1 });
  });

  it('settles when every instant is accounted for, and nothing is open', async () => {
    const stage = new WatchStage();
    for (let n = 1; n <= 3; n += 1) await stage.ledger.finish(await stage.begin(await stage.claim(n)), SUCCEEDED);
    await stage.clock.advance(MINUTE / 2);
    expect(await stage.settle()).toMatchObject({ instants: 3, runs: 3, attempts: 3, uncertain: 0 });
  });
});

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
    const unresolvedEffect = { effect: 'ask-mail', item: null, unknownReason: 'lost', since: 0 } as const;
    await stage.ledger.finish(attempt, { kind: 'uncertain', error: 'nobody knows', unresolvedEffect });
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
