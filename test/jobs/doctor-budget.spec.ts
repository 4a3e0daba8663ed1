import { randomUUID } from 'node:crypto';
import { parseFence } from '@fencepost/lease';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import type { AttemptOutcome, Ledger } from '@fencepost/ledger';
import type { Catalog } from '@fencepost/ledger/catalog';
import { PostgresCatalog } from '@fencepost/ledger/postgres';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { declared, fencepost } from '../support/fencepost.js';
import { postgresForTests } from '../support/postgres.js';
import { postgresLedgerSandbox } from '../support/postgres-ledger-sandbox.js';
import { freshPrefix, privateRedis, type PrivateRedis } from '../support/redis.js';

const FEW = 500;
const MANY = 2_000;

/** What Redis may execute for an examination, what scripts call included; one command for each cron is far beyond. */
const MAX_COMMANDS = 120;
/** Catalog and ledger are read in pages and batches of some hundred crons: ten thousand cost less than 300 commands. */
const MAX_PER_HUNDRED = 2.5;
/** A cron that needs a person is searched for among the others, and a few beside it are read with it. */
const MAX_PER_FOUND = 60;

interface Deployment {
  readonly catalog: Catalog;
  readonly ledger: Ledger;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  readonly close: () => Promise<void>;
}

async function inRedis(redis: RedisClient, url: string): Promise<Deployment> {
  const space = { prefix: freshPrefix(), tenant: 'default' };
  return {
    ...{ catalog: new RedisCatalog({ redis, ...space }), ledger: new RedisLedger({ redis, ...space }) },
    ...{ env: { REDIS_URL: url, FENCEPOST_PREFIX: space.prefix }, args: [], close: async () => {} },
  };
}

async function inPostgres(redis: RedisClient, url: string): Promise<Deployment> {
  const { url: database } = await postgresForTests();
  const { pool, schema, ledger, close } = await postgresLedgerSandbox(database);
  const space = { prefix: freshPrefix(), tenant: 'default' };
  return {
    ...{ catalog: new PostgresCatalog({ pool, schema, redis, ...space }), ledger: ledger(space), close },
    env: { REDIS_URL: url, FENCEPOST_PREFIX: space.prefix },
    args: ['--postgres', database, '--schema', schema],
  };
}

const nameOf = (n: number) => `cron-${String(n).padStart(4, '0')}`;

const SUCCEEDED: AttemptOutcome = { kind: 'succeeded' };
const FAILED: AttemptOutcome = { kind: 'failed', error: 'it broke' };
const QUESTION = { effect: 'charge', item: null, unknownReason: 'lost', since: 1 } as const;
const UNCERTAIN: AttemptOutcome = { kind: 'uncertain', error: 'nobody knows', unresolvedEffect: QUESTION };

/** Crons of which each has one run, with this outcome. */
async function add({ catalog, ledger }: Deployment, names: readonly string[], outcome: AttemptOutcome): Promise<void> {
  await catalog.declare(
    names.map((name) => declared(name)),
    { revision: 1, app: 'test' },
  );
  const { readAt } = await catalog.read([]);
  const instant = readAt - 60_000;
  const claimed = await ledger.claimAll(
    names.map((cron) => ({
      ...{ cron, fence: parseFence('1000'), term: 'term', holder: 'scheduler/1', generation: 1, nonce: randomUUID() },
      ...{ cursor: null, skips: [], overlap: 'skip' as const },
      occurrence: { scheduledAt: instant, dueAt: instant, reason: 'schedule' as const, missed: null },
    })),
  );
  expect(claimed.map((one) => one.status === 'fulfilled' && one.value.verdict)).toEqual(names.map(() => 'claimed'));
  await Promise.all(names.map((name) => end(ledger, `${name}@${instant}`, outcome)));
}

async function end(ledger: Ledger, runId: string, outcome: AttemptOutcome): Promise<void> {
  const nonce = randomUUID();
  const begun = await ledger.begin({ runId, nonce, worker: 'worker/1', ttlMs: 60_000, maxAttempts: 1 });
  if (begun.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${begun.verdict}.`);
  await ledger.finish({ runId, nonce, fence: begun.fence }, outcome);
}

describe('fencepost doctor', () => {
  let server: PrivateRedis;
  let redis: RedisClient;
  beforeAll(async () => {
    server = await privateRedis();
    redis = await connectRedis({ url: server.url, commandTimeoutMs: 20_000, name: 'test' });
  });
  afterAll(async () => {
    await closeRedis(redis);
    await server.stop();
  });

  /** How many commands an examination had the server execute, and what it found. */
  async function examine({ env, args }: Deployment) {
    await redis.config('RESETSTAT');
    const { json } = await fencepost(['doctor', '--json', ...args], { env });
    const stats = await redis.info('commandstats');
    const calls = [...stats.matchAll(/:calls=(\d+)/g)].map(([, count]) => Number(count));
    return { commands: calls.reduce((sum, count) => sum + count, 0), findings: JSON.stringify(json) };
  }

  it.each([
    ['Redis', inRedis],
    ['PostgreSQL', inPostgres],
  ])(
    'has Redis execute few commands for thousands of idle crons, with the ledger in %s',
    { timeout: 120_000 },
    async (_where, open) => {
      const at = await open(redis, server.url);
      const names = Array.from({ length: MANY }, (_, n) => nameOf(n));
      await add(at, names.slice(0, FEW), SUCCEEDED);
      const few = await examine(at);
      await add(at, names.slice(FEW), SUCCEEDED);
      const many = await examine(at);
      console.log(`${few.commands} commands at ${FEW} crons, ${many.commands} at ${MANY}`);
      expect(many.findings).toContain(`${MANY} crons`);
      expect(many.commands).toBeLessThanOrEqual(MAX_COMMANDS);
      expect(many.commands - few.commands).toBeLessThanOrEqual(((MANY - FEW) / 100) * MAX_PER_HUNDRED);

      // What needs a person is found among them.
      await add(at, ['failing'], FAILED);
      await add(at, ['asking'], UNCERTAIN);
      const { findings, commands } = await examine(at);
      expect(findings).toMatch(/"code":"FAILING",[^}]*"subject":"failing"/);
      expect(findings).toMatch(/"code":"UNCERTAIN",[^}]*"subject":"asking@/);
      expect(findings).not.toContain('UNREAD');
      expect(commands - many.commands).toBeLessThanOrEqual(2 * MAX_PER_FOUND);
      await at.close();
    },
  );
});
