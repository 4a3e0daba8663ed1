import { randomUUID } from 'node:crypto';
import { LEDGER_BATCH, type Delivery, type OccurrenceLog, type OverdueRuns, type RunHistory } from '@fencepost/ledger';
import { cronOfRun } from '@fencepost/ledger/run';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Dispatcher } from './dispatcher.js';
import { inGroups } from './in-groups.js';
import type { RunQueue } from '../queue/run-queue.js';
import { reportStoreFailure } from '../telemetry/report-failure.js';

type OverdueRun = OverdueRuns['runs'][number];

export interface RecoveryDeps {
  readonly ledger: OccurrenceLog & Pick<RunHistory, 'forget'>;
  readonly queue: RunQueue;
  readonly dispatcher: Dispatcher;
  readonly telemetry: Telemetry;
  /** A run that was looked at is looked at again after this long. */
  readonly lookAgainMs: number;
  /** How many finished runs of a cron are kept. */
  readonly keepRuns: number;
  /** Hands on what waits in the ledger; where there is none it waits for others. */
  /** Hands on notifications that wait in the ledger. */
  readonly notifier?: { drain(cron: string): void };
}

/** Then other crons have their turn. */
const MAX_FORGETS = 20;

/** The oldest runs of a line keep it from going on; those behind them are looked at when they have come to its head. */
const MAX_BLOCKING = 20;

/** Puts back what a crash left between two steps. Every step is repeatable, so doing it twice is only work. */
export class Recovery {
  readonly #unfinished = new Set<string>();

  constructor(private readonly deps: RecoveryDeps) {}

  /** For a new holder: what its predecessor claimed and perhaps never enqueued. */
  async recoverPending(cron: string): Promise<void> {
    const pending = await this.deps.ledger.pending(cron);
    await this.#redeliver(pending.map((delivery) => ({ ...delivery, state: 'claimed' })));
  }

  /**
   * Re-delivers runs whose worker is gone or whose delivery got lost, and forgets what is old. Never rejects: a cron that
   * could not be swept is its own trouble.
   * @returns those of the crons that have no open run, and nothing that anybody is to be notified of
   */
  async sweep(crons: readonly string[]): Promise<string[]> {
    const found = await this.#overdue(crons);
    const quiet: string[] = [];
    await inGroups(crons.entries(), async ([index, cron]) => {
      try {
        if ((await this.#mend(cron, found[index])) === 0) quiet.push(cron);
      } catch (error) {
        reportStoreFailure(this.deps.telemetry, { operation: 'cron.sweep', cron }, error);
      }
    });
    return quiet;
  }

  /**
   * Delivers the runs again that block their cron and that the queue has lost. A job that is with a worker, and was
   * already with it at the last look, is lost too: a worker that lives begins the run as soon as it has the job.
   * @param taken deliveries that a worker had at the last look
   * @returns deliveries that a worker has now
   */
  async unblock(cron: string, taken: ReadonlySet<string>): Promise<Set<string>> {
    const { ledger, queue } = this.deps;
    const blocking = await ledger.unstarted(cron, MAX_BLOCKING);
    const places = blocking.length === 0 ? [] : await queue.holds(blocking);
    const isLost = (run: OverdueRun, n: number) =>
      places[n] === null || (places[n] === 'active' && taken.has(deliveryName(run)));
    const lost = blocking.filter(isLost);
    if (lost.length > 0) await this.#redeliver(lost);
    return new Set(blocking.filter((run, n) => places[n] === 'active' && !isLost(run, n)).map(deliveryName));
  }

  /** Crons of which a sweep found more than it takes on at once, since this was asked last. */
  takeUnfinished(): string[] {
    const crons = [...this.#unfinished];
    this.#unfinished.clear();
    return crons;
  }

  async #overdue(crons: readonly string[]): Promise<readonly PromiseSettledResult<OverdueRuns>[]> {
    const { ledger, lookAgainMs: againMs, keepRuns: keep } = this.deps;
    try {
      return await ledger.overdueAll(crons, { againMs, keep });
    } catch (reason) {
      return crons.map(() => ({ status: 'rejected', reason }));
    }
  }

  /** @returns how much of the cron is to be looked at again: open runs, and notifications that wait */
  async #mend(cron: string, found: PromiseSettledResult<OverdueRuns> | undefined): Promise<number> {
    if (found?.status !== 'fulfilled') throw found?.reason;
    const { runs, watched, surplus, notifications } = found.value;
    const lost = runs.length === 0 ? [] : await this.#lost(runs);
    if (lost.length > 0) await this.#redeliver(lost);
    const isForgotten = !surplus || (await this.#forget(cron));
    // A full batch that lacks nothing is a long queue: asking about all of it at once would cost as much with each sweep.
    if ((runs.length >= LEDGER_BATCH && lost.length > 0) || !isForgotten) this.#unfinished.add(cron);
    if (notifications > 0) this.deps.notifier?.drain(cron);
    return watched + notifications;
  }

  /** A job may end more runs between two sweeps than the ledger forgets at once. */
  async #forget(cron: string): Promise<boolean> {
    const { ledger, keepRuns } = this.deps;
    for (let calls = 0; calls < MAX_FORGETS; calls += 1) {
      if ((await ledger.forget(cron, keepRuns)) < LEDGER_BATCH) return true;
    }
    return false;
  }

  async #lost(overdue: readonly OverdueRun[]): Promise<OverdueRun[]> {
    // A running run that is overdue has lost its worker, whatever the queue still thinks of its job.
    const gone = overdue.filter(({ state }) => state === 'running');
    const waiting = overdue.filter(({ state }) => state !== 'running');
    const places = waiting.length === 0 ? [] : await this.deps.queue.holds(waiting);
    return [...gone, ...waiting.filter((_, index) => places[index] === null)];
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

function deliveryName({ runId, delivery }: Delivery): string {
  return `${runId} ${delivery}`;
}
