import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { FenceExhaustedError } from '@fencepost/lease';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { RedisLedger } from '@fencepost/ledger/redis';
import { ledgerContract } from './index.js';
import { lateDuplicateContract } from './late-duplicate.contract.js';
import { type LedgerHarness, type MakeLedgerHarness } from './stage.js';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { fence, LONG_MS, Stage } from './stage.js';
import { isLong } from '../../../../test/support/run-length.js';
import { replyDroppingProxy } from '../../../../test/support/proxies.js';
import { clearPrefixes, freshPrefix, testRedis } from '../../../../test/support/redis.js';

const CRON = 'nightly-report';

let redis: Redis;
const prefixes: string[] = [];

beforeAll(async () => {
  redis = await connect(testRedis());
});
afterAll(async () => {
  await clearPrefixes(redis, prefixes);
  await closeRedis(redis);
});

function connect(url: string): Promise<Redis> {
  return connectRedis({ url, commandTimeoutMs: 5_000, name: 'test' });
}

function freshSpace(): { prefix: string; tenant: string } {
  const prefix = freshPrefix();
  prefixes.push(prefix);
  return { prefix, tenant: 'default' };
}

async function now(): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
}

/** By the server's clock: the wait between two looks is only politeness. */
async function advance(ms: number): Promise<void> {
  const end = (await now()) + ms;
  await expect.poll(now, { interval: 1, timeout: 10_000 }).toBeGreaterThanOrEqual(end);
}

/** What a clock that goes back leaves behind: a lease and fences from the future. */
async function leaveFromTheFuture(space: { prefix: string; tenant: string }, runId: string, ms: number): Promise<void> {
  const key = (part: string) => redisKeys(space)(CRON, part);
  const [written, ...rest] = ((await redis.hget(key(`run:${runId}`), 'r')) ?? '').split(' ');
  const last = Number(written) + ms * 1_000;
  await redis.hset(key(`run:${runId}`), 'r', [last.toFixed(0), ...rest].join(' '));
  await redis.hset(redisKeys(space)('fences', 'ledger'), 'runFence', last.toFixed(0));
  await redis.zincrby(key('open'), ms, runId);
}

const inRedis: MakeLedgerHarness = async (timing = {}): Promise<LedgerHarness> => {
  const space = freshSpace();
  return {
    ledger: new RedisLedger({ redis, ...space, timing }),
    cron: CRON,
    now,
    advance,
    clockGoesBack: (runId, ms) => leaveFromTheFuture(space, runId, ms),
  };
};

ledgerContract('the Redis ledger', inRedis, { histories: isLong ? 60 : 30 });

describe('the Redis ledger over a connection that loses replies', () => {
  it('takes every step once', async () => {
    const space = freshSpace();
    const proxy = await replyDroppingProxy(testRedis());
    const lossy = await connect(proxy.url);
    const stage = await Stage.of(async () => ({
      ...(await inRedis()),
      ledger: new RedisLedger({ redis: lossy, ...space }),
    }));
    const { ledger } = stage;
    const runId = stage.idOf(1);
    const lossily = <T>(call: () => Promise<T>): Promise<T> => {
      proxy.dropNextReply();
      return call();
    };
    const claim = await stage.request(1);
    expect(await lossily(() => ledger.claim(claim))).toEqual({ verdict: 'claimed', runId });
    await lossily(() => ledger.confirm([runId]));
    expect(await lossily(() => ledger.redeliver({ runId, delivery: 1 }, 'a'))).toEqual({ runId, delivery: 2 });

    const begin = stage.attempt(runId);
    const begun = await lossily(() => ledger.begin(begin));
    expect(begun).toMatchObject({ verdict: 'begun', attempt: 1, run: { state: 'running' } });
    const attempt = { runId, nonce: begin.nonce, fence: begun.verdict === 'begun' ? begun.fence : fence(1) };
    expect(await lossily(() => ledger.heartbeat(attempt, LONG_MS))).toBe('extended');
    const effect = { name: 'mail', ifUnknown: 'tell' } as const;
    expect(await lossily(() => ledger.beginEffect(attempt, effect))).toEqual({ verdict: 'go', unknown: null });
    const done = { kind: 'done', result: '1' } as const;
    expect(await lossily(() => ledger.finishEffect(attempt, 'mail', done))).toBe('recorded');
    expect(await lossily(() => ledger.finish(attempt, { kind: 'succeeded' }))).toBe('succeeded');

    const other = await stage.begun(await stage.claimed(2));
    const told = await lossily(() => ledger.cancel(other.runId, { by: 'ada', graceMs: LONG_MS }));
    const until = told.verdict === 'cancelling' ? told.until : Number.NaN;
    expect((await stage.run(other.runId)).cancel).toEqual({ at: until - LONG_MS, by: 'ada', until });
    expect(await lossily(() => ledger.finish(other, { kind: 'cancelled', error: 'told to' }))).toBe('cancelled');

    expect(await stage.run(runId)).toMatchObject({ state: 'succeeded', attempt: 1, delivery: 2 });
    expect(await stage.refusals()).toBe(0);
    expect(proxy.dropped).toBe(10);
    await closeRedis(lossy);
    await proxy.close();
  });
});

