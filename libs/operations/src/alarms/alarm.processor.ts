import type { KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { Worker, type Job } from 'bullmq';
import {
  ALARM_QUEUE_NAME,
  FIRST_PAUSE_MS,
  MAX_TRIES,
  queuePrefix,
  reportQueueFailure,
  type Message,
} from '@fencepost/jobs/internal';
import type { Telemetry } from '@fencepost/jobs';
import type { WebhookSender } from './webhook-sender.js';

export interface AlarmProcessorOptions extends KeySpace {
  /** For this worker alone, without a limit of retries per request; stays the caller's to close. */
  readonly redis: RedisClient;
  readonly webhookSender: Pick<WebhookSender, 'deliver'>;
  readonly telemetry: Telemetry;
}

/** A receiver that is slow holds up a few of the others and no run. */
const AT_ONCE = 10;
const DRAIN_DELAY_S = 5;

/** Takes messages from their queue, in every scheduler pod: the one that raised an alarm may be gone. */
export class AlarmProcessor {
  readonly #worker: Worker<Message>;

  constructor(private readonly options: AlarmProcessorOptions) {
    this.#worker = new Worker<Message>(ALARM_QUEUE_NAME, (job) => this.#deliver(job), {
      connection: options.redis,
      prefix: queuePrefix(options),
      concurrency: AT_ONCE,
      autorun: false,
      // A pod that died while it sent leaves the message to another one.
      stalledInterval: 15_000,
      maxStalledCount: MAX_TRIES,
      drainDelay: DRAIN_DELAY_S,
    });
    this.#worker.on('error', (error) => this.#trouble(error));
  }

  /** @throws when BullMQ can't reach its server */
  async start(): Promise<void> {
    await this.#worker.waitUntilReady();
    this.#worker.run().catch((error: unknown) => this.#trouble(error));
  }

  /** What is being sent is cut off by its own timeout, and not waited for: another pod sends it again. */
  async stop(): Promise<void> {
    await this.#worker.close(true);
  }

  #deliver(job: Job<Message>): Promise<void> {
    const attempt = job.attemptsMade + 1;
    const retryInMs = attempt < MAX_TRIES ? FIRST_PAUSE_MS * 2 ** (attempt - 1) : null;
    return this.options.webhookSender.deliver({ message: job.data, attempt, retryInMs });
  }

  #trouble(error: unknown): void {
    reportQueueFailure(this.options.telemetry, { operation: 'message.send' }, error);
  }
}
