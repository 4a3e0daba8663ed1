import { describe, expect, it } from 'vitest';
import type { BeginRequest } from '../../libs/ledger/src/base/ledger.js';
import { RedisLedger } from '../../libs/ledger/src/redis/redis-ledger.js';
import { LONG_MS, Stage } from '../../libs/testing/src/ledger-contract/stage.js';
import { redisSpaces } from '../jobs/redis-space.js';

const spaces = redisSpaces();

function makeStage(): Promise<Stage> {
  const redis = spaces.redis();
  const now = async () => Number((await redis.time())[0]) * 1_000;
  const advance = async (ms: number) => {
    const end = (await now()) + ms;
    await expect.poll(now).toBeGreaterThanOrEqual(end);
  };
  return Stage.of(async () => ({
    ledger: new RedisLedger({ redis, ...spaces.fresh() }),
    cron: 'nightly-report',
    now,
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
    await stage.ledger.cancel(request.runId, { by: 'ada', reason: 'too slow', graceMs: LONG_MS });
    const run = await expectSame(stage, request);
    expect(run).toMatchObject({ worker: 'worker/7', cancel: { by: 'ada' } });
  });
});
