import { EventEmitter } from 'node:events';
import * as bullmq from 'bullmq';
import type { BackendFactory, QueueBaseOptions, RedisQueueBackend } from 'bullmq';

/** BullMQ 5 has one backend, and takes no other. */
const { RedisQueueBackend: Base, createRedisBackend } = bullmq as Partial<typeof bullmq>;

/** Whether jobs may be added other than by BullMQ's own scripts. */
export const TAKES_BACKENDS = createRedisBackend !== undefined;

/** The queue or worker that a backend is made for. */
export interface BackendOwner {
  readonly name: string;
  readonly options: QueueBaseOptions;
}

/** BullMQ's backend, on the connections of one that BullMQ has made. */
export class BackendBase extends (Base ?? (EventEmitter as unknown as typeof RedisQueueBackend)) {
  constructor(plain: RedisQueueBackend, { name, options }: BackendOwner) {
    super(plain.connection, name, plain.keys, (type) => plain.toKey(type), options, plain.blockingConnection);
  }
}

/** @returns `undefined` with BullMQ 5, whose queues and workers then use their own backend */
export function backendFactory(
  make: (plain: RedisQueueBackend, owner: BackendOwner) => RedisQueueBackend,
): BackendFactory<RedisQueueBackend> {
  if (!createRedisBackend) return undefined as unknown as BackendFactory<RedisQueueBackend>;
  return (name, options, connections) => {
    const plain = createRedisBackend(name, options, connections);
    // It only makes the connections. The backend that works with them reports their errors.
    plain.on('error', () => {});
    return make(plain, { name, options });
  };
}
