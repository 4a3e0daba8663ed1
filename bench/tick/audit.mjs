import { systemClock } from '@fencepost/lease';
import { RedisMembership } from '@fencepost/jobs/internal';
import { audit } from '@fencepost/operations/audit';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';

/** What became of every instant of the window, from the records alone. */
export async function auditOf({ redis }, { prefix }, { from, to }) {
  const space = { redis, prefix, tenant: 'default' };
  const ports = {
    catalog: new RedisCatalog(space),
    ledger: new RedisLedger(space),
    membership: new RedisMembership(space),
    clock: systemClock,
  };
  const { missed, doubled, unexplained, waiting, skipped, ran } = await audit(ports, { from, to });
  return { missed, doubled, unexplained, waiting, skipped, ran };
}
