import { formatFence, type Clock, type Fence } from '@fencepost/lease';
import { ownerPrefix, sleep } from '@fencepost/lease/internal';
import type { Holding } from '@fencepost/lease/store';
import type { Run } from '@fencepost/ledger/run';
import type { JournalEntry } from '../journal/journal.js';

/** How a cron stood when somebody began to watch it. */
export interface WatchMarker {
  /** Epoch milliseconds of the store that has the leases. */
  readonly at: number;
  /** How many calls the ledger had refused until then. */
  readonly refusals: number;
  /** The latest instant in the ledger's runs, by its own clock: what is later came afterwards. 0: it had none. */
  readonly ledgerAt: number;
}

/** What a watch can see. */
export type ObservationKind =
  /** Two runs of one scheduled instant. */
  | 'two-runs'
  /** A claim was accepted under a lower fence than one before it. */
  | 'stale-claim'
  /** A run was begun again: after a failure, or because its worker was lost. */
  | 'second-attempt'
  /** A run waits for an operator to resolve an effect. */
  | 'uncertain'
  /** The ledger refused somebody whose term or attempt is over: the fence did its work. */
  | 'refused'
  /** Of a lease of one's own: another holder has it, under a higher fence. */
  | 'next-holder'
  /** Of a lease of one's own: its old holder acquired it again. */
  | 'old-holder-is-back'
  /** Of a lease of one's own: a holder has it under a lower fence. */
  | 'fence-fell'
  /** Of a lease of one's own: the term that was cleared is in the store again. */
  | 'cleared-term-is-back';

export interface Observation {
  readonly kind: ObservationKind;
  /** `bad`: a duplicate. `warn`: a person should look. `note`: a duplicate was kept out. */
  readonly level: 'note' | 'warn' | 'bad';
  /** The run it is about, where it is about one. */
  readonly runId: string | null;
  readonly text: string;
}

export interface WatchReport {
  readonly cron: string;
  /** Since when, epoch milliseconds of the store that has the leases. */
  readonly from: number;
  /** Each once, in the order they were seen. */
  readonly observations: readonly Observation[];
  /** Who holds the cron at the end. */
  readonly holding: Holding | null;
  /** `duplicate` and `doubtful`: something is `bad`, or `warn`. `free`: nobody has taken the cron. */
  readonly verdict: 'clean' | 'free' | 'doubtful' | 'duplicate';
}

type Claim = 'id' | 'reason' | 'scheduledAt' | 'claimedAt' | 'claimedBy' | 'claimFence';
type WatchedRun = Pick<Run, Claim | 'state' | 'attempt' | 'attemptedAt' | 'worker' | 'finishedAt'>;

/** One look at a cron. */
export interface Look {
  readonly refusals: number;
  /** The newest first. */
  readonly runs: readonly WatchedRun[];
  /** The newest first. */
  readonly entries: readonly (Pick<JournalEntry, 'at' | 'pod'> & { readonly event: string })[];
  readonly holding: Holding | null;
}

export interface Following {
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

const LOOK_EVERY_MS = 500;

/** Looks again and again, for so long or until the signal ends it. */
export async function followLooks(look: () => Promise<void>, ms: number, { clock, signal }: Following): Promise<void> {
  const until = clock.monotonic() + ms;
  for (;;) {
    await look();
    const left = until - clock.monotonic();
    if (left <= 0 || signal?.aborted) return;
    await sleep(clock, Math.min(left, LOOK_EVERY_MS), signal);
  }
}

/** Puts look after look together into what there is to say. Asks nobody. */
export class DuplicateWatch {
  readonly #observations = new Map<string, Observation>();
  /** Runs that waited for an answer before. */
  #waiting: ReadonlySet<string> | null = null;
  #last: Look | null = null;

  constructor(
    private readonly cron: string,
    private readonly marker: WatchMarker,
  ) {}

  /** How a cron stands at a first look, by the clock of the store that has the leases. */
  static markerOf(at: number, { refusals, runs }: Pick<Look, 'refusals' | 'runs'>): WatchMarker {
    const instants = runs.flatMap(({ claimedAt, attemptedAt, finishedAt }) => [
      claimedAt,
      attemptedAt ?? 0,
      finishedAt ?? 0,
    ]);
    return { at, refusals, ledgerAt: Math.max(0, ...instants) };
  }

  async follow(look: () => Promise<Look>, ms: number, following: Following): Promise<WatchReport> {
    await followLooks(async () => this.see(await look()), ms, following);
    return this.report();
  }

