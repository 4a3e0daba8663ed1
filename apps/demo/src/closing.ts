import type { Tally } from './tally.js';
import { count, span } from './words.js';

/** The last line with `--json`; `closing` gives the order of its fields. */
export interface Closing extends Omit<Tally, 'lost' | 'waiting'> {
  readonly ok: boolean;
  readonly seconds: number;
  readonly schedulers: number;
  readonly workers: number;
  readonly missed: number;
  readonly kills: number;
  readonly freezes: number;
  /** What the choices of `--chaos` came from; `null` without it. */
  readonly seed: number | null;
}

export type Course = Pick<Closing, 'seconds' | 'schedulers' | 'workers' | 'kills' | 'freezes' | 'seed'>;

/**
 * The verdict on a demo that has settled. What was still waited for then is **missed**, like what was lost: instants
 * without a run and without a recorded skip, runs that never ended, effects that a succeeded run lacks. A failed run is
 * told and not missed. It is not `ok` when something was missed or written twice, or when nothing ran or nothing was written
 * at all: where there is nothing to find, finding nothing is no proof.
 */
export function closing(tally: Tally, { seconds, schedulers, workers, kills, freezes, seed }: Course): Closing {
  const { occurrences, runs, duplicates, staleRejected, takeovers, lateMsP50, lateMsP99, writes } = tally;
  const missed = tally.lost + tally.waiting;
  const ok = missed === 0 && duplicates === 0 && runs > 0 && writes > 0;
  return {
    ...{ ok, seconds, schedulers, workers, occurrences, runs, duplicates, missed },
    ...{ staleRejected, takeovers, lateMsP50, lateMsP99 },
    ...{ skipped: tally.skipped, retried: tally.retried, failed: tally.failed, writes, repeated: tally.repeated },
    ...{ kills, freezes, seed },
  };
}

/** The same for a person. */
export function summary(end: Closing): string[] {
  const { occurrences, runs, skipped, duplicates, missed } = end;
  const reasons = Object.entries(skipped).flatMap(([reason, n]) => (n > 0 ? [`${reason} ${n}`] : []));
  const why = reasons.length > 0 ? `, skipped: ${reasons.join(', ')}` : '';
  const tried = [
    ...(end.retried > 0 ? [`${end.retried} after a retry`] : []),
    ...(end.failed > 0 ? [`${end.failed} failed`] : []),
  ];
  return [
    verdict(end),
    `  ${count(occurrences, 'occurrence')}, ${count(runs, 'run')}${tried.map((text) => `, ${text}`).join('')}${why}`,
    `  duplicates ${duplicates}, missed ${missed}`,
    `  stale calls and writes refused: ${end.staleRejected}, takeovers: ${end.takeovers}`,
    `  late: ${lateness(end)}`,
    ...setting(end).map((line) => `  ${line}`),
  ];
}

function verdict({ ok, runs, writes }: Closing): string {
  if (ok) return 'In order: every instant is accounted for, no write was accepted twice.';
  if (runs === 0) return 'Not in order: nothing ran at all.';
  if (writes === 0) return 'Not in order: nothing was written, so nothing can be said of duplicates.';
  return 'Not in order: see duplicates and missed below.';
}

function lateness({ lateMsP50, lateMsP99 }: Closing): string {
  if (lateMsP50 === null || lateMsP99 === null) return 'nothing began';
  return `half of the runs began within ${span(lateMsP50)}, 99 % within ${span(lateMsP99)}`;
}

function setting({ seconds, schedulers, workers, kills, freezes, seed }: Closing): string[] {
  const size = `${seconds} s, ${schedulers} schedulers, ${workers} workers`;
  return seed === null ? [size] : [size, `${kills} killed, ${freezes} frozen (--chaos --seed ${seed})`];
}
