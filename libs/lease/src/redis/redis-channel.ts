import type { Cluster, Redis } from 'ioredis';
import type { StopWatching } from '../store/lease-store.js';
import { notifyWatcher } from '../store/lease-request.js';
import { closeRedis } from './redis-connection.js';
import type { RedisClient } from './redis-script.js';

/**
 * Listens to one channel on a connection of its own, because a subscribed connection can do nothing else.
 *
 * What is published while it is down is lost: a message here is a hint, never the only way to learn something.
 */
export async function watchChannel(
  redis: RedisClient,
  channel: string,
  onMessage: (message: string) => void,
): Promise<StopWatching> {
  const subscriber: RedisClient = redis.isCluster
    ? (redis as Cluster).duplicate()
    : (redis as Redis).duplicate({ autoResubscribe: false });
  // The connection it was made from goes to the same server and reports its troubles; a second voice adds nothing.
  subscriber.on('error', () => {});
  subscriber.on('message', (_channel: string, message: string) => notifyWatcher(onMessage, message));
  try {
    await subscriber.subscribe(channel);
  } catch (error) {
    await closeRedis(subscriber);
    throw error;
  }
  if (!redis.isCluster) listenAgain(subscriber as Redis, channel);
  return () => closeRedis(subscriber);
}

/**
 * At each new connection. ioredis would do it too, but without a handler for a server that doesn't answer in time: an
 * unhandled rejection, which ends the process.
 */
export function listenAgain(subscriber: Redis, channel: string): void {
  const retry = () => {
    if (subscriber.status === 'ready') subscriber.disconnect(true);
  };
  subscriber.on('ready', () => void subscriber.subscribe(channel).catch(retry));
}
