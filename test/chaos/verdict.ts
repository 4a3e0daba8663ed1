import { Sometimes } from '../support/seeded-random.js';
import { sometimesOf, type Observation } from './observations.js';

/** What all that was seen of an episode says. Whatever is counted under {@link NEVER} is a broken promise. */
export interface EpisodeVerdict {
  readonly topology: string;
  /** Instants that the schedules had. */
  readonly occurrences: number;
  /** Instants without a run or a recorded skip, and runs that succeeded although an effect of theirs never reached its sink. */
  readonly missed: number;
  /** Instants with two runs, and effects that acted once more than their sink and their policy allow. */
  readonly doubled: number;
  readonly staleAccepted: number;
  readonly transactionalDuplicates: number;
  readonly askRepeated: number;
  /** Runs that somebody was asked about. */
  readonly uncertain: number;
  readonly stuckAfterHeal: number;
  /** Repetitions of what nothing protects: with none of them the episode has proved nothing. */
  readonly controlDuplicates: number;
  readonly unexplained: number;
  /** Objects whose recorded history no single-threaded object could have had. */
  readonly notLinearizable: number;
  /** Runs whose recorded events are no path of the table of states. */
  readonly notConforming: number;
  /** With the ledger in PostgreSQL: changes of definitions, pauses and audit records that did not last. */
  readonly definitionsLost: number;
  /** Changes of definitions by pods, of which none told although one could have. */
  readonly silentChanges: number;
  /** Changes of definitions by pods; and those whose pod ended before it could tell. */
  readonly changes: number;
  readonly untoldChanges: number;
  /** Claims that a pod began although the system of its leases had been away for longer than its ttl. */
  readonly claimedWithoutLeases: number;
  /** Histories that were checked: one for each cron, run and effect. */
  readonly histories: number;
  /** Of those, in which so many replies got lost that the search for an order was given up. */
  readonly undecided: number;
  /** After all was healed: how long a cron began nothing at most while a run that no worker had begun blocked it. */
  readonly longestStallMs: number;
  readonly seen: Readonly<Partial<Record<Observation, number>>>;
  /** The first of what is wrong, a sentence each. */
  readonly findings: readonly string[];
}

export interface ChaosRun {
  readonly seed: number;
  readonly ledger: 'redis' | 'postgres';
  /** How often each kind struck; the kinds are what has to strike. */
  readonly faults: Readonly<Record<string, number>>;
  readonly processFaults: number;
  readonly maxStallMs: number;
  /** What has to be seen; `undefined`: all that a minute provokes. */
  readonly observations?: readonly string[] | undefined;
  readonly episodes: readonly EpisodeVerdict[];
}

/** What must be 0. */
export const NEVER = [
  ...(['missed', 'doubled', 'staleAccepted', 'transactionalDuplicates', 'askRepeated', 'stuckAfterHeal'] as const),
  ...(['unexplained', 'notLinearizable', 'notConforming', 'definitionsLost', 'claimedWithoutLeases'] as const),
  'silentChanges' as const,
];

const COUNTED = [
  ...NEVER,
  ...(['occurrences', 'uncertain', 'controlDuplicates', 'histories', 'undecided'] as const),
  ...(['changes', 'untoldChanges'] as const),
];

type Counted = (typeof COUNTED)[number];

/** The closing line. */
export interface ChaosVerdict
  extends Readonly<Record<Counted, number>>, Omit<ChaosRun, 'episodes' | 'maxStallMs' | 'observations'> {
  /** All that must be 0 is, all that has to happen has, and what nothing protects was doubled. */
  readonly ok: boolean;
  /** What of the faults and of the branches in which something is refused has not been seen: the run is invalid then. */
  readonly never: readonly string[];
  readonly longestStallMs: number;
  readonly seen: Readonly<Record<string, number>>;
  readonly topologies: readonly string[];
  readonly findings: readonly string[];
}

const MAX_FINDINGS = 20;

export function closingLine(run: ChaosRun): ChaosVerdict {
  const { seed, ledger, faults, processFaults, maxStallMs, episodes, observations = sometimesOf(run.ledger) } = run;
  const counts = Object.fromEntries(
    COUNTED.map((name) => [name, episodes.reduce((sum, episode) => sum + episode[name], 0)]),
  ) as Record<Counted, number>;
  const seen = seenIn(episodes);
  const never = [...missingFaults(faults), ...missingObservations(observations, seen)];
  const longestStallMs = Math.max(0, ...episodes.map((episode) => episode.longestStallMs));
  const isClean = NEVER.every((name) => counts[name] === 0) && longestStallMs <= maxStallMs;
  const ok = isClean && never.length === 0 && counts.controlDuplicates > 0;
  const findings = episodes.flatMap(({ topology, findings: found }) => found.map((text) => `${topology}: ${text}`));
  return {
    ...{ ok, seed, ledger, faults, processFaults, ...counts, longestStallMs, never, seen },
    topologies: episodes.map(({ topology }) => topology),
    findings: findings.slice(0, MAX_FINDINGS),
  };
}

function seenIn(episodes: readonly EpisodeVerdict[]): Record<string, number> {
  const seen: Record<string, number> = {};
  for (const [name, times] of episodes.flatMap((episode) => Object.entries(episode.seen))) {
    seen[name] = (seen[name] ?? 0) + times;
  }
  return seen;
}

function missingFaults(faults: Readonly<Record<string, number>>): string[] {
  const struck = new Sometimes(Object.keys(faults));
  struck.add(faults);
  return struck.missing();
}

function missingObservations(expected: readonly string[], seen: Readonly<Record<string, number>>): string[] {
  const observations = new Sometimes<string>(expected);
  for (const name of expected) observations.saw(name, seen[name] ?? 0);
  return observations.missing();
}
