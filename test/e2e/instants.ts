import type { Run, SkipRange } from '@fencepost/ledger/run';

interface Record {
  readonly runs: readonly Run[];
  readonly skips: readonly SkipRange[];
}

export interface Account {
  /** Instants with neither a run nor a skip. */
  readonly lost: readonly number[];
  /** Instants with more than one run or skip. */
  readonly twice: readonly number[];
}

/** Holds a cron's record against its period, from its first instant to its last: each one needs exactly one entry. */
export function accountFor({ runs, skips }: Record, periodMs: number): Account {
  const entries = [
    ...runs.map(({ scheduledAt }) => ({ after: scheduledAt - 1, through: scheduledAt })),
    ...skips.map(({ after, through }) => ({ after, through })),
  ];
  const ends = entries.map(({ through }) => through);
  const [lost, twice]: [number[], number[]] = [[], []];
  for (let instant = Math.min(...ends); instant <= Math.max(...ends); instant += periodMs) {
    const count = entries.filter(({ after, through }) => after < instant && instant <= through).length;
    if (count === 0) lost.push(instant);
    if (count > 1) twice.push(instant);
  }
  return { lost, twice };
}
