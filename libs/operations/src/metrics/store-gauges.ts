import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { Run, SkipRange } from '@fencepost/ledger/run';
import { reportStoreFailure, type Failure } from '@fencepost/jobs/internal';
import type { Telemetry } from '@fencepost/jobs';
import { OTHER, type CronLabels } from './cron-labels.js';
import type { Instruments } from './instruments.js';
import type { LastSuccess } from './last-success.js';
import type { MetricSources } from './sources.js';

/**
 * Of many, some at a time, all of them in turn: what is asked of a store for each cron must not take longer the more crons
 * there are.
 */
class RoundRobin {
  #at = 0;

  constructor(private readonly most: number) {}

  next(all: readonly string[]): string[] {
    if (all.length <= this.most) return [...all];
    const start = this.#at % all.length;
    this.#at = start + this.most;
    return [...all, ...all].slice(start, start + this.most);
  }
}

export interface StoreGaugesDeps {
  readonly count: Instruments;
  readonly labels: CronLabels;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly sources: MetricSources;
  readonly lastSuccess: LastSuccess;
}

/** Who scrapes waits no longer than some seconds, and would get nothing at all from a pod that waits for a store. */
const PATIENCE_MS = 2_000;

/** So many crons are asked for in one look. */
const MAX_UNCERTAIN = 1_000;
const MAX_LAST_RUNS = 100;

/** Of one cron; more of them are no other news. */
const MAX_RUNS = 100;

/** The newest runs may have failed, or still go on. */
const LOOKED_BACK = 20;

interface Past {
  readonly runs: readonly Run[];
  readonly skips: readonly SkipRange[];
  readonly paused: boolean;
}

/** So many revisions have a series of their own: a program whose definitions differ at every start must not fill Prometheus. */
const MAX_REVISIONS = 100;

type Card = Awaited<ReturnType<MetricSources['pods']>>[number];

/** How many pods each revision has, those with the most pods first; the rest are `other`. */
function revisionsOf(cards: readonly Pick<Card, 'app' | 'revision'>[]) {
  const counts = new Map<string, { readonly labels: { app: string; revision: string }; live: number }>();
  for (const { app, revision } of cards) {
    if (revision === null) continue;
    const labels = { app, revision: `${revision}` };
    const known = counts.get(JSON.stringify(labels)) ?? { labels, live: 0 };
    counts.set(JSON.stringify(labels), { ...known, live: known.live + 1 });
  }
  const most = [...counts.values()].toSorted((a, b) => b.live - a.live);
  return most.map(
    ({ labels, live }, n) => [n < MAX_REVISIONS ? labels : { app: OTHER, revision: OTHER }, live] as const,
  );
}

/** What a store has to be asked for. What could not be asked is not shown: an old number looks like a new one. */
export class StoreGauges {
  readonly #uncertain = new Map<string, number>();
  readonly #sampler = new RoundRobin(MAX_UNCERTAIN);
  readonly #successes = new RoundRobin(MAX_LAST_RUNS);
  /** Crons with series that only their holder shows. */
  readonly #shown = new Set<string>();

  constructor(private readonly deps: StoreGaugesDeps) {}

