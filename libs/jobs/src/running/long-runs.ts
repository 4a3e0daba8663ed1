import type { Clock } from '@fencepost/lease';
import type { RunHistory } from '@fencepost/ledger';
import type { Run } from '@fencepost/ledger/run';
import { judgeStandstill, longAfterMs, type Standstill } from '../telemetry/standstill.js';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import type { Telemetry } from '../telemetry/telemetry.js';

export interface LongRunsDeps {
  readonly ledger: Pick<RunHistory, 'newestRuns'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly telemetry: Telemetry;
  /** Identity of this worker process. */
  readonly worker: string;
}

/** An attempt that this worker executes. */
export interface LongAttempt {
  readonly cron: string;
  readonly runId: string;
  /** Epoch milliseconds of the ledger. */
  readonly beganAt: number;
  /** Monotonic. */
  readonly since: number;
}

interface Watched {
  readonly attempt: LongAttempt;
  readonly usualMs: number | null;
  readonly longAfterMs: number;
  found: Standstill | null;
}

/** Skipped instants are on record too: behind a run that hangs for a minute lie sixty of a cron that fires each second. */
const RUNS_READ = 200;

/**
 * Attempts of this worker that take far longer than their history: one that never returns stops its cron, and its heartbeats look
 * like those of a healthy one.
 *
 * Looked at with their heartbeats once they are a minute old, so that shorter ones cost nothing; the history is read once for each.
 */
export class LongRuns {
  readonly #watched = new Map<string, Watched | null>();

  constructor(private readonly deps: LongRunsDeps) {}

  /** Those that take too long now. */
  get found(): readonly Standstill[] {
    return [...this.#watched.values()].flatMap((one) => one?.found ?? []);
  }

  /** Called with each heartbeat of an attempt that is a minute old. */
  beat(attempt: LongAttempt): void {
    const watched = this.#watched.get(attempt.runId);
    if (watched === undefined) void this.#read(attempt);
    else if (watched) this.#judge(watched, this.deps.clock.monotonic() - attempt.since);
  }

  /** The attempt is over. */
  end(runId: string): void {
    const watched = this.#watched.get(runId);
    if (watched === undefined) return;
    this.#watched.delete(runId);
    if (!watched?.found) return;
    const { cron, since } = watched.attempt;
    const standstillMs = Math.round(this.deps.clock.monotonic() - since);
    this.deps.telemetry.emit('cron.resumed', { cron, cause: watched.found.cause, standstillMs });
  }

  async #read(attempt: LongAttempt): Promise<void> {
    const { ledger, telemetry } = this.deps;
    const { cron, runId } = attempt;
    this.#watched.set(runId, null);
    try {
      const [runs = []] = await ledger.newestRuns([cron], RUNS_READ);
      // It may have ended meanwhile.
      if (!this.#watched.has(runId)) return;
      const usualMs = percentile95(runs.flatMap(tookMs));
      const longMs = longAfterMs({ p95Ms: usualMs, periodMs: periodOf(runs) });
      this.#watched.set(runId, { attempt, usualMs, longAfterMs: longMs, found: null });
      this.beat(attempt);
    } catch (error) {
      // The next heartbeat asks again.
      this.#watched.delete(runId);
      reportStoreFailure(telemetry, { operation: 'run.read', cron, runId }, error);
    }
  }

  #judge(watched: Watched, ageMs: number): void {
    const { cron, runId, beganAt } = watched.attempt;
    if (ageMs < watched.longAfterMs) return;
    const attempt = { runId, worker: this.deps.worker, usualMs: watched.usualMs };
    const isNew = watched.found === null;
    watched.found = judgeStandstill({ cron, now: beganAt + ageMs, since: beganAt, attempt });
    if (isNew) this.deps.telemetry.emit('cron.standstill', watched.found);
  }
}

function tookMs({ state, attemptedAt, startedAt, finishedAt }: Run): number[] {
  const began = attemptedAt ?? startedAt;
  return state === 'succeeded' && began !== null && finishedAt !== null ? [finishedAt - began] : [];
}

/** By the nearest rank; `null` for none. */
function percentile95(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * 0.95) - 1)] ?? null;
}

/** The longest time between two neighbouring instants on record; `null` for fewer than two. */
function periodOf(runs: readonly Run[]): number | null {
  const instants = runs.filter(({ by }) => by === null).map(({ scheduledAt }) => scheduledAt);
  const gaps = instants.slice(1).map((at, n) => Math.abs((instants[n] ?? at) - at));
  return gaps.length === 0 ? null : Math.max(...gaps);
}
