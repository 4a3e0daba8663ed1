import { describe, expect, it } from 'vitest';
import { expectAnswer, named, ms, run, why, type Situation } from '../../../../test/support/why-facts.js';

const DAY = '2026-03-10T03:00:00Z';
const BERLIN = { timeZone: 'Europe/Berlin', expression: '30 2 * * *' } as const;
const AFTER_SPRING = { now: '2026-03-30T12:00:00Z', cursor: '2026-03-30T00:30:00Z' } as const;
const AFTER_AUTUMN = { now: '2026-10-26T12:00:00Z', cursor: '2026-10-26T01:30:00Z' } as const;

const SITUATIONS: readonly Situation[] = [
  [
    'does not exist, and is moved',
    '2026-03-29 02:30',
    { ...AFTER_SPRING, generations: [BERLIN], runs: [run('2026-03-29T01:00:00Z')] },
    'ran',
    'It ran',
    [
      'schedule',
      'Sun 2026-03-29 02:30:00 does not exist in Europe/Berlin: clocks went forward from 02:00:00 to 03:00:00 at 2026-03-29T01:00:00Z',
    ],
  ],
  [
    'stands for a time that does not exist',
    '2026-03-29T01:00:00Z',
    { ...AFTER_SPRING, generations: [BERLIN], runs: [run('2026-03-29T01:00:00Z')] },
    'ran',
    'It ran',
    ['schedule', 'Sun 2026-03-29 02:30:00 does not exist'],
  ],
  [
    'does not exist, and is left out',
    '2026-03-29 02:30',
    { ...AFTER_SPRING, generations: [{ ...BERLIN, dst: { gap: 'skip', repeat: 'first' } }] },
    'gap',
    '02:30:00 does not exist in Europe/Berlin',
    ['schedule', 'does not run (dst.gap "skip")'],
  ],
  [
    'does not exist, and is put off',
    '2026-03-29 02:30',
    {
      ...AFTER_SPRING,
      generations: [{ ...BERLIN, dst: { gap: 'shift', repeat: 'first' } }],
      runs: [run('2026-03-29T01:30:00Z')],
    },
    'ran',
    'It ran',
    ['schedule', 'runs as much later as the gap is long (dst.gap "shift")'],
  ],
  [
    'comes twice, and the last counts',
    '2026-10-25 02:30',
    {
      ...AFTER_AUTUMN,
      generations: [{ ...BERLIN, dst: { gap: 'skip', repeat: 'last' } }],
      runs: [run('2026-10-25T01:30:00Z')],
    },
    'ran',
    'It ran',
    ['schedule', 'only the last counts'],
  ],
  [
    'does not exist for an interval',
    '2026-03-29 02:30',
    { ...AFTER_SPRING, generations: [{ ...BERLIN, expression: '30 2,14 * * *' }] },
    'gap',
    'does not exist',
  ],
  [
    'comes twice, the first time',
    '2026-10-25 02:30',
    { ...AFTER_AUTUMN, generations: [BERLIN], runs: [run('2026-10-25T00:30:00Z')] },
    'ran',
    'It ran',
    ['schedule', 'twice, at 2026-10-25T00:30:00Z and at 2026-10-25T01:30:00Z: of a fixed time only the first counts'],
  ],
  [
    'comes twice, the second time',
    '2026-10-25T01:30:00Z',
    { ...AFTER_AUTUMN, generations: [BERLIN] },
    'repeat',
    'the cron uses the other one, 2026-10-25T00:30:00Z',
    ['schedule', 'only the first counts'],
  ],
  [
    'comes twice for an interval',
    '2026-10-25T01:30:00Z',
    { ...AFTER_AUTUMN, generations: [{ ...BERLIN, expression: '30 * * * *' }], runs: [run('2026-10-25T01:30:00Z')] },
    'ran',
    'It ran',
    ['schedule', 'an interval runs through both'],
  ],
];

describe('why a time at which clocks change', () => {
  it.each(named(SITUATIONS))('that %s has the right answer', (_, situation) => expectAnswer(situation));

  it('says of a cron that is spread when it is due', () => {
    const report = why('2026-03-21T03:00:00Z', { generations: [{ spreadMs: 600_000 }] });
    const due = report.steps.find(({ text }) => text.includes('the cron is spread'));
    expect(due?.at).toBeGreaterThan(ms('2026-03-21T03:00:00Z'));
    expect(report.answer).toContain(new Date(due!.at!).toISOString().replace('.000Z', 'Z'));
  });

  it('answers with instants next to it, over changes of its definition', () => {
    const generations = [{}, { since: '2026-03-10T12:00:00Z', expression: '0 5 * * *' }];
    const { neighbours } = why('2026-03-10T20:00:00Z', { generations });
    expect(neighbours).toEqual({ before: ms(DAY), after: ms('2026-03-11T05:00:00Z') });
  });
});
