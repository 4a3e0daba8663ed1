import { workOf, type Look } from './observer.js';
import type { Pod } from './pods.js';
import type { Tally } from './tally.js';
import { runName, span } from './words.js';

/** `seed` is that of the choices of `--chaos`, `null` without it. */
type Course = Readonly<Record<'seconds' | 'schedulers' | 'workers' | 'kills' | 'freezes', number>> & {
  readonly seed: number | null;
};

/** The last line with `--json`, its fields in this order. `missed` is `null` when the last instants can't be judged. */
export type Closing = ReturnType<typeof closing>;

/**
 * The verdict on a demo that has settled. `missed` are instants without a run and without a recorded skip, runs that never
 * ended, and effects that a succeeded run lacks. A failed run is counted, and is not missed. A demo in which nothing ran or
 * nothing was written is not `ok`: it proves nothing.
 */
export function closing({ complete, ...tally }: Tally & { readonly complete: boolean }, course: Course) {
  const { occurrences, runs, duplicates, lost, waiting, staleRejected, takeovers, lateMsP50, lateMsP99, ...rest } =
    tally;
  const { seconds, schedulers, workers, ...hits } = course;
  const missed = complete ? lost + waiting : null;
  const ok = missed === 0 && duplicates === 0 && rest.unexplained === 0 && runs > 0 && rest.writes > 0;
  return {
    ...{ ok, seconds, schedulers, workers, occurrences, runs, duplicates, missed },
    ...{ staleRejected, takeovers, lateMsP50, lateMsP99, ...rest, ...hits },
  };
}

/** The same for a person. */
export function summary({ seed, kills, freezes, ...end }: Closing): string[] {
  const chaos = seed === null ? '' : `, ${kills} killed, ${freezes} frozen (--chaos --seed ${seed})`;
  return [
    verdict(end),
    ...counts(end),
    `${end.seconds} s, ${end.schedulers} schedulers, ${end.workers} workers${chaos}`,
  ];
}

function verdict({ ok, runs, writes }: Pick<Closing, 'ok' | 'runs' | 'writes'>): string {
  if (ok) return 'In order: every instant is accounted for, no write was accepted twice.';
  if (runs === 0) return 'Not in order: nothing ran at all.';
  if (writes === 0) return 'Not in order: nothing was written, so nothing is known of duplicates.';
  return 'Not in order: see the counts below.';
}

type Counts = Omit<Tally, 'lost' | 'waiting'> & { readonly missed: number | null };

function counts(tally: Counts): string[] {
  const { lateMsP50: p50, lateMsP99: p99, unexplained } = tally;
  const skipped = Object.entries(tally.skipped).flatMap(([reason, n]) => (n > 0 ? [`${reason} ${n}`] : []));
  return [
    `duplicates ${tally.duplicates}, missed ${tally.missed ?? 'unknown'}${unexplained > 0 ? `, unexplained ${unexplained}` : ''}`,
    `occurrences ${tally.occurrences}, runs ${tally.runs}, retried ${tally.retried}, failed ${tally.failed}`,
    `stale calls and writes refused: ${tally.staleRejected}, takeovers: ${tally.takeovers}`,
    ...(skipped.length > 0 ? [`skipped: ${skipped.join(', ')}`] : []),
    ...(p50 === null || p99 === null ? [] : [`late: half of the runs by ${span(p50)} or less, 99 % by ${span(p99)}`]),
  ];
}

/** A few by name; of many how many. */
function listed(verb: string, names: readonly string[]): string[] {
  return names.length > MAX_NAMED ? [`${verb} ${names.length}`] : names.map((name) => `${verb} ${name}`);
}

const MAX_NAMED = 3;

/** The status: the pods and what they have, and what is counted so far. */
export function table(pods: readonly Pod[], look: Look, tally: Tally | null): string[] {
  const rows = pods.map(({ name, state, pid, port }) => {
    const { leases, runs } = workOf(name, look);
    const had = [
      ...listed(
        'holds',
        leases.map((cron) => cron.name),
      ),
      ...listed('runs', runs.map(runName)),
    ];
    return [name, state, String(pid ?? '-'), `http://127.0.0.1:${port}`, had.join(', ')];
  });
  const lines = [['pod', 'state', 'pid', 'address', 'leases and runs'], ...rows].map((cells) => {
    const [name = '', state = '', pid = '', address = '', had = ''] = cells;
    return `${name.padEnd(13)}${state.padEnd(10)}${pid.padEnd(9)}${address.padEnd(23)}${had}`.trimEnd();
  });
  return [...lines, ...(tally === null ? [] : counts({ ...tally, missed: tally.lost }))];
}
