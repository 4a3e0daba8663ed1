import { EventEmitter } from 'node:events';
import * as bullmq from 'bullmq';
import type { BackendFactory, QueueBaseOptions, RedisQueueBackend } from 'bullmq';

/** BullMQ 5 knows one store, and takes no other. */
const { RedisQueueBackend: Base, createRedisBackend } = bullmq as Partial<typeof bullmq>;

/** The store that BullMQ makes for a queue or worker, and what it makes it from. */
export interface PlainBackend {
  readonly plain: RedisQueueBackend;
  readonly name: string;
  readonly options: QueueBaseOptions;
}

/** BullMQ's store, to be extended. */
export const QueueBackend = Base ?? (EventEmitter as unknown as typeof RedisQueueBackend);

/** @returns with BullMQ 5, which has no such interface, what makes its queues and workers use their own store */
export function backendFactory(make: (made: PlainBackend) => RedisQueueBackend): BackendFactory<RedisQueueBackend> {
  if (!createRedisBackend) return undefined as unknown as BackendFactory<RedisQueueBackend>;
  return (name, options, connections) => {
    const plain = createRedisBackend(name, options, connections);
    // It has made the connections, and their errors are told by the one that works with them.
    plain.on('error', () => {});
    return make({ plain, name, options });
  };
}
