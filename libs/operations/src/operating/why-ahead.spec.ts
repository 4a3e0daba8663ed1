import { describe, it } from 'vitest';
import { expectAnswer, named, HOLDER, ms, run, type Situation } from '../../../../test/support/why-facts.js';

const PAUSE = { since: ms('2026-03-09T12:00:00Z'), until: null, by: 'ann', reason: 'a flood' };

const SITUATIONS: readonly Situation[] = [
  [
    'is to come',
    '2026-03-21T03:00:00Z',
    { lease: HOLDER },
    'will-run',
    'it will run in 15 h, at 2026-03-21T03:00:00Z',
    ['lease', 'pod-1/aaaaaaaa holds the lease of the cron, for 8 s more'],
  ],
  [
    'is to come, and nobody is there',
    '2026-03-21T03:00:00Z',
    { lease: null },
    'will-run',
    'once a scheduler holds its lease',
  ],
  [
    'is to come, and the run before goes on',
    '2026-03-21T03:00:00Z',
    { runs: [run('2026-03-20T03:00:00Z', { state: 'running', finishedAt: null })] },
    'will-run',
    'unless the previous run is still open then',
    ['overlap', 'is running since'],
  ],
  [
    'is to come while it is paused',
    '2026-03-21T03:00:00Z',
    { paused: PAUSE },
    'will-not-run',
    'it will be skipped: the cron is paused then',
    ['pause', 'until it is resumed'],
  ],
  [
    'is to come after the pause',
    '2026-03-21T03:00:00Z',
    { paused: { ...PAUSE, until: ms('2026-03-21T00:00:00Z') } },
    'will-run',
    'it will run',
  ],
  [
    'will be no instant',
    '2026-03-21T04:00:00Z',
    {},
    'no-instant',
    'It does not run',
    ['next', 'Its next instant is 2026-03-22T03:00:00Z'],
  ],
  [
    'will be no instant of a disabled one',
    '2026-03-21T03:00:00Z',
    { generations: [{ state: 'disabled' }] },
    'disabled',
    'the cron is disabled',
  ],
  [
    'is now, and no instant',
    'now',
    { paused: PAUSE },
    'no-instant',
    'no instant there',
    ['next', 'Its next instant is 2026-03-21T03:00:00Z, in 15 h; it is paused then'],
  ],
  [
    'is no instant, after one that was skipped',
    'now',
    { skips: [['2026-03-19T03:00:00Z', '2026-03-20T03:00:00Z', 'misfire']] },
    'no-instant',
    'no instant there',
    ['next', 'The instant before it, 2026-03-20T03:00:00Z: skipped (misfire)'],
  ],
  ['is the last', 'last', { runs: [run('2026-03-20T03:00:00Z')] }, 'ran', 'It ran'],
];

describe('why a time that is to come', () => {
  it.each(named(SITUATIONS))('that %s has the right answer', (_, situation) => expectAnswer(situation));
});
