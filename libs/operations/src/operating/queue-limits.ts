import type { QueueLimits } from '@fencepost/jobs/internal';
import { counted, took } from './doctor-words.js';

/** One limit of a queue: what it does to runs, and how it is removed. */
export interface QueueLimit {
  readonly code: 'QUEUE_PAUSED' | 'QUEUE_CONCURRENCY' | 'QUEUE_RATE_LIMIT';
  readonly text: string;
  readonly todo: string;
}

const ALL = 'over all crons and workers of the queue';

/** What is in the way of the runs in a queue, the worst first. */
export function limitsOn({ queue, isPaused, concurrency, rate }: QueueLimits): QueueLimit[] {
  const limits: QueueLimit[] = [];
  if (isPaused) {
    const text = `The queue "${queue}" is paused: occurrences are claimed and enqueued, but no worker takes them.`;
    const todo =
      'Resume it in Bull Board, on the Queues page of the console. To stop single crons: ' +
      'fencepost pause <cron> --reason <words>.';
    limits.push({ code: 'QUEUE_PAUSED', text, todo });
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
