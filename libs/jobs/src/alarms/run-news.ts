import { scrubText, type Clock } from '@fencepost/lease';
import type { CronPing } from '../catalog/definition.js';
import type { EventListener, Telemetry } from '../telemetry/telemetry.js';
import type { Events } from '../telemetry/events.js';
import type { AlarmQueue, MessageType, PingOn } from './alarm-queue.js';
import { pingMessages, webhookMessages, type Webhook } from './messages.js';

export interface RunNewsDeps {
  readonly telemetry: Telemetry;
  readonly queue: AlarmQueue;
  readonly webhooks: readonly Webhook[];
  /** The addresses of a cron; `undefined` for one without. */
  readonly pingOf: (cron: string) => CronPing | undefined;
  readonly clock: Clock;
}

/** Beyond this many that wait for the queue, news are dropped: a queue that is away must not fill the process. */
const MOST_WAITING = 1_000;

type Ended = 'attempt.succeeded' | 'attempt.failed' | 'attempt.uncertain';

const SAID: Readonly<Record<Ended, { readonly type: MessageType; readonly on: PingOn }>> = {
  'attempt.succeeded': { type: 'run.succeeded', on: 'success' },
  'attempt.failed': { type: 'run.failed', on: 'failure' },
  'attempt.uncertain': { type: 'run.uncertain', on: 'uncertain' },
};

/** Tells those outside how the runs of this worker end. Never awaited by a run: what can't be queued is only troubled about. */
export class RunNews {
  readonly #waiting = new Set<Promise<void>>();
  #stop = () => {};

  constructor(private readonly deps: RunNewsDeps) {}

  start(): void {
    this.#stop = this.deps.telemetry.listen(this.#hear);
  }

  /** Resolves when what was heard is in the queue, or can't be put there. */
  async stop(): Promise<void> {
    this.#stop();
    await Promise.all(this.#waiting);
  }

  readonly #hear: EventListener = (name, detail) => {
    if (name !== 'attempt.succeeded' && name !== 'attempt.failed' && name !== 'attempt.uncertain') return;
    const ended = detail as Events[Ended];
    // Another attempt follows: how the run ends is not known yet.
    if ('state' in ended && ended.state !== 'failed') return;
    this.#tell(name, ended);
  };

  #tell(name: Ended, ended: Events[Ended]): void {
    const { webhooks, pingOf, clock, telemetry } = this.deps;
    const { type, on } = SAID[name];
    const { cron, runId: id } = ended;
    const now = clock.now();
    const messages = [
      ...webhookMessages(webhooks, { id, cron, type, at: now, data: dataOf(ended) }),
      ...pingMessages(pingOf(cron), on, { cron, id }),
    ];
    if (messages.length === 0) return;
    if (this.#waiting.size >= MOST_WAITING) {
      return telemetry.emit('queue.trouble', { doing: 'telling of runs', error: 'too much waits already' });
    }
    const work = this.deps.queue
      .enqueue(messages)
      .catch((error: unknown) => telemetry.emit('queue.trouble', { doing: 'telling of runs', error: String(error) }))
      .finally(() => this.#waiting.delete(work));
    this.#waiting.add(work);
  }
}

function dataOf(ended: Events[Ended]): Readonly<Record<string, unknown>> {
  const { cron, runId, attempt } = ended;
  if ('tookMs' in ended) return { cron, runId, attempt, tookMs: ended.tookMs };
  if ('error' in ended) return { cron, runId, attempt, error: scrubText(ended.error) };
  const { effect, item, doubt } = ended;
  return { cron, runId, attempt, effect, item, doubt };
}