  see(look: Look): void {
    const { ledgerAt } = this.marker;
    const claimed = look.runs.filter(({ claimedAt }) => claimedAt > ledgerAt);
    this.#waiting ??= new Set(look.runs.filter((run) => isWaiting(run) && !isSince(run, ledgerAt)).map(({ id }) => id));
    for (const [key, observation] of [
      ...twoRuns(look.runs),
      ...staleClaims(claimed),
      ...look.runs.flatMap((run) => begunAgain(run, ledgerAt)),
      ...look.runs.filter((run) => isWaiting(run) && !this.#waiting?.has(run.id)).map(asking),
      ...this.#refusals(look),
    ]) {
      this.#observations.set(key, observation);
    }
    this.#last = look;
  }

  report(): WatchReport {
    const observations = [...this.#observations.values()];
    const { holding = null } = this.#last ?? {};
    return { cron: this.cron, from: this.marker.at, observations, holding, verdict: verdictOf(observations, holding) };
  }

  #refusals({ refusals, entries }: Look): Named[] {
    const count = refusals - this.marker.refusals;
    if (count <= 0) return [];
    const told = entries.filter(({ at, event }) => at >= this.marker.at && REFUSED.has(event));
    const by = [...new Set(told.map(({ pod }) => pod))].join(', ');
    const text = `The ledger refused ${times(count)} a write of a term or attempt that had ended${by && `, from ${by}`}.`;
    return [['refused', { kind: 'refused', level: 'note', runId: null, text }]];
  }
}

type Named = readonly [key: string, observation: Observation];

const REFUSED: ReadonlySet<string> = new Set(['claim.stale', 'attempt.refused']);

/** By the schedule: whoever triggers a run, or makes up for one, means it. */
function twoRuns(runs: readonly WatchedRun[]): Named[] {
  const first = new Map<number, WatchedRun>();
  const found: Named[] = [];
  for (const run of runs.toReversed()) {
    if ((run.reason !== 'schedule' && run.reason !== 'catch-up') || run.id.includes('@manual-')) continue;
    const other = first.get(run.scheduledAt);
    if (!other) first.set(run.scheduledAt, run);
    else {
      const at = new Date(run.scheduledAt).toISOString();
      const text = `The instant ${at} has two runs: ${other.id} and ${run.id}.`;
      found.push([`two ${run.id}`, { kind: 'two-runs', level: 'bad', runId: run.id, text }]);
    }
  }
  return found;
}

/** Accepted fences of a cron never decrease: one that did was accepted from somebody whose term was over. */
function staleClaims(runs: readonly WatchedRun[]): Named[] {
  let highest: { readonly fence: Fence; readonly run: WatchedRun } | null = null;
  const found: Named[] = [];
  for (const run of runs.toSorted((a, b) => a.claimedAt - b.claimedAt)) {
    if (run.reason === 'manual' || run.reason === 'backfill' || run.claimFence === 0) continue;
    if (highest && run.claimFence < highest.fence && run.claimedAt > highest.run.claimedAt) {
      const text =
        `${run.id} was claimed by ${ownerPrefix(run.claimedBy)} under fence ${formatFence(run.claimFence)}, after ` +
        `${formatFence(highest.fence)} had been accepted.`;
      found.push([`stale ${run.id}`, { kind: 'stale-claim', level: 'bad', runId: run.id, text }]);
    } else if (!highest || run.claimFence > highest.fence) highest = { fence: run.claimFence, run };
  }
  return found;
}

function begunAgain(run: WatchedRun, since: number): Named[] {
  const { id, attempt, worker } = run;
  if (attempt < 2 || !isSince(run, since)) return [];
  const by = worker === null ? '' : ` by ${ownerPrefix(worker)}`;
  const text = `${id} was begun again${by}, attempt ${attempt}: its effects that are done stay done.`;
  return [[`again ${id} ${attempt}`, { kind: 'second-attempt', level: 'note', runId: id, text }]];
}

function asking({ id }: WatchedRun): Named {
  const text = `${id} waits for an operator to resolve an effect.`;
  return [`asks ${id}`, { kind: 'uncertain', level: 'warn', runId: id, text }];
}

function isWaiting({ state }: WatchedRun): boolean {
  return state === 'uncertain';
}

function isSince({ attemptedAt }: WatchedRun, since: number): boolean {
  return attemptedAt !== null && attemptedAt > since;
}

export function verdictOf(observations: readonly Observation[], holding: Holding | null): WatchReport['verdict'] {
  if (observations.some(({ level }) => level === 'bad')) return 'duplicate';
  if (observations.some(({ level }) => level === 'warn')) return 'doubtful';
  return holding ? 'clean' : 'free';
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
