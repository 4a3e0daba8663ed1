import type { Cluster, Redis } from 'ioredis';
import type { StopWatching } from '../store/lease-store.js';
import { tellWatcher } from '../store/tell-watcher.js';
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
  const subscriber: RedisClient = redis.isCluster ? (redis as Cluster).duplicate() : (redis as Redis).duplicate();
  // The connection it was made from goes to the same server and reports its troubles; a second voice adds nothing.
  subscriber.on('error', () => {});
  subscriber.on('message', (_channel: string, message: string) => tellWatcher(onMessage, message));
  try {
    await subscriber.subscribe(channel);
  } catch (error) {
    await closeRedis(subscriber);
    throw error;
  }
  return () => closeRedis(subscriber);
}
