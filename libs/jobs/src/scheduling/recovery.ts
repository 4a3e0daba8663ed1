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
  readonly ledger: OccurrenceLog & Pick<RunHistory, 'forgetAll'>;
  readonly queue: RunQueue;
  readonly dispatcher: Dispatcher;
  readonly telemetry: Telemetry;
  /** A run that was checked is checked again after this long. */
  readonly lookAgainMs: number;
  /** Finished runs kept per cron. */
  readonly keepRuns: number;
  /** Hands on notifications that wait in the ledger. */
  readonly notifier?: { drain(cron: string): void };
}

/** Then other crons get their turn: 10,000 runs a second at the usual interval. */
const MAX_FORGETS = 100;

/** The oldest runs of a queue block the others, which are checked when they are the oldest. */
const MAX_BLOCKING = 20;

/** Runs beyond those that are kept that may pile up until they are looked at again: three in a hundred, and not just a few. */
const TOLERATED_SHARE = 0.03;
const TOLERATED_LEAST = 30;

/** Completes steps that a crash interrupted. Every step is idempotent, so repeating one is harmless. */
export class Recovery {
  readonly #surplus = new Map<string, number>();

  constructor(private readonly deps: RecoveryDeps) {}

  /** For a new holder: runs that the previous one claimed and perhaps never enqueued. */
  async recoverPending(cron: string): Promise<void> {
    const pending = await this.deps.ledger.pending(cron);
    await this.#redeliver(pending.map((delivery) => ({ ...delivery, state: 'claimed' })));
  }

  /**
   * Redelivers runs whose worker died or whose delivery was lost, and deletes old runs. Never rejects: a failure affects one
   * cron only.
   * @returns the crons without open runs and without pending notifications
   */
  async sweep(crons: readonly string[]): Promise<string[]> {
    const found = await this.#overdue(crons);
    const quiet: string[] = [];
    await inGroups(crons.entries(), async ([index, cron]) => {
      try {
        if ((await this.#mend(cron, found[index])) === 0) quiet.push(cron);
      } catch (error) {
        this.#report(cron, error);
      }
    });
    const failed = await this.#forget(crons.filter((_, index) => hasSurplus(found[index])));
    return quiet.filter((cron) => !failed.has(cron));
  }

  /** Of these the crons that a sweep may find something of. None when the ledger failed: they are asked about again in a minute. */
  async withOpenRuns(crons: readonly string[]): Promise<readonly string[]> {
    try {
      return await this.deps.ledger.withOpenRuns(crons);
    } catch (error) {
      reportStoreFailure(this.deps.telemetry, { operation: 'cron.sweep', count: crons.length }, error);
      return [];
    }
  }

  /**
   * Redelivers runs that block their cron and that the queue has lost. A job that a worker has had since the last check is lost
   * too: a live worker begins the run as soon as it has the job.
   * @param taken deliveries that a worker had at the last check
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

  /**
   * Returns and clears the crons of which a sweep deleted runs, with how many times as many as may pile up until the next look;
   * `Infinity`: there are more to look at now.
   */
  takeSurplus(): ReadonlyMap<string, number> {
    const found = new Map(this.#surplus);
    this.#surplus.clear();
    return found;
  }

  #overdue(crons: readonly string[]): Promise<readonly PromiseSettledResult<OverdueRuns>[]> {
    const { ledger, lookAgainMs: againMs, keepRuns: keep } = this.deps;
    return settled(crons, () => ledger.overdueAll(crons, { againMs, keep }));
  }

  /** @returns the number of open runs and pending notifications to check again */
  async #mend(cron: string, found: PromiseSettledResult<OverdueRuns> | undefined): Promise<number> {
    if (found?.status !== 'fulfilled') throw found?.reason;
    const { runs, watched, notifications } = found.value;
    const lost = runs.length === 0 ? [] : await this.#lost(runs);
    if (lost.length > 0) await this.#redeliver(lost);
    // A full batch without a loss is a long queue: checking all of it at once would cost as much at each sweep.
    if (runs.length >= LEDGER_BATCH && lost.length > 0) this.#surplus.set(cron, Infinity);
    if (notifications > 0) this.deps.notifier?.drain(cron);
    return watched + notifications;
  }

  /**
   * As many rounds as the surplus asks for: more runs may end between two sweeps than the ledger deletes per call.
   * @returns the crons whose runs could not be deleted
   */
  async #forget(crons: readonly string[]): Promise<ReadonlySet<string>> {
    const { ledger, keepRuns } = this.deps;
    const failed = new Set<string>();
    let rest = crons;
    for (let rounds = 0; rest.length > 0 && rounds < MAX_FORGETS; rounds += 1) {
      const asked = rest;
      const outcomes = await settled(asked, () => ledger.forgetAll(asked, keepRuns));
      for (const [n, cron] of asked.entries()) {
        const outcome = outcomes[n];
        if (outcome?.status === 'fulfilled') {
          this.#addSurplus(cron, outcome.value);
        } else {
          failed.add(cron);
          this.#report(cron, outcome?.reason);
        }
      }
      rest = asked.filter((_, n) => mayHaveMore(outcomes[n]));
    }
    for (const cron of rest) this.#surplus.set(cron, Infinity);
    return failed;
  }

  #addSurplus(cron: string, forgotten: number): void {
    const tolerated = Math.max(TOLERATED_LEAST, TOLERATED_SHARE * this.deps.keepRuns);
    if (forgotten > 0) this.#surplus.set(cron, (this.#surplus.get(cron) ?? 0) + forgotten / tolerated);
  }

  #report(cron: string, error: unknown): void {
    reportStoreFailure(this.deps.telemetry, { operation: 'cron.sweep', cron }, error);
  }

  async #lost(overdue: readonly OverdueRun[]): Promise<OverdueRun[]> {
    // A running run that is overdue has lost its worker, whatever state its job has in the queue.
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

/** A call that failed as a whole failed for each cron. */
async function settled<T>(
  crons: readonly string[],
  ask: () => Promise<readonly PromiseSettledResult<T>[]>,
): Promise<readonly PromiseSettledResult<T>[]> {
  try {
    return await ask();
  } catch (reason) {
    return crons.map(() => ({ status: 'rejected', reason }));
  }
}

function hasSurplus(found: PromiseSettledResult<OverdueRuns> | undefined): boolean {
  return found?.status === 'fulfilled' && found.value.surplus;
}

function mayHaveMore(forgotten: PromiseSettledResult<number> | undefined): boolean {
  return forgotten?.status === 'fulfilled' && forgotten.value >= LEDGER_BATCH;
}
