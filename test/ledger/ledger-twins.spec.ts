import { afterAll, beforeAll, describe } from 'vitest';
import { RedisLedger } from '../../libs/ledger/src/redis-ledger.js';
import { invariantsContract } from '../../libs/jobs/src/testing/ledger-contract/invariants.contract.js';
import { redisSpaces } from '../jobs/redis-space.js';
import { twinHarness } from '../support/ledger-twins.js';
import { postgresLedgerRoom, type PostgresLedgerRoom } from '../support/postgres-ledger-room.js';
import { postgresForTests, type TestPostgres } from '../support/postgres.js';

const spaces = redisSpaces();

describe('the memory ledger answers as the Redis ledger does', () => {
  invariantsContract(async (timing = {}) => {
    const redis = spaces.redis();
    const now = async () => {
      const [seconds, micros] = await redis.time();
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    };
    return twinHarness({ ledger: new RedisLedger({ redis, ...spaces.fresh(), timing }), timing, now });
  }, 40);
});

describe('the memory ledger answers as the PostgreSQL ledger does', () => {
  let postgres: TestPostgres;
  let room: PostgresLedgerRoom;
  beforeAll(async () => {
    postgres = await postgresForTests();
    room = await postgresLedgerRoom(postgres.url);
  });
  afterAll(async () => {
    await room?.close();
    await postgres?.stop();
  });

  invariantsContract(
    async (timing = {}) => twinHarness({ ledger: room.ledger({ timing }), timing, now: () => room.now() }),
    40,
  );
});
