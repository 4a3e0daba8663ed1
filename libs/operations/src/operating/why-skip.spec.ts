import { describe, it } from 'vitest';
import { expectAnswer, named, ms, run, type Situation } from '../../../../test/support/why-facts.js';

const DAY = '2026-03-10T03:00:00Z';
const PAUSE = { since: ms('2026-03-09T12:00:00Z'), until: null, by: 'ann', reason: 'a flood' };

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
      actions: [
        { at: ms('2026-03-11T00:00:00Z'), action: 'resume', by: 'bob', reason: null, runId: null },
        { at: PAUSE.since, action: 'pause', by: 'ann', reason: 'a flood', runId: null },
        { at: ms('2026-03-02T00:00:00Z'), action: 'pause', by: 'zoe', reason: null, runId: null },
      ],
    },
    'paused',
    'ann had paused',
    ['pause', 'bob resumed it at 2026-03-11T00:00:00Z'],
  ],
  [
    'fell into a pause that is forgotten',
    DAY,
    { skips: [['2026-03-09T03:00:00Z', DAY, 'paused']] },
    'paused',
    'the cron was paused',
    ['pause', 'the record of the pause has expired'],
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

describe('why an instant that did not run', () => {
  it.each(named(SITUATIONS))('that %s has the right answer', (_, situation) => expectAnswer(situation));
});
