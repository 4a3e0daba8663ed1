import type { TriggerReply } from '@fencepost/ledger';
import type { RunState } from '@fencepost/ledger/run';

/** Why an instant was left alone: the state of the run it has, or that it can't be had. See {@link TriggerReply}. */
export type LeftAlone = RunState | 'ahead' | 'forgotten';

/** What a backfill did, or with `dryRun` would do. */
export interface BackfillReport {
  readonly cron: string;
  readonly dryRun: boolean;
  /** How many instants the schedule has in the range. */
  readonly instants: number;
  /** How many of them became a run by this call. */
  readonly accepted: number;
  /** How many were not repeated, by reason. Together with `accepted` all of `instants`, unless it was aborted. */
  readonly left: Readonly<Partial<Record<LeftAlone, number>>>;
  /** The first {@link MAX_RUN_IDS} of the accepted ones, oldest first. */
  readonly runIds: readonly string[];
  /** Whether the signal ended it before all instants were asked for; asking again goes on. */
  readonly aborted: boolean;
  /** Where the same order has to begin to go on: the first instant that was not asked for; `null` when all were. */
  readonly nextFrom: number | null;
  /** Accepted runs for which the next batch would have waited: {@link BackfillPart} takes them to go on. */
  readonly open: readonly string[];
  /** Of a dry run, how long the accepted ones take by the duration of earlier runs; `null`: that can't be told. */
  readonly estimateMs: number | null;
}

/** A backfill in parts, each an order of its own: what the part before has left. */
export interface BackfillPart {
  /** Ends it before the next batch after so many milliseconds; `nextFrom` and `open` of its report are those of the next part. */
  readonly forMs?: number | undefined;
  readonly open?: readonly string[] | undefined;
}

/** How far a backfill has come. */
export interface BackfillProgress {
  readonly instants: number;
  /** How many of them were asked for, whatever the answer. */
  readonly asked: number;
  readonly accepted: number;
  /** How many of the accepted ones stand in line or run still, where the next batch waits for them. */
  readonly open: number;
}

const MAX_RUN_IDS = 1_000;

/** What became of one instant. */
export type Outcome = { readonly accepted: string } | { readonly left: LeftAlone };

export function outcomeOf(reply: TriggerReply): Outcome {
  switch (reply.verdict) {
    case 'claimed':
      return { accepted: reply.runId };
    case 'exists':
      return { left: reply.state };
    case 'skipped':
      return { left: 'skipped' };
    case 'ahead':
    case 'forgotten':
      return { left: reply.verdict };
  }
}

/** Counts outcomes into a report. */
export class BackfillTally {
  #accepted = 0;
  readonly #left: Partial<Record<LeftAlone, number>> = {};
  readonly #runIds: string[] = [];

  count(outcome: Outcome): void {
    if ('left' in outcome) {
      this.#left[outcome.left] = (this.#left[outcome.left] ?? 0) + 1;
      return;
    }
    this.#accepted += 1;
    if (this.#runIds.length < MAX_RUN_IDS) this.#runIds.push(outcome.accepted);
  }

  get accepted(): number {
    return this.#accepted;
  }

  report(
    about: Pick<BackfillReport, 'cron' | 'dryRun' | 'instants' | 'aborted' | 'nextFrom'>,
    open = [] as string[],
  ): BackfillReport {
    return {
      ...about,
      estimateMs: null,
      open,
      accepted: this.#accepted,
      left: { ...this.#left },
      runIds: [...this.#runIds],
    };
  }
}
