import { randomUUID } from 'node:crypto';
import type { Delivery, Ledger, OverdueRun } from '../ledger/ledger.js';
import { cronOfRun } from '../schedule/occurrence.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Dispatcher } from './dispatcher.js';
import type { RunQueue } from './run-queue.js';

export interface RecoveryDeps {
  readonly ledger: Ledger;
  readonly queue: RunQueue;
  readonly dispatcher: Dispatcher;
  readonly telemetry: Telemetry;
  /** A run that was looked at is looked at again after this long. */
  readonly lookAgainMs: number;
  /** How many finished runs of a cron are kept. */
  readonly keepRuns: number;
}

/** Puts back what a crash left between two steps. Every step is repeatable, so doing it twice is only work. */
export class Recovery {
  constructor(private readonly deps: RecoveryDeps) {}

  /** For a new holder: what its predecessor claimed and perhaps never enqueued. */
  async recoverPending(cron: string): Promise<void> {
    const pending = await this.deps.ledger.pending(cron);
    await this.#redeliver(pending.map((delivery) => ({ ...delivery, state: 'claimed' })));
  }

  /** Re-delivers runs whose worker is gone or whose delivery got lost, and forgets what is old. */
  async sweep(cron: string): Promise<void> {
    const { ledger, queue, lookAgainMs, keepRuns } = this.deps;
    const overdue = await ledger.overdue(cron, lookAgainMs);
    // A running run that is overdue has lost its worker, whatever the queue still thinks of its job.
    const gone = overdue.filter(({ state }) => state === 'running');
    const waiting = overdue.filter(({ state }) => state !== 'running');
    const held = await queue.holds(waiting);
    const lost = waiting.filter((_, index) => !held[index]);
    await this.#redeliver([...gone, ...lost]);
    await ledger.forget(cron, keepRuns);
  }

  async #redeliver(runs: readonly OverdueRun[]): Promise<void> {
    const { ledger, telemetry, dispatcher } = this.deps;
    const numbered = await Promise.all(
      runs.map(async (run): Promise<Delivery[]> => {
        const delivery = await ledger.redeliver({ runId: run.runId, delivery: run.delivery }, randomUUID());
        if (delivery === null) return [];
        telemetry.emit('run.redelivered', { ...delivery, cron: cronOfRun(run.runId), was: run.state });
        return [delivery];
      }),
    );
    await dispatcher.deliver(numbered.flat());
  }
}
