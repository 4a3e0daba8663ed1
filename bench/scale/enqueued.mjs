import { closeRedis } from '@fencepost/lease/redis';

const AT_ONCE = 5_000;
const BLOCK_MS = 100;

/**
 * When each run was enqueued, by the server's clock: BullMQ adds an event to a stream in the script that adds the job. The
 * stream is bounded, so it is read while it is written.
 */
export class Enqueued {
  /** In the order in which they were enqueued. */
  runs = [];
  #connection;
  #key;
  #stopped = false;
  #reading;

  constructor(client, prefix) {
    this.#connection = client.duplicate({ commandTimeout: undefined, maxRetriesPerRequest: null });
    this.#key = `{${prefix}:default}:runs`;
    this.#reading = this.#read();
  }

  async #read() {
    let last = '$';
    while (!this.#stopped) {
      const reply = await this.#connection.xread(
        'COUNT',
        AT_ONCE,
        'BLOCK',
        BLOCK_MS,
        'STREAMS',
        `${this.#key}:events`,
        last,
      );
      for (const [id, fields] of reply?.[0]?.[1] ?? []) {
        last = id;
        const event = Object.fromEntries(
          Array.from({ length: fields.length / 2 }, (_, n) => fields.slice(2 * n, 2 * n + 2)),
        );
        if (event.event === 'added') this.runs.push(runOf(event.jobId, Number(id.split('-')[0])));
      }
    }
  }

  /** All that wait, also what was enqueued before the reading began. */
  async waiting() {
    return (await this.#connection.lrange(`${this.#key}:wait`, 0, -1)).map((id) => runOf(id, NaN));
  }

  async stop() {
    this.#stopped = true;
    await this.#reading;
    await closeRedis(this.#connection);
  }
}

function runOf(jobId, enqueuedAt) {
  const [cron, at] = jobId.split('@');
  const scheduledAt = parseInt(at, 10);
  return { cron, scheduledAt, enqueuedAt, lateMs: enqueuedAt - scheduledAt };
}
