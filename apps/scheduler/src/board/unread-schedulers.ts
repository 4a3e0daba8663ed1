import type { AppJobScheduler } from '@bull-board/api/typings/app';
import { problemOf } from '../api/problem.js';

export type Scheduler = Omit<AppJobScheduler, 'queueName'>;

/** What was shown last. */
export interface KnownSchedulers {
  readonly shown: readonly Scheduler[];
  readonly at: Date;
}

/** What a board shows that could not be brought up to date: a first line that says so, and what was known last. */
export function unreadSchedulers(known: KnownSchedulers | null, error: unknown): Scheduler[] {
  const { code, message } = problemOf(error);
  const since = known === null ? 'nothing is known yet' : `the rest is as of ${known.at.toISOString()}`;
  const note = { id: 'not-up-to-date', name: `NOT UP TO DATE, ${since} (${code}): ${message}`, iterationCount: 0 };
  return [note, ...(known?.shown ?? [])];
}
