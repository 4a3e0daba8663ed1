import { afterAll, beforeAll, describe } from 'vitest';
import { RedisLedger } from '../../libs/ledger/src/redis-ledger.js';
import { invariantsContract } from '../../libs/testing/src/ledger-contract/invariants.contract.js';
import { redisSpaces } from '../jobs/redis-space.js';
import { adapterHarness } from '../support/ledger-adapters.js';
import { postgresLedgerSandbox, type PostgresLedgerSandbox } from '../support/postgres-ledger-sandbox.js';
import { postgresForTests, type TestPostgres } from '../support/postgres.js';

const spaces = redisSpaces();

describe('the memory ledger answers as the Redis ledger does', () => {
  invariantsContract(async (timing = {}) => {
    const redis = spaces.redis();
    const now = async () => {
      const [seconds, micros] = await redis.time();
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    };
    return adapterHarness({ ledger: new RedisLedger({ redis, ...spaces.fresh(), timing }), timing, now });
  }, 40);
});

describe('the memory ledger answers as the PostgreSQL ledger does', () => {
  let postgres: TestPostgres;
  let sandbox: PostgresLedgerSandbox;
  beforeAll(async () => {
    postgres = await postgresForTests();
    sandbox = await postgresLedgerSandbox(postgres.url);
  });
  afterAll(async () => {
    await sandbox?.close();
    await postgres?.stop();
  });

  invariantsContract(
    async (timing = {}) => adapterHarness({ ledger: sandbox.ledger({ timing }), timing, now: () => sandbox.now() }),
    40,
  );
});
