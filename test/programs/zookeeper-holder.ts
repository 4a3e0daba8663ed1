import { Leases } from '@fencepost/lease';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { RedisFencedValues } from '@fencepost/lease/sinks';
import { ZookeeperLeaseStore } from '@fencepost/lease/zookeeper';

/** Holds a lease until it is lost, and then still tries to write under its fence. */
const { REDIS_URL: url = '', SERVERS = '', PREFIX: prefix = '', TTL: ttl = '' } = process.env;
const redis = await connectRedis({ url, commandTimeoutMs: 5_000, name: 'holder' });
const sink = new RedisFencedValues({ redis, prefix, tenant: 'default', downstream: 'sink' });
const leases = new Leases({ store: new ZookeeperLeaseStore({ servers: SERVERS.split(','), prefix }), ttl });
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

const lease = await leases.acquire('r');
await sink.set('r', 'first', { fence: lease.fence });
lease.signal.addEventListener('abort', () => void writeAfterLoss());
say({ event: 'holds', fence: lease.fence });

async function writeAfterLoss(): Promise<void> {
  const reason: unknown = lease.signal.reason;
  const write = await sink.set('r', 'late', { fence: lease.fence }).catch((error: unknown) => error);
  say({ event: 'lost', code: codeOf(reason), write: codeOf(write) });
  await leases.close();
  await closeRedis(redis);
  process.exit();
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : error;
}
