import { parseFence } from '@fencepost/lease';
import { describe, it } from 'vitest';
import { WAITING } from '../../../../test/support/audit-history.js';
import { limitsOf } from './doctor.stage.js';
import { expectAnswer, named, heard, ms, run, type Situation } from './why-facts.stage.js';

const DAY = '2026-03-10T03:00:00Z';
const ID = `tick@${ms(DAY)}`;
const EFFECT = {
  name: 'card',
  state: 'done',
  since: ms(DAY),
  finishedAt: ms(DAY) + 500,
  fence: parseFence('9'),
  result: null,
  error: null,
  payloadHash: null,
} as const;

const SITUATIONS: readonly Situation[] = [
  [
    'ran in time',
    DAY,
    { runs: [run(DAY)] },
    'ran',
    'begun 100 ms after it was due, it succeeded',
    ['claim', 'claimed it at 2026-03-10T03:00:00.020Z under fence 1, generation 1'],
  ],
  [
    'ran late, for want of a scheduler',
    DAY,
    { runs: [run(DAY, { claimedAt: ms(DAY) + 300_000, enqueuedAt: ms(DAY) + 300_001, startedAt: ms(DAY) + 300_010 })] },
    'late',
    'no pod claimed it for 5 min',
    ['misfire', 'no scheduler held the lease'],
  ],
  [
    'ran late, for want of a worker',
    DAY,
    { runs: [run(DAY, { startedAt: ms(DAY) + 600_000 })] },
    'late',
    'no worker started it for 9 min 59 s',
    ['attempt', '10 min after it was due'],
  ],
  [
    'ran after a failed attempt',
    DAY,
    { runs: [run(DAY, { attempt: 2, attemptedAt: ms(DAY) + 9_000 })] },
    'retried',
    'after 2 attempts',
    ['attempt', 'Attempt 2 began at 2026-03-10T03:00:09Z'],
  ],
  [
    'stands for missed ones',
    DAY,
    {
      runs: [
        run(DAY, {
          reason: 'catch-up',
          missed: { count: 2, from: ms('2026-03-08T03:00:00Z'), to: ms('2026-03-09T03:00:00Z') },
        }),
      ],
    },
    'ran',
    'It ran',
    ['misfire', 'also covers 2 missed instants'],
  ],
  [
    'was asked for later',
    DAY,
    { runs: [run(DAY, { reason: 'backfill', by: 'ann' })] },
    'ran',
    'It ran',
    ['claim', 'It is a backfill run, asked for by ann'],
  ],
  [
    'goes on',
    DAY,
    { runs: [run(DAY, { state: 'running', finishedAt: null })] },
    'running',
    'attempt 1 goes on since 2026-03-10T03:00:00.100Z',
  ],
  ['lost its worker', DAY, { runs: [run(DAY, { state: 'orphaned', finishedAt: null })] }, 'waiting', 'Its worker died'],
  [
    'is claimed and not in the queue',
    DAY,
    { runs: [run(DAY, { ...WAITING, state: 'claimed', enqueuedAt: null })] },
    'waiting',
    'not in the queue yet',
    ['enqueue', 'not in the queue yet'],
  ],
  [
    'is in the queue',
    DAY,
    { runs: [run(DAY, { ...WAITING, delivery: 3 })] },
    'waiting',
    'no worker has started it yet',
    ['enqueue', 'It was enqueued 3 times'],
  ],
  [
    'waits in a queue that is paused',
    DAY,
    { runs: [run(DAY, WAITING)], queues: [limitsOf({ isPaused: true })] },
    'waiting',
    'The queue "runs" is paused',
    ['enqueue', 'Resume it in Bull Board'],
  ],
  [
    'waits in the queue of a group that alone is paused',
    DAY,
    { runs: [run(DAY, WAITING)], queues: [limitsOf({ queue: 'a.only-0123abcd', isPaused: true, pausedUnlike: 'a' })] },
    'waiting',
    'The queue "a.only-0123abcd" is paused, and the queue "a" of its app is not',
    ['enqueue', 'Resume it in Bull Board'],
  ],
  [
    'waits in a queue with a concurrency',
    DAY,
    { runs: [run(DAY, WAITING)], queues: [limitsOf({ concurrency: 1 })] },
    'waiting',
    'a global concurrency of 1: at most 1 run at once',
    ['enqueue', 'set the concurrency to 0 in Bull Board'],
  ],
  [
    'waits in a queue with a rate limit',
    DAY,
    { runs: [run(DAY, WAITING)], queues: [limitsOf({ rate: { max: 1, durationMs: 20_000 } })] },
    'waiting',
    'a rate limit of 1 run per 20 s',
    ['enqueue', 'clear the rate limit in Bull Board'],
  ],
  [
    'finds no worker with its handler',
    DAY,
    { runs: [run(DAY, { ...WAITING, waiting: 'no-capable-worker' })] },
    'waiting',
    'no live worker has its handler',
    ['enqueue', 'no-capable-worker'],
  ],
  [
    'waits for its next attempt',
    DAY,
    { runs: [run(DAY, { ...WAITING, attempt: 1, notBefore: ms(DAY) + 60_000, error: 'Error: 503' })] },
    'waiting',
    'waits for its next attempt, at 2026-03-10T03:01:00Z',
    ['attempt', 'Error: 503'],
  ],
  [
    'failed',
    DAY,
    { runs: [run(DAY, { state: 'failed', attempt: 3, error: 'Error: no paper' })] },
    'failed',
    'after 3 attempts: Error: no paper',
  ],
  [
    'was cancelled',
    DAY,
    { runs: [run(DAY, { state: 'cancelled', cancel: { at: ms(DAY) + 1_000, by: 'ann', until: ms(DAY) + 31_000 } })] },
    'cancelled',
    'by ann',
    ['attempt', 'ann cancelled it'],
  ],
  [
    'waits for an operator',
    DAY,
    {
      runs: [
        run(DAY, {
          state: 'uncertain',
          finishedAt: null,
          unresolvedEffect: { effect: 'card', item: null, unknownReason: 'lost', since: ms(DAY) },
        }),
      ],
      effects: [{ ...EFFECT, state: 'begun', finishedAt: null }],
    },
    'uncertain',
    'the outcome of its effect "card" is unknown',
    ['effect', 'The outcome of the effect "card" is unknown'],
  ],
  [
    'has an effect that is done',
    DAY,
    { runs: [run(DAY)], effects: [EFFECT] },
    'ran',
    'It ran',
    ['effect', '"card" is done'],
  ],
  [
    'has an effect that failed',
    DAY,
    { runs: [run(DAY, { state: 'failed' })], effects: [{ ...EFFECT, state: 'failed', error: 'declined' }] },
    'failed',
    'failed',
    ['effect', 'failed: declined'],
  ],
  [
    'had a stale attempt refused',
    DAY,
    {
      runs: [run(DAY)],
      journal: [
        heard('2026-03-10T03:00:09Z', 'attempt.refused', {
          runId: ID,
          detail: { attempt: 1, fence: '7', step: 'finish' },
        }),
      ],
    },
    'ran',
    'It ran',
    ['fence', 'write refused: the attempt is stale (attempt 1, fence 7, step finish)'],
  ],
  [
    'was claimed after a claim was refused',
    DAY,
    {
      runs: [run(DAY)],
      journal: [heard('2026-03-10T03:00:00Z', 'claim.stale', { detail: { fence: '5', accepted: '9' } })],
    },
    'ran',
    'It ran',
    ['fence', 'the ledger has accepted a larger fence (fence 5, accepted 9)'],
  ],
  [
    'was claimed by who took the lease then',
    DAY,
    { runs: [run(DAY)], journal: [heard('2026-03-10T02:59:00Z', 'lease.acquired', { detail: { fence: '1' } })] },
    'ran',
    'It ran',
    ['lease', 'pod-1/aaaaaaaa held the lease of the cron from 2026-03-10T02:59:00Z on'],
  ],
];

describe('why an instant with a run', () => {
  it.each(named(SITUATIONS))('that %s has the right answer', (_, situation) => expectAnswer(situation));
});