describe('the Redis ledger, asked again', () => {
  lateDuplicateContract(async () => {
    const own = await connect(testRedis());
    onTestFinished(() => closeRedis(own));
    const sent = vi.spyOn(own, 'sendCommand');
    return {
      ...(await inRedis()),
      ledger: new RedisLedger({ redis: own, ...freshSpace() }),
      resendable: async (send) => {
        await send();
        const { name, args } = sent.mock.lastCall![0];
        return () => redis.call(name, ...(args as string[]));
      },
    };
  });
});

describe('the note that a cron in Redis may need a person', () => {
  const DAY_MS = 86_400_000;
  const pause = { by: 'ada', reason: 'migration', until: null };

  async function noted(keepMs = 2 * DAY_MS) {
    const space = freshSpace();
    const ledger = new RedisLedger({ redis, ...space, timing: { keepMs } });
    const stage = await Stage.of(async () => ({ ...(await inRedis()), ledger }));
    const key = redisKeys(space)(CRON, 'noted');
    return { stage, ledger, key, lifeMs: () => redis.pttl(key) };
  }

  it('lasts as long as a pause without an end, whatever happens meanwhile', async () => {
    const { stage, ledger, lifeMs } = await noted();
    const waiting = await stage.claimed(1);
    await ledger.pause(CRON, pause);
    await ledger.cancel(waiting, { by: 'ada', graceMs: 0 });
    expect(await lifeMs()).toBe(-1);
  });

  it.each([
    ['resumed', (ledger: RedisLedger) => ledger.resume(CRON)],
    ['given an end', (ledger: RedisLedger) => ledger.pause(CRON, { ...pause, until: 4_102_444_800_000 })],
  ])('expires with the runs of a cron that was %s', async (_how, end) => {
    const { ledger, lifeMs } = await noted();
    await ledger.pause(CRON, pause);
    await end(ledger);
    expect(await lifeMs()).toBeGreaterThan(2 * DAY_MS - LONG_MS);
    expect(await lifeMs()).toBeLessThanOrEqual(2 * DAY_MS);
  });

  it('is written by a claim where a build that knows no notes has recorded the pause', async () => {
    const { stage, ledger, key, lifeMs } = await noted();
    await ledger.pause(CRON, pause);
    await redis.del(key);
    await ledger.claim(await stage.request(1));
    expect(await lifeMs()).toBe(-1);
  });

  it('outlives the record of a cancelled run, and lasts a day where runs are kept for less', async () => {
    for (const [keepMs, leastMs] of [
      [2 * DAY_MS, 2 * DAY_MS],
      [LONG_MS, DAY_MS],
    ]) {
      const { stage, ledger, lifeMs } = await noted(keepMs);
      await ledger.cancel(await stage.claimed(1), { by: 'ada', graceMs: 0 });
      expect(await lifeMs()).toBeGreaterThan(leastMs ?? 0);
    }
  });
});

