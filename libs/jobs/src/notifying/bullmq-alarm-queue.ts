import type { KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { Queue } from 'bullmq';
import { ALARM_QUEUE_NAME } from '../queue/routing.js';
import { queuePrefix } from '../queue/run-queues.js';
import type { AlarmQueue, Message } from './messages.js';

/** Tries of one message, and the pause before the second, which doubles: about 85 minutes together. */
export const MAX_TRIES = 11;
export const FIRST_PAUSE_MS = 5_000;

/** As long as a message is kept, the same one again changes nothing. */
const KEEP = { age: 24 * 3_600, count: 5_000 };
/** Those that were given up, for people to look at, and to try again from Bull Board. */
const KEEP_FAILED = { age: 7 * 24 * 3_600, count: 5_000 };

export interface BullmqAlarmQueueOptions extends KeySpace {
  /** Stays the caller's to close. */
  readonly redis: RedisClient;
  readonly onTrouble: (error: Error) => void;
}

/** Messages, in a queue of their own beside that of the runs: a receiver that is away holds up no run. */
export class BullmqAlarmQueue implements AlarmQueue {
  #queue: Promise<Queue<Message>> | null = null;

  constructor(private readonly options: BullmqAlarmQueueOptions) {}

  async enqueue(messages: readonly Message[]): Promise<void> {
    if (messages.length === 0) return;
    const queue = await this.open();
    await queue.addBulk(
      messages.map((data) => ({
        name: data.kind === 'ping' ? `ping.${data.on}` : data.type,
        data,
        opts: {
          jobId: data.id,
          attempts: MAX_TRIES,
          backoff: { type: 'exponential', delay: FIRST_PAUSE_MS, jitter: 0.2 },
          removeOnComplete: KEEP,
          removeOnFail: KEEP_FAILED,
        },
      })),
    );
  }

  /** With the first message: most deployments have none. One that could not be opened is opened anew with the next. */
  open(): Promise<Queue<Message>> {
    this.#queue ??= this.#open().catch((error: unknown) => {
      this.#queue = null;
      throw error;
    });
    return this.#queue;
  }

  async close(): Promise<void> {
    await (await this.#queue?.catch(() => null))?.close();
  }

  /** BullMQ asks the server once for its version, and a queue whose question got no answer never works again. */
  async #open(): Promise<Queue<Message>> {
    const { redis, onTrouble } = this.options;
    const queue = new Queue<Message>(ALARM_QUEUE_NAME, { connection: redis, prefix: queuePrefix(this.options) });
    queue.on('error', onTrouble);
    try {
      await queue.waitUntilReady();
      return queue;
    } catch (error) {
      await queue.close();
      throw error;
    }
  }
}
