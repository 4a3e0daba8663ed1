import { lateBy } from '@fencepost/operations/presenting';
import type { Run } from '@fencepost/ledger/run';
import type { AuditReport } from '@fencepost/operations/audit';
import type { TurnedDown } from '@fencepost/lease/sinks';

export interface Evidence {
  readonly report: AuditReport;
  readonly runs: readonly Run[];
  /** How often the sink's journal has each idempotency key. */
  readonly writes: ReadonlyMap<string, number>;
  readonly refusals: number;
  readonly turnedDown: TurnedDown;
}

/**
 * - **occurrences**: instants that the schedules have; **runs**: those whose run succeeded, failed or was cancelled.
 * - **duplicates**: runs of an instant after its first, and acceptances of an instant's effect by the sink after its first,
 *   by whatever run. A fault that shows in both ways counts in both.
 * - **unexplained**: scheduled runs at an instant that the schedule doesn't have, or in an impossible state.
 * - **lost**: instants with neither a run nor a recorded reason; and, because all runs of a cron have the same effects,
 *   each effect that a succeeded run lacks in the journal while another one of its cron has it.
 * - **waiting**: instants whose run is not final; **skipped**: instants that did not run for a recorded reason.
 * - **staleRejected**: calls that the ledger, and writes that the sink, refused because of their fence.
 * - **takeovers**: consecutive occurrences of a cron claimed by different holders under different fences.
 * - **lateMs**: from `dueAt` to the start of the first attempt; nearest rank.
 */
export type Tally = ReturnType<typeof tally>;

export function tally({ report, runs: seen, writes, refusals, turnedDown }: Evidence) {
  const runs = seen.filter(({ scheduledAt }) => scheduledAt <= report.to);
  const effects = effectsByInstant(writes);
  const late = runs.flatMap((run) => lateBy(run) ?? []).toSorted((a, b) => a - b);
  return {
    occurrences: report.instants,
    runs: report.ran + report.cancelled,
    duplicates: report.doubled + sum([...effects.values()].flatMap((times) => [...times.values()]).map((n) => n - 1)),
    unexplained: report.unexplained,
    lost: report.missed + missingEffects(runs, effects),
    waiting: report.waiting,
    staleRejected: refusals + turnedDown.stale,
    takeovers: takeovers(runs),
    lateMsP50: percentile(late, 50),
    lateMsP99: percentile(late, 99),
    skipped: report.skipped,
    retried: runs.filter(({ attempt }) => attempt > 1).length,
    failed: runs.filter(({ state }) => state === 'failed').length,
    writes: sum([...writes.values()]),
    repeated: turnedDown.repeated,
  };
}

function takeovers(runs: readonly Run[]): number {
  const inOrder = runs.toSorted((a, b) => a.cron.localeCompare(b.cron) || a.scheduledAt - b.scheduledAt);
  return inOrder.filter((run, index) => {
    const before = inOrder[index - 1];
    return before?.cron === run.cron && before.claimFence !== run.claimFence && before.claimedBy !== run.claimedBy;
  }).length;
}

type Effects = ReadonlyMap<string, ReadonlyMap<string, number>>;

/**
 * Per instant how often each effect was accepted, by whatever run: ids of runs of one instant differ only after the
 * instant. A run's id has no slash; an effect's name may have some.
 */
function effectsByInstant(writes: ReadonlyMap<string, number>): Effects {
  const effects = new Map<string, Map<string, number>>();
  for (const [key, times] of writes) {
    const [, id = key, effect = ''] = /^([^/]+)\/(.*)$/s.exec(key) ?? [];
    const instant = instantOf(id);
    const of = effects.get(instant) ?? new Map<string, number>();
    effects.set(instant, of.set(effect, (of.get(effect) ?? 0) + times));
  }
  return effects;
}

function instantOf(runId: string): string {
  return /^.+@\d+/.exec(runId)?.[0] ?? runId;
}

function missingEffects(runs: readonly Run[], written: Effects): number {
  const succeeded = runs.filter(({ state }) => state === 'succeeded');
  const effectsOf = ({ id }: Run) => [...(written.get(instantOf(id))?.keys() ?? [])];
  const missing = [...new Set(succeeded.map(({ cron }) => cron))].map((cron) => {
    const found = succeeded.filter((run) => run.cron === cron).map(effectsOf);
    const all = new Set(found.flat());
    return sum(found.map((effects) => all.size - effects.length));
  });
  return sum(missing);
}

/** The smallest value that `percent` of all values don't exceed (nearest rank); `null` when there is none. */
function percentile(sorted: readonly number[], percent: number): number | null {
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? null;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
