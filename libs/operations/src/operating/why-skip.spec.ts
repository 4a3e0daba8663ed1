import { describe, it } from 'vitest';
import { expectAnswer, named, ms, ordered, run, type Situation, heard, HOLDER } from './why-facts.stage.js';

const DAY = '2026-03-10T03:00:00Z';

const ORDERS = [
  ordered('2026-03-11T00:00:00Z', 'bob resume'),
  ordered('2026-03-09T12:00:00Z', 'ann pause', { reason: 'a flood' }),
  ordered('2026-03-02T00:00:00Z', 'zoe pause'),
];

const PAUSE = { since: ms('2026-03-09T12:00:00Z'), until: null, by: 'ann', reason: 'a flood' };

describe('why an instant that did not run', () => {
  const SITUATIONS: readonly Situation[] = [
    [
      'met the run before it',
      DAY,
      {
        runs: [
          run('2026-03-08T03:00:00Z'),
          run('2026-03-09T03:00:00Z', { finishedAt: ms(DAY) + 60_000 }),
          run('2026-03-11T03:00:00Z'),
          run(DAY, { state: 'skipped', skipped: 'overlap', attempt: 0, startedAt: null }),
        ],
      },
      'overlap',
      `It did not run: tick@${ms('2026-03-09T03:00:00Z')} was still going`,
      ['overlap', 'ended at 2026-03-10T03:01:00Z (succeeded)'],
    ],
    [
      'met a run that no worker could execute',
      DAY,
      {
        runs: [
          run('2026-03-09T03:00:00Z', { state: 'enqueued', attempt: 0, startedAt: null, finishedAt: null }),
          run(DAY, { state: 'skipped', skipped: 'no-capable-worker', attempt: 0, startedAt: null }),
        ],
      },
      'no-capable-worker',
      `no live worker had the handler "tick", and tick@${ms('2026-03-09T03:00:00Z')} already waited for one`,
      ['enqueue', 'No live worker had the handler "tick" when the instant was claimed'],
    ],
    [
      'fell into a pause that goes on',
      DAY,
      { skips: [['2026-03-09T03:00:00Z', DAY, 'paused']], paused: PAUSE },
      'paused',
      'ann had paused the cron at 2026-03-09T12:00:00Z: a flood',
      ['pause', 'still paused, until it is resumed'],
    ],
    [
      'fell into a pause that is over',
      DAY,
      {
        skips: [['2026-03-09T03:00:00Z', DAY, 'paused']],
        orders: ORDERS,
      },
      'paused',
      'ann had paused the cron at 2026-03-09T12:00:00Z: a flood',
      ['pause', 'bob resumed it at 2026-03-11T00:00:00Z'],
    ],
    [
      'fell into a pause that is over, after orders that failed',
      DAY,
      {
        skips: [['2026-03-09T03:00:00Z', DAY, 'paused']],
        orders: [
          ...ORDERS.slice(0, 1),
          ordered('2026-03-10T12:00:00Z', 'mia resume', { after: { error: 'Connection is closed.' } }),
          ordered('2026-03-09T23:00:00Z', 'mia pause', { after: { error: 'Connection is closed.' } }),
          ...ORDERS.slice(1),
        ],
      },
      'paused',
      'ann had paused',
      ['pause', 'bob resumed it at 2026-03-11T00:00:00Z'],
    ],
    [
      'fell into a pause while the audit trail can not be read',
      DAY,
      { skips: [['2026-03-09T03:00:00Z', DAY, 'paused']], orders: null },
      'paused',
      'the cron was paused',
      ['pause', 'who paused it is unknown, because the audit trail could not be read'],
    ],
    [
      'fell into a pause before the one that goes on, while the audit trail can not be read',
      DAY,
      {
        ...{ skips: [['2026-03-09T03:00:00Z', DAY, 'paused']], orders: null },
        paused: { ...PAUSE, since: ms('2026-03-12T00:00:00Z') },
      },
      'paused',
      'the cron was paused',
      ['pause', 'who paused it is unknown'],
    ],
    [
      'fell into the pause that goes on, while the audit trail can not be read',
      DAY,
      { skips: [['2026-03-09T03:00:00Z', DAY, 'paused']], orders: null, paused: PAUSE },
      'paused',
      'ann had paused',
      ['pause', 'still paused'],
    ],
    [
      'fell into a pause of which there is no record',
      DAY,
      { skips: [['2026-03-09T03:00:00Z', DAY, 'paused']] },
      'paused',
      'the cron was paused',
      ['pause', 'the audit trail has no record of who paused it'],
    ],
    [
      'was merged into a later one',
      DAY,
      {
        skips: [['2026-03-09T03:00:00Z', DAY, 'merged']],
        runs: [run('2026-03-11T03:00:00Z', { reason: 'catch-up', missed: { count: 1, from: ms(DAY), to: ms(DAY) } })],
      },
      'merged',
      `tick@${ms('2026-03-11T03:00:00Z')} covers it (succeeded)`,
      ['misfire', 'covers it'],
    ],
    [
      'lay too far back',
      DAY,
      { skips: [['2026-03-09T03:00:00Z', DAY, 'misfire']] },
      'misfire',
      'it was older than the catch-up window',
    ],
    [
      'is never made up for',
      DAY,
      { generations: [{ misfire: 'skip' }], skips: [['2026-03-09T03:00:00Z', DAY, 'misfire']] },
      'misfire',
      'its misfire policy is "skip"',
    ],
    [
      'was begun by nobody in time',
      DAY,
      {
        generations: [{ startDeadlineMs: 60_000 }],
        runs: [run(DAY, { state: 'skipped', skipped: 'misfire', attempt: 0, startedAt: null })],
      },
      'misfire',
      'no worker started it within 1 min after it was due',
    ],
    [
      'had to make room for a newer one',
      DAY,
      {
        runs: [
          run(DAY, { state: 'skipped', skipped: 'superseded', attempt: 0, startedAt: null }),
          run('2026-03-11T03:00:00Z'),
        ],
      },
      'superseded',
      `tick@${ms('2026-03-11T03:00:00Z')} replaced it`,
    ],
  ];

  it.each(named(SITUATIONS))('that %s has the right answer', (_, situation) => expectAnswer(situation));
});

