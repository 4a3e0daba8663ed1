import { RedisAuditTrail } from '../../libs/ledger/src/redis/redis-audit-trail.js';
import { auditTrailContract, KEPT } from '../contracts/audit-trail.contract.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();

auditTrailContract('the Redis audit trail', async () => {
  const [redis, space] = [spaces.redis(), spaces.fresh()];
  return {
    trail: new RedisAuditTrail({ redis, keep: KEPT, ...space }),
    elsewhere: new RedisAuditTrail({ redis, keep: KEPT, ...space }),
    now: async () => {
      const [seconds, micros] = await redis.time();
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    },
  };
});