describe('the Redis ledger', () => {
  it('lets one of fifty connections claim an occurrence, and one of them begin its run', async () => {
    const space = freshSpace();
    const stage = await Stage.of(async () => ({ ...(await inRedis()), ledger: new RedisLedger({ redis, ...space }) }));
    const connections = await Promise.all(Array.from({ length: 50 }, () => connect(testRedis())));
    const ledgers = connections.map((connection) => new RedisLedger({ redis: connection, ...space }));
    const claims = await Promise.all(
      ledgers.map((_, n) => stage.request(1, { fence: fence(n + 1), term: `term ${n}` })),
    );
    const claimed = await Promise.all(ledgers.map((ledger, n) => ledger.claim(claims[n] ?? claims[0]!)));
    const begun = await Promise.all(ledgers.map((ledger) => ledger.begin(stage.attempt(stage.idOf(1)))));
    await Promise.all(connections.map(closeRedis));
    expect(claimed.filter(({ verdict }) => verdict === 'claimed')).toHaveLength(1);
    expect(begun.filter(({ verdict }) => verdict === 'begun')).toHaveLength(1);
    expect(begun.filter(({ verdict }) => verdict === 'busy')).toHaveLength(49);
  });

  it('returns the run as it is after the step also to a server that has forgotten its scripts', async () => {
    const stage = await Stage.of(inRedis);
    const first = await stage.begun(await stage.claimed(1));
    await stage.ledger.finish(first, { kind: 'retry', error: 'again', delayMs: 0 });
    await redis.script('FLUSH');
    const reply = await stage.ledger.begin(stage.attempt(stage.idOf(1)));
    expect(reply).toMatchObject({ verdict: 'begun', run: { state: 'running', attempt: 2 } });
  });

  it('issues no fence past 2^53 − 1, and the run stays as it was', async () => {
    const space = freshSpace();
    const stage = await Stage.of(async () => ({ ...(await inRedis()), ledger: new RedisLedger({ redis, ...space }) }));
    const runId = await stage.claimed(1);
    await redis.hset(redisKeys(space)('fences', 'ledger'), 'runFence', '9007199254740990');
    const last = await stage.begun(runId);
    expect(last.fence).toBe(2 ** 53 - 1);
    await stage.ledger.finish(last, { kind: 'retry', error: 'again', delayMs: 0 });
    await expect(stage.ledger.begin(stage.attempt(runId))).rejects.toThrow(FenceExhaustedError);
    expect(await stage.run(runId)).toMatchObject({ state: 'enqueued', attempt: 1 });
  });

  it('keeps tenants apart that have a cron of the same name', async () => {
    const space = freshSpace();
    const stage = await Stage.of(async () => ({ ...(await inRedis()), ledger: new RedisLedger({ redis, ...space }) }));
    await stage.claimed(1);
    const other = new RedisLedger({ redis, ...space, tenant: 'another' });
    expect(await other.readRun(stage.idOf(1))).toBeNull();
    expect(await other.readCron(CRON)).toMatchObject({ cursor: null });
  });

  it('writes every number as a plain decimal, through a whole life of a run', async () => {
    const space = freshSpace();
    const stage = await Stage.of(async () => ({ ...(await inRedis()), ledger: new RedisLedger({ redis, ...space }) }));
    const attempt = await stage.begun(await stage.claimed(1, { fence: fence(8_787_654_321_123_456) }));
    await stage.beginEffect(attempt, 'mail');
    await stage.finishEffect(attempt, 'mail', '1');
    await stage.ledger.advanceItems(attempt, 'mails', { finished: [{ key: 'a', kind: 'done' }], begun: ['b'] });
    await stage.leaveUncertain(attempt);
    await stage.ledger.resolve(attempt.runId, await stage.answer(attempt.runId, 'not-done'));
    const second = await stage.begun(attempt.runId);
    await stage.ledger.finish(second, { kind: 'retry', error: 'again', delayMs: 0 });
    const again = await stage.begun(attempt.runId);
    await stage.ledger.cancel(again.runId, { by: 'ada', graceMs: LONG_MS });
    await stage.ledger.heartbeat(again, LONG_MS);
    const parts = ['cron', ...['run', 'items'].map((part) => `${part}:${attempt.runId}`)];
    const hashes = await Promise.all(parts.map((part) => redis.hgetall(redisKeys(space)(CRON, part))));
    const words = hashes.flatMap((hash) => Object.entries(hash).flat()).flatMap((text) => text.split(' '));
    expect(words).toContain('8787654321123456');
    expect(words.filter((word) => /\d\.\d|\de\+/.test(word))).toEqual([]);
  });

  it('leaves nothing of a forgotten run but a note that expires, and no finished run without an end', async () => {
    const space = freshSpace();
    const stage = await Stage.of(async () => ({ ...(await inRedis()), ledger: new RedisLedger({ redis, ...space }) }));
    const attempt = await stage.begun(await stage.claimed(1));
    await stage.beginEffect(attempt, 'mail');
    await stage.ledger.advanceItems(attempt, 'mails', { finished: [], begun: ['a'] });
    await stage.ledger.claim(await stage.request(2, { overlap: 'skip' }));
    await stage.ledger.finish(attempt, { kind: 'failed', error: 'it broke' });
    const ended = ['run', 'items'].map((part) => `${part}:${stage.idOf(1)}`);
    for (const part of [...ended, `run:${stage.idOf(2)}`, 'failed', 'noted']) {
      expect(await redis.pttl(redisKeys(space)(CRON, part))).toBeGreaterThan(LONG_MS);
    }
    await stage.forget(0);
    const own = ['cron', 'noted'].map((part) => redisKeys(space)(CRON, part));
    const left = [redisKeys(space)('fences', 'ledger'), ...own];
    expect((await redis.keys(`${space.prefix}:*`)).toSorted()).toEqual(left);
  });
});