describe('why a time without a record', () => {
  const SITUATIONS: readonly Situation[] = [
    [
      'is no instant',
      '2026-03-10T04:00:00Z',
      {},
      'no-instant',
      'The nearest are 2026-03-10T03:00:00Z before it and 2026-03-11T03:00:00Z after it',
      ['schedule', 'has no instant at 2026-03-10T04:00:00Z'],
    ],
    [
      'lies before the cron',
      '2026-02-10T03:00:00Z',
      {},
      'unborn',
      'exists only since 2026-03-01T00:00:00Z',
      ['generation', 'The cron has no history before'],
    ],
    [
      'lies before the cron, by a clock that went back',
      '2026-02-10T03:00:00Z',
      { now: '2026-02-10T04:00:00Z', cursor: null },
      'clock-behind',
      "the store's clock shows 2026-02-10T04:00:00Z, and the cron was created at 2026-03-01T00:00:00Z",
      ['claim', 'the clock went back by at least'],
    ],
    [
      'is accounted for, by a clock that went back',
      '2026-03-20T03:00:00Z',
      { now: '2026-03-15T00:00:00Z' },
      'missed',
      'missed without a recorded reason',
      ['claim', 'the cron has records up to 2026-03-20T03:00:00Z'],
    ],
    [
      'lies before the oldest definition that is kept',
      '2026-02-10T03:00:00Z',
      { skips: [['2026-02-10T02:00:00Z', '2026-02-10T03:00:00Z', 'misfire']] },
      'forgotten',
      'has definitions of the cron only since 2026-03-01T00:00:00Z',
    ],
    ["has milliseconds after the cron's instant", '2026-03-10T03:00:00.123Z', {}, 'missed', 'It was missed'],
    [
      'has milliseconds in a second without an instant',
      '2026-03-10T04:00:00.123Z',
      {},
      'no-instant',
      'its schedule has no instant there',
    ],
    [
      'lies in a time when it was disabled',
      DAY,
      { generations: [{}, { since: '2026-03-05T00:00:00Z', state: 'disabled' }] },
      'disabled',
      'the cron was disabled, since 2026-03-05T00:00:00Z (by a test)',
      ['generation', 'Generation 2 was in force then, disabled'],
    ],
    [
      'lies after its removal',
      DAY,
      {
        generations: [
          {},
          { since: '2026-03-05T00:00:00Z', state: 'removed', by: 'shop revision 4', reason: 'no live pod declares it' },
        ],
      },
      'removed',
      'the cron was removed, since 2026-03-05T00:00:00Z (by shop revision 4: no live pod declares it)',
    ],
    [
      'is one of a later definition only',
      '2026-03-10T05:00:00Z',
      { generations: [{}, { since: '2026-03-12T00:00:00Z', expression: '0 5 * * *' }] },
      'no-instant',
      'it had no instant there until a test changed its schedule from "0 3 * * *" in UTC to "0 5 * * *"',
      ['generation', 'Since then it was changed 1 time; it is active now, with "0 5 * * *"'],
    ],
    [
      'belongs to a cron without a schedule',
      DAY,
      { generations: [{ expression: '@manual' }] },
      'manual',
      'runs only on request',
      ['schedule', 'has no instants'],
    ],
    ['was missed', DAY, {}, 'missed', 'fencepost audit --cron tick', ['claim', 'has neither a run nor a reason']],
    ['is forgotten', DAY, { forgotten: '2026-03-12T00:00:00Z' }, 'forgotten', 'no longer has a record of it'],
    [
      'is due, and nobody is there',
      '2026-03-20T03:00:00Z',
      { cursor: '2026-03-19T03:00:00Z', lease: null },
      'due',
      'no scheduler holds its lease',
      ['lease', 'No scheduler holds the lease'],
    ],
    [
      'is due, and its holder does nothing',
      '2026-03-20T03:00:00Z',
      {
        cursor: '2026-03-19T03:00:00Z',
        lease: HOLDER,
        journal: [heard('2026-03-20T03:00:05Z', 'claim.stale', { detail: { fence: '5', accepted: '9' } })],
      },
      'due',
      'pod-1/aaaaaaaa holds its lease but has not claimed it',
      ['fence', 'claim refused: the ledger has accepted'],
    ],
    [
      'is due while the cron is paused',
      '2026-03-20T03:00:00Z',
      { cursor: '2026-03-19T03:00:00Z', paused: PAUSE },
      'due',
      'the cron is paused',
      ['pause', 'ann paused the cron'],
    ],
    [
      'is due, and the catalog was lost',
      '2026-03-20T03:00:00Z',
      { cursor: '2026-03-19T03:00:00Z', record: { generation: 4, refusals: 6 } },
      'due',
      'newer generation than the catalog',
      ['fence', 'refused 6 stale calls'],
    ],
  ];

  it.each(named(SITUATIONS))('that %s has the right answer', (_, situation) => expectAnswer(situation));
});
