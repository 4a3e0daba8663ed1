import { Redis } from 'ioredis';
import { expect, vi } from 'vitest';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { privateRedis, type PrivateRedis } from './redis.js';
import { tcpProxy, type TcpProxy } from './proxies.js';

export interface ReplicatedRedis {
  readonly primary: PrivateRedis;
  readonly replicaServer: PrivateRedis;
  /** A connection to the primary. */
  readonly redis: Redis;
  /** A connection to the replica. */
  readonly replica: Redis;
  /** Between the two: swallowing makes the primary acknowledge what the replica never gets. */
  readonly link: TcpProxy;
  /** Another connection to the primary, as the library opens them. */
  connect(): Promise<Redis>;
  /** Resolves when the replica has all that was written until now. */
  untilReplicated(): Promise<void>;
  /** What sentinels or an operator do when they no longer hear of the primary. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

/** @param settings of redis.conf, for both */
export async function replicatedRedis(settings: Record<string, string> = {}): Promise<ReplicatedRedis> {
  const quick = { 'repl-diskless-sync-delay': '0', 'repl-ping-replica-period': '1', ...settings };
  const primary = await privateRedis(quick);
  const link = await tcpProxy(primary.port);
  const replicaServer = await privateRedis({ ...quick, replicaof: `127.0.0.1 ${link.port}` });
  const replica = new Redis(replicaServer.url);
  const opened: Redis[] = [replica];
  const connect = async () => {
    const redis = await connectRedis({ url: primary.url, commandTimeoutMs: 5_000, name: 'test' });
    opened.push(redis);
    return redis;
  };
  const redis = await connect();
  const untilReplicated = async () => {
    await redis.set('mark', '');
    await vi.waitFor(async () => expect(await redis.wait(1, 200)).toBe(1), { timeout: 20_000 });
  };
  await untilReplicated();
  return {
    ...{ primary, replicaServer, redis, replica, link, connect, untilReplicated },
    promote: async () => void (await replica.replicaof('NO', 'ONE')),
    stop: async () => {
      await Promise.all(opened.map(closeRedis));
      await link.close();
      await Promise.all([primary.stop(), replicaServer.stop()]);
    },
  };
}
