import { StoreError } from '../exit.js';
import { iso } from '../report.js';
import type { Answers, BackfillOrder } from './deployment.js';

type Report = Answers['Backfill'];

/** What one request asks for. */
interface Part {
  readonly reason: string;
  readonly from: string;
  readonly to: string;
  readonly dryRun: boolean;
  readonly forMs?: number;
  readonly open?: string[];
}

/** One request takes about so long: soon enough for its progress, and for what stands in front of a console. */
const PART_MS = 2_000;

/** The first run ids of a report, as the console has them. */
const MAX_RUN_IDS = 1_000;

/** Asks for part after part, each from where the one before has ended, so that a lost connection loses nothing that was done. */
export async function backfillInParts(order: BackfillOrder, ask: (part: Part) => Promise<Report>): Promise<Report> {
  const { reason, dryRun, from, to, interrupted, onProgress } = order;
  const asked = { reason, dryRun, from: iso(from), to: iso(to) };
  if (dryRun) return ask(asked);
  const signal = interrupted();
  let done = await ask({ ...asked, forMs: PART_MS });
  for (;;) {
    const { instants, accepted, open, nextFrom } = done;
    onProgress({ instants, accepted, asked: askedIn(done), open: open.length });
    if (nextFrom === null || signal.aborted) return done;
    const before = done;
    const part = await ask({ ...asked, from: nextFrom, open, forMs: PART_MS }).catch((error: unknown) => {
      throw error instanceof StoreError ? cutOff(error, before) : error;
    });
    done = together(before, part);
  }
}

function askedIn({ accepted, left }: Report): number {
  return Object.values(left).reduce((sum, count) => sum + count, accepted);
}

function together(before: Report, part: Report): Report {
  const left = { ...before.left };
  for (const [why, count] of Object.entries(part.left)) left[why] = (left[why] ?? 0) + count;
  const runIds = [...before.runIds, ...part.runIds].slice(0, MAX_RUN_IDS);
  return { ...part, instants: before.instants, accepted: before.accepted + part.accepted, left, runIds };
}

function cutOff({ message, cause }: StoreError, done: Report): StoreError {
  const { instants, accepted, nextFrom } = done;
  const known = `${askedIn(done)} of ${instants} instants had been requested, and ${accepted} accepted`;
  return new StoreError(`${message} Until then ${known}. To continue, repeat the command with --from ${nextFrom}.`, {
    cause,
  });
}
