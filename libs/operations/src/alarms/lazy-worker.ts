import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { Telemetry } from '@fencepost/jobs';
import { reportQueueFailure } from '@fencepost/jobs/internal';
import type { AlarmProcessor } from './alarm.processor.js';

export interface LazyWorkerDeps {
  readonly open: () => Pick<AlarmProcessor, 'start' | 'stop'>;
  /** Whether there is anybody outside who is told of anything. */
  readonly isWanted: () => boolean;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Between two looks whether it is wanted. */
  readonly lookEveryMs: number;
}

/** Takes messages from their queue from when the first receiver is known: before, that would be two connections for nothing. */
export class LazyWorker {
  #processor: ReturnType<LazyWorkerDeps['open']> | null = null;
  #cancel: CancelTimer = () => {};
  #opening: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(private readonly deps: LazyWorkerDeps) {}

  start(): void {
    this.#opening = this.#open().then(() => this.#arm());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#opening;
    await this.#processor?.stop();
  }

  #arm(): void {
    if (this.#stopped || this.#processor) return;
    this.#cancel = this.deps.clock.after(this.deps.lookEveryMs, () => this.start());
  }

  /** One that could not be started is thrown away, and the next look makes another. */
  async #open(): Promise<void> {
    if (!this.deps.isWanted()) return;
    const processor = this.deps.open();
    try {
      await processor.start();
      this.#processor = processor;
    } catch (error) {
      reportQueueFailure(this.deps.telemetry, { operation: 'alarm-queue.open' }, error);
      await processor.stop();
    }
  }
}
