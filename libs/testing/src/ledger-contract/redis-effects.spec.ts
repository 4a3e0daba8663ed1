import { describe, expect, it } from 'vitest';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import type { Ledger, BeginRequest } from '@fencepost/ledger';
import { RedisLedger } from '@fencepost/ledger/redis';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { LONG_MS, Stage } from './stage.js';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { replyDroppingProxy } from '../../../../test/support/proxies.js';
import { testRedis } from '../../../../test/support/redis.js';

const CRON = 'nightly-report';

const spaces = redisSpaces();

async function now(): Promise<number> {
  const [seconds, micros] = await spaces.redis().time();
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
}

function stageOf(ledger: Ledger): Promise<Stage> {
  return Stage.of(async () => ({
    ledger,
    cron: CRON,
    now,
    advance: async (ms) => {
      const end = (await now()) + ms;
      await expect.poll(now, { interval: 1, timeout: 10_000 }).toBeGreaterThanOrEqual(end);
    },
    clockGoesBack: () => Promise.reject(new Error('Nothing goes back here.')),
  }));
}

describe('effects, items and answers in Redis', () => {
  it('keeps what it copied of another run no longer than the run it copied it for', async () => {
    const space = spaces.fresh();
    const stage = await stageOf(new RedisLedger({ redis: spaces.redis(), ...space }));
    const attempt = await stage.begun(await stage.claimed(1));
    const step = { finished: [{ key: 'a', kind: 'done' as const }], begun: ['b'] };
    await stage.ledger.advanceItems(attempt, 'mails', step);
    const { runId, ...order } = stage.order({ rerunOf: attempt.runId });
    await stage.ledger.trigger({ runId, ...order });
    await stage.ledger.finish(await stage.begun(runId), { kind: 'succeeded' });
    for (const part of ['run', 'items']) {
      const key = redisKeys(space)(CRON, `${part}:${runId}`);
      expect(await spaces.redis().pttl(key)).toBeGreaterThan(LONG_MS);
    }
  });

  it('answers a person once over a connection that loses replies, and advances items once', async () => {
    const space = spaces.fresh();
    const proxy = await replyDroppingProxy(testRedis());
    const lossy = await connectRedis({ url: proxy.url, commandTimeoutMs: 5_000, name: 'test' });
    const ledger = new RedisLedger({ redis: lossy, ...space });
    const stage = await stageOf(ledger);
    const attempt = await stage.begun(await stage.claimed(1));
    proxy.dropNextReply();
    expect(await ledger.advanceItems(attempt, 'mails', { finished: [], begun: ['a'] })).toBe('recorded');
    await stage.leaveUncertain(attempt);
    proxy.dropNextReply();
    const delivery = { runId: attempt.runId, delivery: 2 };
    const reply = { verdict: 'resolved', state: 'enqueued', delivery };
    expect(await ledger.resolve(attempt.runId, await stage.answer(attempt.runId, 'not-done'))).toEqual(reply);
    expect(proxy.dropped).toBe(2);
    await closeRedis(lossy);
    await proxy.close();
  });
});

function makeStage(): Promise<Stage> {
  const redis = spaces.redis();
  const serverTime = async () => Number((await redis.time())[0]) * 1_000;
  const advance = async (ms: number) => {
    const end = (await serverTime()) + ms;
    await expect.poll(serverTime).toBeGreaterThanOrEqual(end);
  };
  return Stage.of(async () => ({
    ledger: new RedisLedger({ redis, ...spaces.fresh() }),
    cron: 'nightly-report',
    now: serverTime,
    advance,
    clockGoesBack: () => Promise.reject(new Error('Nothing goes back here.')),
  }));
}

/** Its values come without names, in an order that two files have to agree on. */
describe('begin returns the run as the ledger reads it', () => {
  async function expectSame(stage: Stage, request: BeginRequest) {
    const reply = await stage.ledger.begin(request);
    const run = await stage.run(request.runId);
    expect(reply).toEqual({ verdict: 'begun', fence: run.fence, attempt: run.attempt, run });
    return run;
  }

  it('when it was claimed with all that a claim can have', async () => {
    const stage = await makeStage();
    const missed = { count: 2, from: stage.instant(1), to: stage.instant(2) };
    const dueAt = stage.instant(3) + 7;
    const runId = await stage.claimed(3, {
      occurrence: stage.occurrence(3, { reason: 'catch-up', missed, dueAt }),
      generation: 4,
      maxConcurrency: 3,
      startBy: (await stage.harness.now()) + LONG_MS,
    });
    const run = await expectSame(stage, stage.attempt(runId, { worker: 'worker/7' }));
    expect(run).toMatchObject({ missed, dueAt, reason: 'catch-up', generation: 4, enqueuedAt: null });
  });

  it('when somebody asked for it, and when it had waited', async () => {
    const stage = await makeStage();
    const request = stage.order({ by: 'ada', payload: '{"day":"2026-11-20"}', handler: 'other' });
    await stage.ledger.trigger(request);
    await stage.ledger.confirm([request.runId]);
    await stage.ledger.noteWaiting(request.runId, 'no-capable-worker');
    const run = await expectSame(stage, stage.attempt(request.runId));
    expect(run).toMatchObject({ by: 'ada', payload: request.payload, handler: 'other', waiting: null });
  });

  it('when it failed before', async () => {
    const stage = await makeStage();
    const first = await stage.begun(await stage.enqueued(1));
    await stage.ledger.finish(first, { kind: 'retry', error: 'again', delayMs: 0 });
    const run = await expectSame(stage, stage.attempt(first.runId));
    expect(run).toMatchObject({ attempt: 2, error: 'again', notBefore: expect.any(Number) });
  });

  it('when it is sent again after the run was told to stop', async () => {
    const stage = await makeStage();
    const request = stage.attempt(await stage.enqueued(1), { worker: 'worker/7' });
    await expectSame(stage, request);
    await stage.ledger.cancel(request.runId, { by: 'ada', graceMs: LONG_MS });
    const run = await expectSame(stage, request);
    expect(run).toMatchObject({ worker: 'worker/7', cancel: { by: 'ada' } });
  });
});
