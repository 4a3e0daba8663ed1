import { CronExpression } from '@nestjs/schedule';
import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../../../test/support/refusals.js';
import { checkCron, CronDeclarationError } from './cron-declaration.js';

const NOW = Date.UTC(2030, 0, 1);
const EVERY_DAY = '0 3 * * *';

function check(options: unknown, expression: unknown = EVERY_DAY) {
  return checkCron('ReportJobs.nightly', { expression, options }, NOW);
}

const refusal = (options: unknown) => refusalOf(CronDeclarationError, () => check(options));

const named = (over: object) => ({ name: 'nightly-report', ...over });
const MS_OR_DAY = "expected a duration from '0ms' to '24h'";
const MS_OR_WEEK = "expected a duration from '0ms' to '7d'";
const INTERVAL = "expected an interval from '1s' to '365d': a whole number and its unit, s, m, h or d";
const NAME = 'a name of 1 to 100 letters, digits or . _ -, beginning with a letter or digit';

describe('a declaration', () => {
  it('has its defaults', () => {
    expect(check({ name: 'nightly-report' })).toEqual({
      declaration: {
        definition: {
          name: 'nightly-report',
          expression: EVERY_DAY,
          timeZone: 'UTC',
          misfire: 'fire-once',
          overlap: 'skip',
          graceMs: 60_000,
          catchUpWindowMs: null,
        },
        disabled: false,
      },
      criticality: 'efficiency',
      retry: { attempts: 3, delayMs: 1_000, maxDelayMs: 300_000 },
    });
  });

  it('takes every option', () => {
    const dst = { gap: 'shift', repeat: 'last' };
    const policies = { timeZone: 'Europe/Berlin', misfire: 'fire-all', overlap: 'replace', dst } as const;
    const times = { grace: '5s', catchUpWindow: 90_000, spread: '10m', minInterval: '1m' };
    const limits = { maxCatchUp: 5, maxConcurrency: 2, startDeadline: '10m', cancelGrace: '2s' };
    const payload = { to: ['a', 1, null, true, { deep: {} }] };
    const all = { ...policies, ...times, ...limits, payload, disabled: true };
    const { declaration, retry } = check(named({ ...all, retry: { attempts: 1, delay: '2s', maxDelay: '1m' } }));
    expect(declaration).toEqual({
      definition: {
        ...{ name: 'nightly-report', expression: EVERY_DAY, ...policies, graceMs: 5_000, catchUpWindowMs: 90_000 },
        ...{ spreadMs: 600_000, minIntervalMs: 60_000, maxCatchUp: 5, maxConcurrency: 2, startDeadlineMs: 600_000 },
        ...{ cancelGraceMs: 2_000, payload },
      },
      disabled: true,
    });
    expect(retry).toEqual({ attempts: 1, delayMs: 2_000, maxDelayMs: 60_000 });
  });

  it('says of half a rule for the clocks what the other half is', () => {
    const ruleOf = (dst: object) => check({ name: 'c', dst }).declaration.definition.dst;
    expect(ruleOf({ gap: 'skip' })).toEqual({ gap: 'skip', repeat: 'first' });
    expect(ruleOf({ repeat: 'both' })).toEqual({ gap: 'next-valid', repeat: 'both' });
  });

  it('is the same whether a default is written down or not', () => {
    const written = { spread: '0ms', minInterval: 0, misfire: 'fire-once', overlap: 'skip', grace: '60s' };
    expect(check(named(written)).declaration).toStrictEqual(check(named({})).declaration);
  });

  it('keeps the rule for changes of the clocks that somebody wrote down, also when it is the default', () => {
    const { definition } = check(named({ dst: {} })).declaration;
    expect(definition.dst).toEqual({ gap: 'next-valid', repeat: 'first' });
    expect(check(named({})).declaration.definition).not.toHaveProperty('dst');
  });

  it('takes an interval for its expression', () => {
    const { definition } = checkCron(
      'A.b',
      { expression: undefined, options: { name: 'c', every: '30s' } },
      NOW,
    ).declaration;
    expect(definition).toMatchObject({ expression: '@every 30s', timeZone: 'UTC' });
    expect(definition).not.toHaveProperty('every');
  });

  it('may fire as often as its least interval allows', () => {
    expect(check(named({ minInterval: '1m' }), '* * * * *').declaration.definition.minIntervalMs).toBe(60_000);
  });

  it.each(Object.entries(CronExpression))('takes CronExpression.%s of @nestjs/schedule (%s)', (_name, expression) => {
    expect(check({ name: 'c' }, expression).declaration.definition.expression).toBe(expression);
  });

  it.each(['@daily', 'H H * * *', '*/5 * * * * *', '0 9 * * MON-FRI', '0 0 1 1 *', '0 0 29 2 *'])(
    'takes %s',
    (text) => {
      expect(check({ name: 'c' }, text).declaration.definition.expression).toBe(text);
    },
  );

  it.each(['a', 'A.b_c-1', '9', 'x'.repeat(100)])('takes the name %s', (name) => {
    expect(check({ name }).declaration.definition.name).toBe(name);
  });
});

