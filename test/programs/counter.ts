import { Leases, StaleFenceError } from '@fencepost/lease';
import { closeRedis, connectRedis, RedisLeaseStore } from '@fencepost/lease/redis';
import { RedisFencedValues } from '@fencepost/lease/sinks';

/**
 * Adds one to a counter, again and again, each time under the lease: reads it, then writes it, in two steps that nothing
 * but the lease holds together. Once into a plain key, and once into a sink that compares the fence.
 *
 * After `PAUSE_IN` rounds it says where it is between the two steps, so that a test can freeze it there.
 */
const { REDIS_URL: url = '', PREFIX: prefix = '', ROUNDS = '', PAUSE_IN = '' } = process.env;
const redis = await connectRedis({ url, commandTimeoutMs: 5_000, name: 'counter' });
const space = { redis, prefix, tenant: 'default' };
const leases = new Leases({ store: new RedisLeaseStore(space), ttl: process.env['TTL'] ?? '10s' });
const sink = new RedisFencedValues({ ...space, downstream: 'counter' });
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const tally = { event: 'done', accepted: 0, refused: 0, lost: 0 };

async function add(round: number): Promise<void> {
  const lease = await leases.acquire('counter', { wait: '2m' });
  const plain = Number((await redis.get(`${prefix}:plain`)) ?? 0);
  const fenced = Number((await sink.get('counter'))?.value ?? 0);
  if (`${round}` === PAUSE_IN) {
    // It goes on where it was, as one that was frozen does: it looks at no clock and at no signal of its lease. It listens
    // before it says where it is, because whoever hears that may freeze and thaw it before the next line.
    const thawed = new Promise((resolve) => process.once('SIGCONT', () => resolve(undefined)));
    say({ event: 'between' });
    await thawed;
  }
  await redis.set(`${prefix}:plain`, `${plain + 1}`);
  try {
    await sink.set('counter', `${fenced + 1}`, { fence: lease.fence });
    await redis.rpush(`${prefix}:fences`, `${lease.fence}`);
    tally.accepted += 1;
  } catch (error) {
    if (!(error instanceof StaleFenceError)) throw error;
    tally.refused += 1;
  }
  if (!(await lease.release())) tally.lost += 1;
}

for (let round = 0; round < Number(ROUNDS); round++) await add(round);
say(tally);
await leases.close();
await closeRedis(redis);
process.exit();
