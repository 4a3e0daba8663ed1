import type { RunHistory } from '@fencepost/ledger';
import type { Run } from '@fencepost/ledger/run';

/** The runs of the same cron beside one; `null` where none is known. Skipped instants have no page and don't count. */
export interface RunNeighbours {
  readonly previous: string | null;
  readonly next: string | null;
  /** The latest one before it that has succeeded: what a failed run is compared with. */
  readonly previousSuccess: string | null;
}

type History = Pick<RunHistory, 'runs' | 'account'>;

/** Read at once. */
const MAX_RUNS = 200;
/** So often it is read at most to find what is before a run, and so much of it. */
const MAX_LOOKS = 8;
const MAX_OLDER = 400;
/** How a span of time changes that had too many runs, or too few. */
const STEP = 4;

/** Among the newest runs of the cron; for one that is older, or without a success there, from its own instant backward. */
export async function neighboursOf(ledger: History, run: Run): Promise<RunNeighbours> {
  const newest = await ledger.runs(run.cron, MAX_RUNS);
  const at = newest.findIndex(({ id }) => id === run.id);
  const next = at < 0 ? await nextOf(ledger, run, newest) : newest.slice(0, at).findLast(isShown);
  const before = beside(at < 0 ? [] : newest.slice(at + 1));
  const isWhole = newest.length < MAX_RUNS || before.previousSuccess !== null;
  return { next: next?.id ?? null, ...(isWhole ? before : await backward(ledger, run, newest)) };
}

function isShown({ state }: Run): boolean {
  return state !== 'skipped';
}

type Before = Omit<RunNeighbours, 'next'>;

/** Of older runs, the newest first. */
function beside(older: readonly Run[]): Before {
  const success = older.find(({ state }) => state === 'succeeded');
  return { previous: older.find(isShown)?.id ?? null, previousSuccess: success?.id ?? null };
}

async function nextOf(ledger: History, { cron, id, scheduledAt }: Run, [newest]: readonly Run[]) {
  const end = (newest?.scheduledAt ?? scheduledAt) + 1;
  const { runs } = await ledger.account(cron, scheduledAt, Math.max(end, scheduledAt), MAX_RUNS);
  return runs.slice(runs.findIndex((one) => one.id === id) + 1).find(isShown);
}

/** Spans of time as long as the newest runs take, shorter where there are too many, longer where there are few. */
async function backward(ledger: History, { cron, id, scheduledAt }: Run, newest: readonly Run[]): Promise<Before> {
  const older: Run[] = [];
  let width = Math.max(1, (newest[0]?.scheduledAt ?? 0) - (newest.at(-1)?.scheduledAt ?? 0));
  let to = scheduledAt + 1;
  // From here to `to` there were too many once: no span goes beyond it.
  let crowded = 0;
  for (let looks = 0; looks < MAX_LOOKS && to > 0 && older.length < MAX_OLDER; looks += 1) {
    const from = Math.max(crowded, to - width);
    const { runs, more, forgotten } = await ledger.account(cron, from, to, MAX_RUNS);
    if (more === undefined) {
      const own = runs.findIndex((one) => one.id === id);
      older.push(...(own < 0 ? runs : runs.slice(0, own)).toReversed());
      if (beside(older).previousSuccess !== null || from <= (forgotten ?? 0)) break;
      to = from;
      if (from === crowded) crowded = 0;
      if (runs.length < MAX_RUNS / STEP) width *= STEP;
    } else {
      crowded = more;
      width = Math.max(1, Math.floor(width / STEP));
    }
  }
  return beside(older);
}
