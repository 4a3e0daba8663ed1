import type { Run } from '@fencepost/jobs';
import type { Archive } from './archive.js';
import type { Happening } from './happening.js';
import { LEASE_MS, type Pod } from './pod.js';
import { podOf, type Sight } from './sight.js';
import type { Tally } from './tally.js';
import { timeline, type Mark } from './timeline.js';
import { runName } from './words.js';

export interface HeldLease {
  readonly cron: string;
  /** Of the lease, from 0 to 1, that is left. */
  readonly share: number;
  readonly fence: number;
}

export interface PodRow {
  readonly pod: Pod;
  readonly leases: readonly HeldLease[];
  /** Names of the runs it carries out. */
  readonly running: readonly string[];
  /** How many it has brought to their end. */
  readonly ended: number;
}

export interface CronRow {
  readonly name: string;
  readonly expression: string;
  /** As many as anybody could want to see, oldest first. */
  readonly marks: readonly Mark[];
  readonly nextInMs: number | null;
}

export interface RunRow {
  readonly run: Run;
  readonly effects: readonly string[];
}

/** All that is drawn at one moment, and nothing that depends on the terminal. */
export interface Scene {
  readonly redis: string;
  /** What a shell takes for the command line to find these crons. */
  readonly access: string;
  readonly logs: string;
  readonly status: string;
  readonly pods: readonly PodRow[];
  readonly crons: readonly CronRow[];
  /** The newest first. */
  readonly runs: readonly RunRow[];
  /** The newest last. */
  readonly news: readonly Happening[];
  readonly tally: Tally;
}

const MOST_MARKS = 120;

interface Seen {
  readonly sight: Sight;
  readonly archive: Archive;
  readonly pods: readonly Pod[];
  /** Epoch milliseconds: between two looks the leases go on running out. */
  readonly now: number;
}

/** What the stores and the processes show, row by row. */
export function sceneOf({ sight, archive, pods, now }: Seen): Pick<Scene, 'pods' | 'crons' | 'runs'> {
  const newest = sight.crons
    .flatMap(({ runs }) => runs)
    .filter(({ attempt, state }) => attempt > 0 || state === 'skipped')
    .toSorted((a, b) => b.scheduledAt - a.scheduledAt || (a.cron < b.cron ? -1 : 1));
  const running = newest.filter(({ state }) => state === 'running');
  return {
    pods: pods.map((pod) => ({
      pod,
      leases: heldBy(pod, sight, now),
      running: running
        .filter(({ worker }) => worker !== null && podOf(worker) === pod.name)
        .map((run) => runName(run.cron, run.scheduledAt)),
      ended: archive.endedBy(pod.name),
    })),
    crons: sight.crons.map(({ name, entry, schedule }) => {
      const next = schedule.next(now);
      const { expression } = entry.definition;
      return { name, expression, marks: timeline(name, archive, MOST_MARKS), nextInMs: next && next - now };
    }),
    runs: newest.map((run) => ({ run, effects: archive.effects(run.id) })),
  };
}

function heldBy(pod: Pod, sight: Sight, now: number): HeldLease[] {
  return sight.crons.flatMap(({ name, holding }) => {
    if (holding === null || podOf(holding.holder) !== pod.name) return [];
    const remainingMs = Math.max(0, holding.remainingMs - (now - sight.at));
    return [{ cron: name, share: Math.min(1, remainingMs / LEASE_MS.scheduler), fence: holding.fence }];
  });
}
