import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { RedisLedger } from '@fencepost/ledger/redis';
import { FORMAT } from '@fencepost/ledger/format';
import type { AttemptRef } from '@fencepost/ledger';
import { cronOfRun } from '@fencepost/ledger/run';
import type { EffectRecord, Run } from '@fencepost/ledger/run';
import { redisSpaces } from '../jobs/redis-space.js';

/** One run as a build wrote it: its hash, its score among the open runs, and what that build read of it. */
interface Kept {
  readonly what: string;
  readonly hash: Record<string, string>;
  readonly open: string | null;
  /** Without a result, which runs have since: most had none. */
  readonly run: Omit<Run, 'result'> & Partial<Pick<Run, 'result'>>;
  readonly effects: readonly EffectRecord[];
  readonly attempt?: AttemptRef;
}

function readNow(run: Kept['run']): Run {
  return { result: null, ...run };
}

const here = new URL('.', import.meta.url);
const formats = readdirSync(here, { withFileTypes: true }).filter((entry) => entry.isDirectory());
const LONG_MS = 60_000;
const spaces = redisSpaces();

/** A format that a build can't read any more is a deployment that loses its runs in an upgrade. */
describe.each(formats.map(({ name }) => name))('runs of format %s', (format) => {
  let lastKey = '';
  const kept = JSON.parse(readFileSync(new URL(`${format}/runs.json`, here), 'utf8')) as Kept[];

  async function restored({ hash, open, run }: Kept): Promise<RedisLedger> {
    const [redis, space] = [spaces.redis(), spaces.fresh()];
    const key = (part: string) => redisKeys(space)(cronOfRun(run.id), part);
    lastKey = key(`run:${run.id}`);
    await redis.hset(lastKey, hash);
    await redis.zadd(key('runs'), run.scheduledAt, run.id);
    if (open !== null) await redis.zadd(key('open'), open, run.id);
    return new RedisLedger({ redis, ...space });
  }

  const named = (what: string) => kept.find((one) => one.what === what) as Kept;

  it.each(kept)('are read as they were written: $what', async (one) => {
    const ledger = await restored(one);
    expect(await ledger.readRun(one.run.id)).toEqual(readNow(one.run));
    expect(await ledger.effects(one.run.id)).toEqual(one.effects);
  });

  it.each(['claimed', 'enqueued', 'retrying'])('go on where they stood: %s', async (what) => {
    const one = named(what);
    const ledger = await restored(one);
    const request = { runId: one.run.id, nonce: 'next', worker: 'w', ttlMs: LONG_MS, maxAttempts: 3 };
    const begun = await ledger.begin(request);
    expect(begun).toMatchObject({ verdict: 'begun', attempt: one.run.attempt + 1 });
    const attempt = {
      runId: one.run.id,
      nonce: 'next',
      fence: begun.verdict === 'begun' ? begun.fence : one.run.claimFence,
    };
    expect(await ledger.finish(attempt, { kind: 'succeeded' })).toBe('succeeded');
  });

  it('are ended by the attempt that began them, and by no other', async () => {
    const one = named('running');
    const ledger = await restored(one);
    const attempt = one.attempt as AttemptRef;
    expect(await ledger.finish({ ...attempt, nonce: 'other' }, { kind: 'succeeded' })).toBeNull();
    expect(await ledger.finishEffect(attempt, 'charge', { kind: 'done', result: '1' })).toBe('recorded');
    expect(await ledger.finish(attempt, { kind: 'failed', error: 'no' })).toBe('failed');
    expect(await ledger.notifications(cronOfRun(one.run.id), 10)).toMatchObject([
      { runId: one.run.id, state: 'failed' },
    ]);
  });

  it('of the next format keep their further words when an attempt begins and ends', async () => {
    const one = named('enqueued');
    const hash = Object.fromEntries(
      Object.entries(one.hash).map(([field, text]) => [
        field,
        'cs'.includes(field) ? `${FORMAT + 1}${text.slice(1)} more` : text,
      ]),
    );
    const ledger = await restored({ ...one, hash });
    expect(await ledger.readRun(one.run.id)).toEqual(readNow(one.run));
    const begun = await ledger.begin({
      ...{ runId: one.run.id, nonce: 'a', worker: 'w' },
      ttlMs: LONG_MS,
      maxAttempts: 3,
    });
    if (begun.verdict !== 'begun') throw new Error(`Expected the run to begin, got ${begun.verdict}.`);
    await ledger.finish({ runId: one.run.id, nonce: 'a', fence: begun.fence }, { kind: 'succeeded' });
    const [facts, standing] = await spaces.redis().hmget(lastKey, 'c', 's');
    expect([facts, standing]).toEqual([hash['c'], `${FORMAT + 1} s 1 1   more`]);
  });

  it('of a format after the next are refused with one sentence', async () => {
    const one = named('enqueued');
    const ledger = await restored({ ...one, hash: { ...one.hash, c: `9${one.hash['c']?.slice(1)}` } });
    await expect(ledger.readRun(one.run.id)).rejects.toThrow(
      /^Expected a run record of format 2 to \d, got "9 .*Upgrade/,
    );
  });

  it('are answered by a person', async () => {
    const one = named('uncertain');
    const ledger = await restored(one);
    const { effect, item, since } = one.run.unresolvedEffect as NonNullable<Run['unresolvedEffect']>;
    const unresolvedEffect = { attempt: one.run.attempt, effect, item, since };
    const order = { by: 'ada', reason: 'the mail log has it', nonce: 'answer', unresolvedEffect };
    const answer = { verdict: 'done', result: '1' } as const;
    expect(await ledger.resolve(one.run.id, { ...order, answer })).toMatchObject({
      verdict: 'resolved',
      state: 'enqueued',
    });
  });
});
