import { describe, expect, it, afterAll, beforeAll } from 'vitest';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { RUN, Script } from './chaos-recording.js';
import { checkConformance, type LastRecord } from './conformance.js';
import { freshPrefix, testRedis } from '../support/redis.js';
import { storesOn } from './database.js';

const about = (attempt: number) => ({ cron: 'tick', runId: RUN, attempt, fence: attempt * 10 });

const claimed = () => new Script().event('occurrence.claimed', { cron: 'tick', runId: RUN });

const begun = (attempt = 1) => claimed().event('attempt.begun', about(attempt));

function problems(script: Script, last: Partial<LastRecord> = {}): readonly string[] {
  const record: LastRecord = { id: RUN, state: 'succeeded', attempt: 1, ...last };
  return checkConformance(script.recording.events, [record]).problems;
}

describe('what pods told of a run', () => {
  it('is a path of the table from its claim to its end', () => {
    expect(problems(begun().event('attempt.succeeded', about(1)))).toEqual([]);
  });

  it('may be told in another order than it happened in, by pods that were frozen', () => {
    const script = new Script().event('attempt.begun', about(2)).event('attempt.succeeded', about(2));
    script.event('attempt.begun', about(1)).event('occurrence.claimed', { cron: 'tick', runId: RUN });
    expect(problems(script, { attempt: 2 })).toEqual([]);
  });

  it('may lack what a process could not tell any more, where the table has a way without it', () => {
    expect(problems(begun(3).event('attempt.succeeded', about(3)), { attempt: 3 })).toEqual([]);
    expect(problems(begun())).toEqual([]);
    expect(problems(begun(), { state: 'failed', attempt: 2 })).toEqual([]);
    expect(problems(claimed(), { state: 'skipped', attempt: 0 })).toEqual([]);
  });

  it('does not begin again after its end', () => {
    const script = begun().event('attempt.succeeded', about(1)).event('attempt.begun', about(2));
    expect(problems(script, { attempt: 2 })).toEqual([
      expect.stringContaining('attempt 2 began when no attempt could'),
    ]);
  });

  it('does not end twice', () => {
    const script = begun()
      .event('attempt.succeeded', about(1))
      .event('attempt.failed', { ...about(1), state: 'failed' });
    expect(problems(script)).toEqual([expect.stringContaining('attempt 1 ended 2 times')]);
  });

  it('does not end when its end was refused', () => {
    const script = begun().event('attempt.succeeded', about(1));
    expect(problems(script.event('attempt.refused', { ...about(1), step: 'finish' }))).toHaveLength(1);
  });

  it('is claimed once, and each of its attempts begins once', () => {
    const twice = begun().event('occurrence.claimed', { cron: 'tick', runId: RUN });
    expect(problems(twice)).toEqual([expect.stringContaining('claimed 2 times')]);
    expect(problems(begun().event('attempt.begun', about(1)))).toEqual([expect.stringContaining('begun 2 times')]);
  });

  it('has fences that rise', () => {
    const script = begun(2).event('attempt.begun', { ...about(1), fence: 30 });
    expect(problems(script, { attempt: 2 })).toEqual([expect.stringContaining('fence 20 after fence 30')]);
  });

  it('leads to what the ledger has', () => {
    const script = begun().event('attempt.succeeded', about(1));
    expect(problems(script, { state: 'failed' })).toEqual([expect.stringContaining('the ledger has it as failed')]);
    expect(problems(begun(2), { attempt: 1 })).toEqual([expect.stringContaining('the ledger has 1 attempts')]);
    expect(problems(claimed(), { attempt: 0 })).toHaveLength(1);
  });

  it('is not handed over again when it is over', () => {
    const script = begun().event('run.redelivered', { cron: 'tick', runId: RUN, was: 'succeeded' });
    expect(problems(script)).toEqual([expect.stringContaining('handed over again as succeeded')]);
  });
});

describe('the stores, seen from outside', () => {
  let redis: RedisClient;

  let waiting: RedisClient;

  beforeAll(async () => {
    const connect = (name: string) => connectRedis({ url: testRedis(), commandTimeoutMs: 10_000, name });
    redis = await connect('oracle');
    waiting = await connect('oracle-ledger');
  });

  afterAll(async () => {
    await closeRedis(waiting);
    await closeRedis(redis);
  });

  async function answerOn(waitReplicas: number): Promise<unknown> {
    const { stores, closeStores } = await storesOn({
      redis,
      waiting,
      waitReplicas,
      prefix: freshPrefix(),
      database: undefined,
    });
    try {
      const answer = { verdict: 'done', result: 'null' } as const;
      return await stores.ledger.resolve('chaos-asked@1000', {
        nonce: 'n',
        unresolvedEffect: { attempt: 1, effect: 'pay', item: null, since: 0 },
        answer,
        by: 'the oracle',
        reason: 'it looked',
      });
    } finally {
      await closeStores();
    }
  }

  it('do not take an answer for given that no replica has, where the pods wait for replicas', async () => {
    await expect(answerOn(1)).rejects.toMatchObject({ code: 'NOT_REPLICATED' });
  });
});
