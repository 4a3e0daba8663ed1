import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFence } from '@fencepost/lease';
import { RedisLedger } from '@fencepost/ledger/redis';
import type { ClaimRequest } from '@fencepost/ledger';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { atMost } from '../../../../test/support/run-length.js';

const MAX_WHOLE = 2 ** 53 - 1;
const CRON = 'nightly-report';

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 300 });
const whole = (min: number) => fc.oneof(fc.integer({ min, max: MAX_WHOLE }), fc.constantFrom(min, MAX_WHOLE));
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });

/** What a claim may bring, with the extremes of each field. */
const claimed = fc.record({
  scheduledAt: fc.oneof(fc.integer({ min: 1, max: 1_763_607_600_000 }), fc.constantFrom(1, 1_763_607_600_000)),
  lateMs: fc.constantFrom(0, 1, 86_400_000),
  reason: fc.constantFrom('schedule', 'catch-up'),
  missed: orNull(fc.record({ count: whole(0), from: whole(0), to: whole(0) })),
  overlap: fc.constantFrom('skip', 'queue-one', 'queue-all', 'replace', 'allow'),
  maxConcurrency: fc.constantFrom(1, 2, 100),
  fence: whole(1),
  generation: whole(1),
  holder: text,
  startBy: orNull(whole(1_900_000_000_000)),
  handler: orNull(text),
  payload: orNull(fc.json()),
});

type Claimed = typeof claimed extends fc.Arbitrary<infer T> ? T : never;

const ended = fc.record({ worker: text, error: text, by: text });

function requestOf({ fence, scheduledAt, lateMs, reason, missed, ...rest }: Claimed) {
  const occurrence = { scheduledAt, dueAt: scheduledAt + lateMs, reason, missed };
  const who = { cron: CRON, fence: parseFence(fence.toFixed(0)), term: 'term', nonce: 'claim' };
  return { ...rest, ...who, cursor: null, skips: [], occurrence } as ClaimRequest;
}

const spaces = redisSpaces();

describe('the record of a run in Redis', () => {
  it('keeps whatever a claim, an attempt and a person bring, to the last digit', async () => {
    const life = fc.asyncProperty(claimed, ended, async (claim, { worker, error, by }) => {
      const ledger = new RedisLedger({ redis: spaces.redis(), ...spaces.fresh() });
      const request = requestOf(claim);
      const runId = `${CRON}@${claim.scheduledAt}`;
      expect(await ledger.claim(request)).toEqual({ verdict: 'claimed', runId });
      const { scheduledAt, dueAt, reason, missed } = request.occurrence!;
      const { fence, generation, holder, handler, payload } = request;
      const settled = { scheduledAt, dueAt, reason, missed, generation, handler, payload };
      const run = await ledger.readRun(runId);
      expect(run).toMatchObject({ ...settled, claimFence: fence, claimedBy: holder, state: 'claimed', attempt: 0 });

      const begun = await ledger.begin({ runId, nonce: 'begin', worker, ttlMs: 60_000, maxAttempts: 3 });
      expect(begun).toMatchObject({ verdict: 'begun', run: { ...settled, worker } });
      expect(await ledger.readRun(runId)).toEqual(begun.verdict === 'begun' ? begun.run : null);
      await ledger.cancel(runId, { by, graceMs: 60_000 });
      expect((await ledger.readRun(runId))?.cancel?.by).toBe(by);
      const attempt = { runId, nonce: 'begin', fence: begun.verdict === 'begun' ? begun.fence : parseFence('1') };
      expect(await ledger.finish(attempt, { kind: 'failed', error })).toBe('failed');
      expect(await ledger.readRun(runId)).toMatchObject({
        ...settled,
        claimedAt: run?.claimedAt,
        worker,
        state: 'failed',
        error,
      });
    });
    await fc.assert(life, atMost(60));
  });

  it('of another format is refused, and neither guessed at nor taken for none', async () => {
    const [redis, own] = [spaces.redis(), spaces.fresh()];
    const ledger = new RedisLedger({ redis, ...own });
    const key = redisKeys(own)(CRON, `run:${CRON}@1`);
    await redis.hset(key, { c: '9 1', s: '9 c 1 0' });
    await expect(ledger.readRun(`${CRON}@1`)).rejects.toThrow('Expected a run record of format 2 to 5, got "9 ');
    const asked = { runId: `${CRON}@1`, nonce: 'a', worker: 'w', ttlMs: 60_000, maxAttempts: 1 };
    await expect(ledger.begin(asked)).rejects.toThrow('expected a run record of format [2345], got 9 c 1 0');
    expect(await redis.hgetall(key)).toEqual({ c: '9 1', s: '9 c 1 0' });
  });

  it('is kept in one piece as long as nothing in it is long', async () => {
    const [redis, own] = [spaces.redis(), spaces.fresh()];
    const ledger = new RedisLedger({ redis, ...own });
    const now = Date.now();
    const usual = { lateMs: 0, reason: 'schedule', missed: null, overlap: 'queue-one', maxConcurrency: 100 } as const;
    const claim = { ...usual, scheduledAt: now };
    const rest = {
      fence: MAX_WHOLE,
      generation: 999,
      holder: `scheduler-7f9c4d5b6-x2x4q/${'a'.repeat(10)}`,
    };
    await ledger.claim(
      requestOf({ ...claim, ...rest, startBy: now + 3_600_000, handler: null, payload: '{"to":"ada"}' }),
    );
    const runId = `${CRON}@${now}`;
    const begun = await ledger.begin({
      runId,
      nonce: 'begin',
      worker: 'worker-5d8f7c-9x8kq/ab12cd34ef',
      ttlMs: 30_000,
      maxAttempts: 3,
    });
    const attempt = { runId, nonce: 'begin', fence: begun.verdict === 'begun' ? begun.fence : parseFence('1') };
    await ledger.beginEffect(attempt, { name: 'charge-card', ifUnknown: 'go', payloadHash: 'x'.repeat(43) });
    await ledger.finishEffect(attempt, 'charge-card', { kind: 'done', result: '{"id":"ch_1763607600"}' });
    await ledger.finish(attempt, { kind: 'succeeded' });
    const key = redisKeys(own)(CRON, `run:${runId}`);
    expect(await redis.object('ENCODING', key)).toBe('listpack');
    // A run without a result has no room for one: former builds read and write the same record.
    expect(await redis.hexists(key, 'result')).toBe(0);
  });
});
