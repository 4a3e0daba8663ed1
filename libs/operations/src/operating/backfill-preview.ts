import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { Account, OccurrenceLog, RunHistory } from '@fencepost/ledger';
import { occurrenceId } from '@fencepost/ledger/run';
import { generationsOf } from '@fencepost/jobs/internal';
import { took } from './timeline-run.js';
import { BackfillTally, type BackfillReport, type Outcome } from './backfill-report.js';
import type { BackfillInstant } from './plan-backfill.js';

export interface PreviewJob {
  readonly entry: CatalogEntry;
  readonly instants: readonly BackfillInstant[];
}

/** An instant that was refused so often as overlapping is left alone. */
export const MAX_RERUNS = 9;

/** Instants whose records are read at once. */
const WINDOW = 1_000;

/** What a backfill would do, from what the ledger has, writing nothing. Only an estimate: the ledger goes on meanwhile. */
export async function previewBackfill(
  ledger: Pick<RunHistory, 'account' | 'runs'> & Pick<OccurrenceLog, 'readCron'>,
  { entry, instants }: PreviewJob,
): Promise<BackfillReport> {
  const cron = entry.definition.name;
  const { cursor } = await ledger.readCron(cron);
  const tally = new BackfillTally();
  const made = madeAt(entry);
  for (let at = 0; at < instants.length; at += WINDOW) {
    const window = instants.slice(at, at + WINDOW).map(({ scheduledAt }) => scheduledAt);
    const [first = 0, last = 0] = [window[0], window.at(-1)];
    const preview = previewer(cron, { account: await ledger.account(cron, first, last + 1), cursor, made });
    for (const scheduledAt of window) tally.count(preview(scheduledAt));
  }
  const report = tally.report({ cron, dryRun: true, instants: instants.length, aborted: false, nextFrom: null });
  return { ...report, estimateMs: await estimate(ledger, entry, report.accepted) };
}

/** Whose duration an estimate is made from. */
const SAMPLE = 50;

/** How long that many runs take one after the other; `null` where they may overlap, or none has ended lately. */
async function estimate(
  ledger: Pick<RunHistory, 'runs'>,
  { definition: { name, overlap, maxConcurrency = 1 } }: CatalogEntry,
  count: number,
): Promise<number | null> {
  if (overlap === 'allow') return null;
  const runs = await ledger.runs(name, SAMPLE);
  const durations = runs
    .flatMap((run) => (run.state === 'succeeded' ? (took(run) ?? []) : []))
    .toSorted((a, b) => a - b);
  const median = durations[Math.floor(durations.length / 2)];
  return median === undefined ? null : Math.round((median * count) / maxConcurrency);
}

/**
 * Until when the cron was not there: what the ledger has not accounted for by then never was. When the first generation is
 * not kept any more, nobody knows: the ledger may, so an estimate that promises less is the safe one.
 */
export function madeAt(entry: CatalogEntry): number | null {
  const [oldest] = generationsOf(entry);
  return oldest?.generation === 1 ? oldest.since : null;
}

interface Known {
  readonly account: Account;
  readonly cursor: number | null;
  readonly made: number | null;
}

function previewer(cron: string, { account, cursor, made }: Known): (scheduledAt: number) => Outcome {
  const states = new Map(account.runs.map(({ id, state }) => [id, state]));
  return (scheduledAt) => {
    const natural = occurrenceId({ cron, scheduledAt });
    let runId = natural;
    for (let n = 1; n <= MAX_RERUNS && states.get(runId) === 'skipped'; n += 1) runId = `${natural}-r${n}`;
    const state = states.get(runId);
    if (state) return { left: state };
    if (scheduledAt > (cursor ?? made ?? -Infinity)) return { left: 'ahead' };
    const skipped = account.skips.some(({ after, through }) => after < scheduledAt && scheduledAt <= through);
    return runId !== natural || skipped || scheduledAt <= (made ?? -Infinity)
      ? { accepted: runId }
      : { left: 'forgotten' };
  };
}
