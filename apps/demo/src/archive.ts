import type { Run, SkipRange } from '@fencepost/jobs';
import type { Schedule } from '@fencepost/schedule';
import type { AppliedWrite } from '@fencepost/lease/sinks';
import { podOf } from './sight.js';
import { timesWritten } from './tally.js';

interface InstantsRequest {
  readonly schedule: Schedule;
  readonly since: number;
  /** Epoch milliseconds, like `since`. */
  readonly through: number;
}

interface Skipped {
  readonly cron: string;
  readonly range: SkipRange;
}

class CronArchive {
  readonly runs = new Map<string, Run>();
  readonly open = new Map<string, Run>();
  readonly skips = new Map<number, SkipRange>();
  instants: { readonly since: number; readonly list: number[] } = { since: 0, list: [] };
}

/**
 * Everything the stores have shown so far. They forget: the ledger keeps the newest runs of a cron and the sink the newest
 * writes, and a demo that is left alone for a day has seen more than they still know.
 */
export class Archive {
  readonly #crons = new Map<string, CronArchive>();
  readonly #writes = new Map<string, number>();
  readonly #effects = new Map<string, string[]>();
  readonly #endedBy = new Map<string, number>();
  #ended: Run[] = [];
  #skipped: Skipped[] = [];

  addRuns(cron: string, runs: readonly Run[]): void {
    const known = this.#cron(cron);
    for (const run of runs) {
      const before = known.runs.get(run.id);
      if (isFinal(run) && !(before && isFinal(before))) this.#end(run);
      known.runs.set(run.id, run);
      if (isFinal(run)) known.open.delete(run.id);
      else known.open.set(run.id, run);
    }
  }

  addSkips(cron: string, ranges: readonly SkipRange[]): void {
    const known = this.#cron(cron).skips;
    for (const range of ranges) {
      if (!known.has(range.through)) this.#skipped.push({ cron, range });
      known.set(range.through, range);
    }
  }

  /** Runs and ranges that have become final since this was asked last. */
  takeNew(): { readonly ended: readonly Run[]; readonly skipped: readonly Skipped[] } {
    const taken = { ended: this.#ended, skipped: this.#skipped };
    [this.#ended, this.#skipped] = [[], []];
    return taken;
  }

  /** A later look may show less of a key, because the journal drops its oldest entries; it never means less. */
  addJournal(journal: readonly AppliedWrite[]): void {
    for (const [key, times] of timesWritten(journal)) {
      const known = this.#writes.get(key);
      if (known === undefined) this.#index(key);
      this.#writes.set(key, Math.max(times, known ?? 0));
    }
  }

  /** Computes the instants in `(since, through]`; cheap when most of them were computed before. */
  extendInstants(cron: string, { schedule, since, through }: InstantsRequest): void {
    const archive = this.#cron(cron);
    if (archive.instants.since !== since) archive.instants = { since, list: [] };
    const { list } = archive.instants;
    for (let next = schedule.next(list.at(-1) ?? since); next !== null && next <= through; next = schedule.next(next)) {
      list.push(next);
    }
  }

  run(cron: string, runId: string): Run | undefined {
    return this.#cron(cron).runs.get(runId);
  }

  runs(cron: string): Run[] {
    return [...this.#cron(cron).runs.values()];
  }

  /** Runs that were not final when they were last seen. */
  openRuns(cron: string): Run[] {
    return [...this.#cron(cron).open.values()];
  }

  skips(cron: string): SkipRange[] {
    return [...this.#cron(cron).skips.values()];
  }

  instants(cron: string): readonly number[] {
    return this.#cron(cron).instants.list;
  }

  /** How often each idempotency key was accepted by the sink. */
  get writes(): ReadonlyMap<string, number> {
    return this.#writes;
  }

  /** The effects of a run that the sink has accepted, in this order. */
  effects(runId: string): readonly string[] {
    return this.#effects.get(runId) ?? [];
  }

  /** How many runs a pod, and whoever had its name before, has brought to their end. */
  endedBy(pod: string): number {
    return this.#endedBy.get(pod) ?? 0;
  }

  #end(run: Run): void {
    this.#ended.push(run);
    const pod = podOf(run.worker ?? '');
    this.#endedBy.set(pod, this.endedBy(pod) + 1);
  }

  #index(key: string): void {
    const end = key.indexOf('/');
    const [runId, effect] = [key.slice(0, end), key.slice(end + 1)];
    this.#effects.set(runId, [...(this.#effects.get(runId) ?? []), effect]);
  }

  #cron(cron: string): CronArchive {
    const known = this.#crons.get(cron) ?? new CronArchive();
    this.#crons.set(cron, known);
    return known;
  }
}

function isFinal({ state }: Run): boolean {
  return state === 'succeeded' || state === 'failed' || state === 'skipped';
}