  /** @param held `null` for a pod that is no scheduler */
  async show(held: readonly CatalogEntry[] | null): Promise<void> {
    const names = held?.map(({ definition }) => definition.name) ?? [];
    const scheduling = held === null ? [] : [this.#queue(), this.#doubtful(names), this.#succeeded(held)];
    await Promise.all([this.#pods(), ...scheduling]);
  }

  async #queue(): Promise<void> {
    const { count, sources } = this.deps;
    const jobs = await this.#ask('metrics.count-deliveries', () => sources.queueJobs());
    count.queueJobs.reset();
    for (const [state, n] of Object.entries(jobs ?? {})) count.queueJobs.set({ state }, n);
  }

  async #pods(): Promise<void> {
    const { count, sources } = this.deps;
    const cards = await this.#ask('metrics.count-pods', () => sources.pods());
    for (const gauge of [count.pods, count.revisionPods, count.clockSkew]) gauge.reset();
    // Its own label-less series starts at 0, which would be a measurement.
    count.clockSkew.remove();
    if (!cards) return;
    for (const role of ['scheduler', 'worker'] as const) {
      count.pods.set({ role }, cards.filter(({ roles }) => roles.includes(role)).length);
    }
    for (const [labels, live] of revisionsOf(cards)) count.revisionPods.inc(labels, live);
    const own = cards.find(({ pod }) => pod === sources.pod);
    if (own) count.clockSkew.set(own.clockSkewMs / 1_000);
  }

  async #doubtful(held: readonly string[]): Promise<void> {
    const { count, labels, sources } = this.deps;
    const asked = this.#sampler.next(held);
    const runs = await this.#ask('metrics.count-uncertain-runs', () =>
      sources.ledger.runsIn('uncertain', asked, MAX_RUNS),
    );
    count.uncertainRuns.reset();
    if (!runs) return;
    const still = new Set(held);
    for (const cron of [...this.#uncertain.keys()]) if (!still.has(cron)) this.#uncertain.delete(cron);
    for (const cron of asked) this.#uncertain.delete(cron);
    for (const { cron } of runs) this.#uncertain.set(cron, (this.#uncertain.get(cron) ?? 0) + 1);
    for (const cron of held) count.uncertainRuns.inc({ cron: labels.of(cron) }, this.#uncertain.get(cron) ?? 0);
  }

  async #succeeded(held: readonly CatalogEntry[]): Promise<void> {
    const { count, labels, sources } = this.deps;
    const apart = new Map(
      held.flatMap((entry) => {
        const { name } = entry.definition;
        return labels.of(name) === name ? [[name, entry] as const] : [];
      }),
    );
    // Another pod shows what this one doesn't hold any more.
    for (const cron of this.#shown) {
      if (apart.has(cron)) continue;
      for (const gauge of [count.successAwaited, count.consecutiveFailures]) gauge.remove({ cron });
      this.#shown.delete(cron);
    }
    const asked = this.#successes.next([...apart.keys()]);
    const found = await this.#ask('metrics.read-last-success', () =>
      Promise.all([
        sources.ledger.readCrons(asked),
        sources.ledger.newestRuns(asked, LOOKED_BACK),
        sources.ledger.newestSkips(asked, 1),
      ]),
    );
    if (!found) return;
    const [records, runs, skips] = found;
    for (const [index, cron] of asked.entries()) {
      const entry = apart.get(cron);
      const paused = (records[index]?.paused ?? null) !== null;
      if (entry) this.#tell(entry, { runs: runs[index] ?? [], skips: skips[index] ?? [], paused });
    }
  }

  #tell({ definition: { name: cron }, state, since }: CatalogEntry, { runs, skips, paused }: Past): void {
    const { count, lastSuccess } = this.deps;
    for (const run of runs)
      if (run.state === 'succeeded' && run.finishedAt !== null) lastSuccess.tell(cron, run.finishedAt);
    const ended = runs.filter(({ state: is }) => is === 'succeeded' || is === 'failed');
    const success = ended.findIndex(({ state: is }) => is === 'succeeded');
    count.consecutiveFailures.set({ cron }, success === -1 ? ended.length : success);
    // Its instants up to here were left out because somebody wanted so.
    const pausedThrough = skips[0]?.reason === 'paused' ? skips[0].through : 0;
    const awaited = Math.max(since, pausedThrough, lastSuccess.of(cron) ?? 0);
    if (paused || state !== 'active') count.successAwaited.remove({ cron });
    else count.successAwaited.set({ cron }, awaited / 1_000);
    this.#shown.add(cron);
  }

  /** @returns `null` when there was no answer in time */
  async #ask<T>(operation: Failure['operation'], question: () => Promise<T>): Promise<T | null> {
    const { clock, telemetry } = this.deps;
    let cancel: CancelTimer | undefined;
    const late = new Promise<never>((_, reject) => {
      cancel = clock.after(PATIENCE_MS, () =>
        reject(Object.assign(new Error(`no answer within ${PATIENCE_MS} ms`), { name: 'TimeoutError' })),
      );
    });
    try {
      return await Promise.race([question(), late]);
    } catch (error) {
      reportStoreFailure(telemetry, { operation }, error);
      return null;
    } finally {
      cancel?.();
    }
  }
}
