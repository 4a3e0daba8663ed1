import type { Run } from '@fencepost/jobs';
import type { Archive } from './archive.js';

/** What an instant shows in a cron's timeline. `retried`: it took, or waits for, more than one attempt. */
export type Mark = 'succeeded' | 'running' | 'retried' | 'skipped' | 'failed' | 'waiting';

/** The newest `most` instants that have come, oldest first. */
export function timeline(cron: string, archive: Archive, most: number): Mark[] {
  const skips = archive.skips(cron);
  const instants = most < 1 ? [] : archive.instants(cron).slice(-most);
  return instants.map((instant) => {
    const run = archive.run(cron, `${cron}@${instant}`);
    if (run) return markOf(run);
    return skips.some(({ after, through }) => instant > after && instant <= through) ? 'skipped' : 'waiting';
  });
}

export function markOf({ state, attempt }: Run): Mark {
  switch (state) {
    case 'succeeded':
      return attempt > 1 ? 'retried' : 'succeeded';
    case 'cancelled':
      return 'failed';
    case 'failed':
    case 'skipped':
    case 'running':
      return state;
    case 'orphaned':
      return 'retried';
    // For a person's answer.
    case 'uncertain':
      return 'waiting';
    case 'claimed':
    case 'enqueued':
      return attempt > 0 ? 'retried' : 'waiting';
  }
}
