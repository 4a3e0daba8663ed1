import { setTimeout as work } from 'node:timers/promises';
import { RedisSemaphoreStore, Semaphores } from '@fencepost/lease/coordination';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';

/**
 * Takes a place again and again, and writes into a stream when it begins to act there and when it has stopped. The stream
 * knows nothing of the semaphore, and its ids are the server's time.
 */
const { REDIS_URL: url = '', HOLDER: holder = '', PREFIX: prefix = '', PLACES = '', TTL = '', DIES } = process.env;
const redis = await connectRedis({ url, commandTimeoutMs: 5_000, name: holder });
const store = new RedisSemaphoreStore({ redis, prefix, tenant: 'default' });
const semaphores = new Semaphores({ store, holder, ttl: Number(TTL) });
const semaphore = semaphores.of('r', { places: Number(PLACES) });
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());

async function tell(what: 'acts' | 'stopped', fence: number): Promise<void> {
  await redis.xadd(`${prefix}:log`, '*', 'what', what, 'holder', holder, 'fence', fence.toFixed(0));
}

while (!stop.signal.aborted) {
  await semaphore
    .using({ wait: '1m', signal: stop.signal }, async ({ fence }) => {
      await tell('acts', fence);
      if (DIES) process.kill(process.pid, 'SIGKILL');
      await work(20 * Math.random());
      await tell('stopped', fence);
    })
    .catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
}
await semaphores.close();
await closeRedis(redis);
process.exit();