describe('a declaration that can not be', () => {
  it.each<[string, unknown, string, string]>([
    ['no options', undefined, 'options', 'expected an options object with at least a name, got nothing'],
    ['a text for options', 'nightly', 'options', 'expected an options object with at least a name, got "nightly"'],
    ['no name', {}, 'name', `expected ${NAME}, got nothing`],
    ['an empty name', { name: '' }, 'name', `expected ${NAME}, got ""`],
    ['a name with @', { name: 'a@b' }, 'name', `expected ${NAME}, got "a@b"`],
    ['a name with :', { name: 'a:b' }, 'name', `expected ${NAME}, got "a:b"`],
    ['a name that is too long', { name: 'x'.repeat(101) }, 'name', `expected ${NAME}, got "${'x'.repeat(101)}"`],
    ['a bigint for a name', { name: 7n }, 'name', `expected ${NAME}, got 7n`],
    [
      'a zone that is none',
      named({ timeZone: 'Mars/Phobos' }),
      'timeZone',
      'expected an IANA time zone such as "Europe/Berlin" or "UTC", got "Mars/Phobos"',
    ],
    [
      'an offset for a zone',
      named({ timeZone: '+02:00' }),
      'timeZone',
      'expected an IANA time zone such as "Europe/Berlin" or "UTC", got "+02:00"',
    ],
    [
      'a number for a zone',
      named({ timeZone: 2 }),
      'timeZone',
      'expected an IANA time zone such as "Europe/Berlin" or "UTC", got 2',
    ],
    ['a text for dst', named({ dst: 'skip' }), 'dst', 'expected an object such as { gap: "skip" }, got "skip"'],
    [
      'an unknown gap rule',
      named({ dst: { gap: 'later' } }),
      'dst.gap',
      'expected one of "next-valid", "skip", "shift", got "later"',
    ],
    [
      'an unknown repeat rule',
      named({ dst: { repeat: 'twice' } }),
      'dst.repeat',
      'expected one of "first", "last", "both", got "twice"',
    ],
    ['a spread without a unit', named({ spread: '10' }), 'spread', `${MS_OR_WEEK}, got "10"`],
    ['a spread of eight days', named({ spread: '8d' }), 'spread', `${MS_OR_WEEK}, got "8d"`],
    ['a least interval below nothing', named({ minInterval: -1 }), 'minInterval', `${MS_OR_WEEK}, got -1`],
    ['a text for disabled', named({ disabled: 'yes' }), 'disabled', 'expected true or false, got "yes"'],
    [
      'an unknown misfire',
      named({ misfire: 'fire-twice' }),
      'misfire',
      'expected one of "skip", "fire-once", "fire-all", got "fire-twice"',
    ],
    [
      'an unknown overlap',
      named({ overlap: true }),
      'overlap',
      'expected one of "skip", "queue-one", "queue-all", "replace", "allow", got true',
    ],
    ['a grace without a unit', named({ grace: '60' }), 'grace', `${MS_OR_DAY}, got "60"`],
    ['a negative grace', named({ grace: -1 }), 'grace', `${MS_OR_DAY}, got -1`],
    ['a grace of half a millisecond', named({ grace: 0.5 }), 'grace', `${MS_OR_DAY}, got 0.5`],
    ['a grace that is no number', named({ grace: NaN }), 'grace', `${MS_OR_DAY}, got NaN`],
    ['a grace of two days', named({ grace: '2d' }), 'grace', `${MS_OR_DAY}, got "2d"`],
    ['an object for a grace', named({ grace: { s: 1 } }), 'grace', `${MS_OR_DAY}, got { s: 1 }`],
    [
      'a window of eight days',
      named({ catchUpWindow: '8d' }),
      'catchUpWindow',
      "expected a duration from '0ms' to '7d', got \"8d\"",
    ],
    ['a number for retry', named({ retry: 3 }), 'retry', 'expected an object such as { attempts: 3 }, got 3'],
    ['no attempt', named({ retry: { attempts: 0 } }), 'retry.attempts', 'expected a whole number from 1 to 100, got 0'],
    [
      '101 attempts',
      named({ retry: { attempts: 101 } }),
      'retry.attempts',
      'expected a whole number from 1 to 100, got 101',
    ],
    [
      'half an attempt',
      named({ retry: { attempts: 1.5 } }),
      'retry.attempts',
      'expected a whole number from 1 to 100, got 1.5',
    ],
    [
      'a text for attempts',
      named({ retry: { attempts: '3' } }),
      'retry.attempts',
      'expected a whole number from 1 to 100, got "3"',
    ],
    ['a bad delay', named({ retry: { delay: 'soon' } }), 'retry.delay', `${MS_OR_DAY}, got "soon"`],
    ['a bad longest delay', named({ retry: { maxDelay: '25h' } }), 'retry.maxDelay', `${MS_OR_DAY}, got "25h"`],
  ])('is refused for %s, with class, method, option and value', (...[, options, option, sentence]) => {
    expect(refusal(options)).toBe(`ReportJobs.nightly: option "${option}" of @SingletonCron: ${sentence}.`);
  });

  it.each([
    ['61 * * * *', /^expected a valid cron expression \(.+\), got "61 \* \* \* \*"\.$/],
    ['* * *', /^expected a cron expression of 5 or 6 fields, or one like "@daily", got "\* \* \*"\.$/],
    ['', /^expected a cron expression of 5 or 6 fields, or one like "@daily", got ""\.$/],
    ['0 0 30 2 *', /^expected a valid cron expression \(.+\), got "0 0 30 2 \*"\.$/],
    [new Date(0), /^expected a cron expression, or the option "every" such as '30s', got 1970-01-01T00:00:00\.000Z\.$/],
    [undefined, /^expected a cron expression, or the option "every" such as '30s', got nothing\.$/],
  ])('is refused for the expression %s', (expression, sentence) => {
    const message = refusalOf(CronDeclarationError, () =>
      checkCron('ReportJobs.nightly', { expression, options: { name: 'c' } }, NOW),
    );
    const [where, rest] = message.split('the expression of @SingletonCron: ');
    expect(where).toBe('ReportJobs.nightly: ');
    expect(rest).toMatch(sentence);
  });

  it.each<[object, string]>([
    [{ every: 30 }, `option "every" of @SingletonCron: ${INTERVAL}, got 30.`],
    [{ every: '30' }, `option "every" of @SingletonCron: ${INTERVAL}, got "30".`],
    [{ every: '0s' }, `option "every" of @SingletonCron: ${INTERVAL}, got "0s".`],
    [{ every: '-5s' }, `option "every" of @SingletonCron: ${INTERVAL}, got "-5s".`],
    [{ every: '500ms' }, `option "every" of @SingletonCron: ${INTERVAL}, got "500ms".`],
    [
      { every: '30s', timeZone: 'Europe/Berlin' },
      'option "timeZone" of @SingletonCron: expected nothing beside "every", which no clock change moves, got "Europe/Berlin".',
    ],
    [
      { every: '30s', minInterval: '1m' },
      'option "every" of @SingletonCron: expected an interval of at least 60 s, and not 30 s, got "30s".',
    ],
  ])('is refused for the interval %j', (options, sentence) => {
    const message = refusalOf(CronDeclarationError, () =>
      checkCron('ReportJobs.poll', { expression: undefined, options: { name: 'poll', ...options } }, NOW),
    );
    expect(message).toBe(`ReportJobs.poll: ${sentence}`);
  });

  it('is refused for both an expression and an interval', () => {
    expect(refusal(named({ every: '30s' }))).toBe(
      'ReportJobs.nightly: option "every" of @SingletonCron: expected a cron expression or "every", not both, ' +
        'got every "30s" beside "0 3 * * *".',
    );
  });

  it('is refused for an expression that fires more often than it may', () => {
    const often = () => check({ name: 'c', minInterval: '1m' }, '*/30 * * * * *');
    expect(refusalOf(CronDeclarationError, often)).toBe(
      'ReportJobs.nightly: the expression of @SingletonCron: expected an expression with at least 60 s between instants, ' +
        'and not 30 s, got "*/30 * * * * *".',
    );
  });

  it.each([
    ['utcOffset', named({ utcOffset: 60 }), 'use "timeZone"'],
    ['waitForCompletion', named({ waitForCompletion: true }), 'use "overlap"; "skip" is the default'],
    ['threshold', named({ threshold: 100 }), 'use "grace" and "misfire"'],
    ['unrefTimeout', named({ unrefTimeout: true }), 'remove it; cron timers never keep a process alive'],
    ['initialDelay', named({ initialDelay: 1 }), 'remove it; instants before the first boot are never made up for'],
    ['timezone', named({ timezone: 'UTC' }), 'did you mean "timeZone"?'],
    ['dst.fold', named({ dst: { fold: 1 } }), 'known are gap, repeat'],
    ['retry.tries', named({ retry: { tries: 1 } }), 'known are attempts, delay, maxDelay'],
  ])('is refused for the unknown option %s, and says what to write instead', (option, options, instead) => {
    expect(refusal(options)).toBe(
      `ReportJobs.nightly: @SingletonCron has no option "${option}"; ${instead}${instead.endsWith('?') ? '' : '.'}`,
    );
  });
});
