import { describe, expect, it } from 'vitest';
import { OperatorInputError } from '@fencepost/ledger';
import { expectAnswer, named, ms, run, why, type Situation, HOLDER } from './why-facts.stage.js';
import { localTime, readWhen } from './why-when.js';

const DAY = '2026-03-10T03:00:00Z';

const BERLIN = { timeZone: 'Europe/Berlin', expression: '30 2 * * *' } as const;

const AFTER_SPRING = { now: '2026-03-30T12:00:00Z', cursor: '2026-03-30T00:30:00Z' } as const;

const AFTER_AUTUMN = { now: '2026-10-26T12:00:00Z', cursor: '2026-10-26T01:30:00Z' } as const;

describe('why a time at which clocks change', () => {
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

describe('why a time that is to come', () => {
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

  it.each(named(SITUATIONS))('that %s has the right answer', (_, situation) => expectAnswer(situation));
});

const AT = Date.UTC(2026, 2, 1);

describe('the time that somebody asks about', () => {
  it.each(['2026-03-01T00:00:00Z', '2026-03-01T01:00+01:00', '2026-03-01T00:00:00.000Z', `${AT}`, ` ${AT} `, AT])(
    'may be an instant, as %j',
    (when) => {
      expect(readWhen(when)).toEqual({ kind: 'instant', at: AT });
    },
  );

  it.each(['2026-03-01 00:00', '2026-03-01T00:00', '2026-03-01 00:00:00'])('may be a local time, as %j', (when) => {
    expect(readWhen(when)).toEqual({ kind: 'local', wall: AT });
  });

  it.each(['now', 'last'] as const)('may be the word %s', (when) => {
    expect(readWhen(when)).toEqual({ kind: when });
  });

  it.each([
    ...['yesterday', '', '2026-02-28', '2026-02-30 10:00', '2026-02-30T10:00:00Z', '2026-03-01 25:00'],
    ...['2026-03-01T00:00:00+99:99', '12', Number.NaN, -1, 1.5, 9e15],
  ])('is refused as %j', (when) => {
    expect(() => readWhen(when)).toThrow(OperatorInputError);
    expect(() => readWhen(when)).toThrow('Expected the time to be an instant such as');
  });
});

describe('a local time', () => {
  const wall = (iso: string) => Date.parse(`${iso}Z`);

  it('is shown once, twice where clocks go back, and never where they go forward over it', () => {
    expect(localTime(wall('2026-03-10T02:30'), 'Europe/Berlin').instants).toEqual([wall('2026-03-10T01:30')]);
    expect(localTime(wall('2026-10-25T02:30'), 'Europe/Berlin').instants).toEqual([
      wall('2026-10-25T00:30'),
      wall('2026-10-25T01:30'),
    ]);
    expect(localTime(wall('2026-03-29T02:30'), 'Europe/Berlin')).toEqual({
      ...{ wall: wall('2026-03-29T02:30'), instants: [] },
      gap: { at: wall('2026-03-29T01:00'), from: wall('2026-03-29T02:00'), to: wall('2026-03-29T03:00') },
    });
  });
});

describe('why a time that another definition has', () => {
  const SITUATIONS: readonly Situation[] = [
    [
      'is one of the definition that a revision changed',
      '2026-03-10T03:00:00Z',
      { generations: [{}, { since: '2026-03-05T00:00:00Z', expression: '0 5 * * *', by: 'shop revision 4' }] },
      'no-instant',
      'because shop revision 4 changed its schedule from "0 3 * * *" in UTC to "0 5 * * *" in UTC at 2026-03-05T00:00:00Z',
    ],
    [
      'is one of the definition that came back',
      '2026-03-10T03:00:00Z',
      {
        generations: [
          {},
          {
            since: '2026-03-05T00:00:00Z',
            expression: '0 5 * * *',
            by: 'shop revision 3',
            reason: 'the newer is gone',
          },
        ],
      },
      'no-instant',
      'at 2026-03-05T00:00:00Z (the newer is gone). The nearest',
    ],
  ];

  it.each(named(SITUATIONS))('that %s has the right answer', (_, situation) => expectAnswer(situation));
});
