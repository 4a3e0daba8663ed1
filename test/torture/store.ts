import { systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { startPostgres } from '../../scripts/postgres.mjs';
import { chaosRedis } from '../chaos/chaos-redis.js';
import { between } from '../chaos/draw.js';
import type { Fault } from '../chaos/fault.js';
import { redisOutages } from '../chaos/faults/redis-faults.js';
import { faultyLink } from '../chaos/faulty-link.js';

/** What a peer keeps its state in; a fresh one for each. */
export interface Store {
  readonly env: Readonly<Record<string, string>>;
  readonly faults: readonly Fault[];
  stop(): Promise<void>;
}

/**
 * One that never evicts, and loses nothing it has acknowledged when its process is killed: each write is with the kernel
 * before it is answered. To wait for the disk as well, with every write, would be for machines that lose their power.
 */
export async function redisStore(): Promise<Store> {
  const redis = await chaosRedis({ appendfsync: 'no', 'maxmemory-policy': 'noeviction' });
  return { env: { REDIS_URL: redis.url }, faults: redisOutages(redis), stop: () => redis.stop() };
}

const FROZEN_MS = { least: 300, most: 3_000 };
const GONE_MS = { least: 100, most: 1_500 };

/** The same outages as seen by a client, made between it and the server: nothing answers, or every connection breaks. */
export async function postgresStore(): Promise<Store> {
  const server = await startPostgres();
  const address = new URL(server.url);
  const link = await faultyLink(Number(address.port || 5432));
  address.host = `127.0.0.1:${link.port}`;
  const faults: Fault[] = [
    storeFault('postgres-frozen', async (random, signal) => {
      link.hold();
      await sleep(systemClock, between(FROZEN_MS, random), signal);
      link.heal('deliver');
    }),
    storeFault('postgres-gone', async (random, signal) => {
      link.cut();
      await sleep(systemClock, between(GONE_MS, random), signal);
      link.heal('reset');
    }),
  ];
  const stop = async () => {
    await link.close();
    await server.stop();
  };
  return { env: { DATABASE_URL: address.href }, faults, stop };
}

function storeFault(kind: string, during: (random: () => number, signal: AbortSignal) => Promise<void>): Fault {
  return {
    ...{ kind, target: 'store', weight: 1 },
    strike: async (random, signal) => {
      await during(random, signal);
      return true;
    },
  };
}
