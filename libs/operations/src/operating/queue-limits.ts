import type { QueueLimits } from '@fencepost/jobs/internal';
import { counted, took } from './doctor-words.js';

/** One limit of a queue: what it does to runs, and how it is removed. */
export interface QueueLimit {
  readonly code: 'QUEUE_PAUSED' | 'QUEUE_NOT_PAUSED' | 'QUEUE_CONCURRENCY' | 'QUEUE_RATE_LIMIT';
  readonly text: string;
  readonly todo: string;
}

const ALL = 'over all crons and workers of the queue';

/** What is in the way of the runs in a queue, the worst first. */
export function limitsOn({ queue, isPaused, pausedUnlike, concurrency, rate }: QueueLimits): QueueLimit[] {
  const limits: QueueLimit[] = [];
  if (isPaused) {
    const alone = pausedUnlike === null ? '' : `, and the queue "${pausedUnlike}" of its app is not`;
    const text = `The queue "${queue}" is paused${alone}: occurrences are claimed and enqueued, but no worker takes them.`;
    const todo =
      'Resume it in Bull Board, on the Queues page of the console. To stop single crons: ' +
      'fencepost pause <cron> --reason <words>.';
    limits.push({ code: 'QUEUE_PAUSED', text, todo });
  }
  if (!isPaused && pausedUnlike !== null) {
    const text =
      `The queue "${pausedUnlike}" is paused, and "${queue}" is not: runs that only some workers of the app can execute ` +
      'still start.';
    const todo = `Resume "${pausedUnlike}" in Bull Board and pause it again: that concerns both.`;
    limits.push({ code: 'QUEUE_NOT_PAUSED', text, todo });
  }
  if (concurrency !== null) {
    const text = `The queue "${queue}" has a global concurrency of ${concurrency}: at most ${counted(concurrency, 'run')} at once, ${ALL}.`;
    const todo = 'To remove it, set the concurrency to 0 in Bull Board, on the Queues page of the console.';
    limits.push({ code: 'QUEUE_CONCURRENCY', text, todo });
  }
  if (rate !== null) {
    const text = `The queue "${queue}" has a rate limit of ${counted(rate.max, 'run')} per ${took(rate.durationMs)}, ${ALL}.`;
    const todo = 'To remove it, clear the rate limit in Bull Board, on the Queues page of the console.';
    limits.push({ code: 'QUEUE_RATE_LIMIT', text, todo });
  }
  return limits;
}
