import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AttemptOutcome, Ledger } from '@fencepost/ledger';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { RedisLedger } from '@fencepost/ledger/redis';
import { CRON } from '../../../../test/support/audit-history.js';
import { OperatingStage } from '../../../../test/support/operating-stage.js';
import { usePostgresLedger } from '../../../../test/support/postgres-ledger-sandbox.js';
import { freshPrefix, testRedis } from '../../../../test/support/redis.js';
import { RunSearch } from './run-search.js';

const used = usePostgresLedger();
let redis: RedisClient;
beforeAll(async () => {
  redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 5_000, name: 'test' });
});
afterAll(() => closeRedis(redis));

const LEDGERS: Readonly<Record<string, () => Ledger>> = {
  redis: () => new RedisLedger({ redis, prefix: freshPrefix(), tenant: 'default' }),
  postgres: () => used.sandbox.ledger(),
};

/** A run that somebody asked for, and how it ended. */
async function ended(ledger: Ledger, name: string, outcome: AttemptOutcome): Promise<string> {
  const [runId, nonce] = [`${CRON}@${name}`, randomUUID()];
  const nothing = { rerunOf: null, scheduledAt: null, payload: null, handler: null, missed: null, priority: null };
  const asked = { runId, nonce, reason: 'manual', generation: 1, by: 'test', overlap: 'allow', ...nothing } as const;
  await ledger.trigger(asked);
  const begun = await ledger.begin({ runId, nonce, worker: 'worker/1', ttlMs: 60_000, maxAttempts: 1 });
  if (begun.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${begun.verdict}.`);
  await ledger.finish({ runId, nonce, fence: begun.fence }, outcome);
  return runId;
}

describe.each(Object.keys(LEDGERS))('a search over the ledger in %s', (kind) => {
  it('finds by state, time and error, a page at a time, and groups failures', async () => {
    const ledger = LEDGERS[kind]!();
    const stage = new OperatingStage();
    await stage.declare({ overlap: 'allow' });
    const search = new RunSearch({ catalog: stage.catalog, ledger });
    const one = await ended(ledger, 'one', { kind: 'failed', error: 'Error: shard 1 is away' });
    const two = await ended(ledger, 'two', { kind: 'failed', error: 'Error: shard 22 is away' });
    const well = await ended(ledger, 'well', { kind: 'succeeded' });
    const ids = async (query: object) => (await search.page({ limit: 50, ...query })).runs.map(({ id }) => id);
    expect(new Set(await ids({}))).toEqual(new Set([one, two, well]));
    expect(new Set(await ids({ states: ['failed'] }))).toEqual(new Set([one, two]));
    expect(await ids({ from: 0, error: 'shard 22' })).toEqual([two]);
    expect(await ids({ from: Date.now() + 3_600_000 })).toEqual([]);
    const first = await search.page({ limit: 1, states: ['failed'] });
    const second = await search.page({ limit: 1, states: ['failed'], cursor: first.next ?? '' });
    expect(new Set([...first.runs, ...second.runs].map(({ id }) => id))).toEqual(new Set([one, two]));
    const { groups } = await search.failures({});
    expect(groups).toMatchObject([{ count: 2, crons: [CRON] }]);
  });
});
