import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../../../test/support/refusals.js';
import { CronDeclarationError, checkCron, checkRuntimeCron } from './cron-declaration.js';

const NOW = Date.UTC(2030, 0, 1);

function declared(options: object, more: { expression?: string; minIntervalMs?: number } = {}) {
  const { expression = '0 3 * * *', ...everybodys } = more;
  const cron = { expression, options: { name: 'report', ...options }, ...everybodys };
  return checkCron('Jobs.report', cron, NOW).declaration;
}

function atRunTime(options: object, more: { minIntervalMs?: number } = {}) {
  const cron = { expression: '0 3 * * *', options: { name: 'report', ...options }, ...more };
  return checkRuntimeCron('CronCatalog.set', cron, NOW);
}

const RUNBOOK =
  'an http or https address of at most 500 characters, such as "https://wiki.example/runbook", without "@" or credentials';

const refusal = (options: object) => refusalOf(CronDeclarationError, () => declared(options));

describe('the policies of a cron', () => {
  it('are the same content whether a default is written down or not', () => {
    const written = { maxCatchUp: 20, misfire: 'fire-all', overlap: 'replace', cancelGrace: '30s', maxConcurrency: 1 };
    const short = { misfire: 'fire-all', overlap: 'replace' };
    expect(declared({ ...written, payload: null })).toStrictEqual(declared(short));
    expect(declared({ payload: undefined })).toStrictEqual(declared({}));
    expect(Object.keys(declared({}).definition)).toHaveLength(7);
  });

  it('have its tags in order, so that two programs that mean the same declare the same', () => {
    expect(declared({ tags: ['eu', 'billing'] })).toStrictEqual(declared({ tags: ['billing', 'eu'] }));
    expect(declared({ tags: ['eu', 'billing'] }).definition).toMatchObject({ tags: ['billing', 'eu'] });
    expect(declared({ tags: [] })).toStrictEqual(declared({}));
  });

  it('have at most ten tags of at most 40 characters', () => {
    const tags = Array.from({ length: 10 }, (_, n) => `${n}`.repeat(40));
    expect(declared({ tags }).definition.tags).toHaveLength(10);
    expect(() => declared({ tags: [...tags, 'one-more'] })).toThrow(
      'option "tags" of @SingletonCron: expected at most 10 tags',
    );
    expect(() => declared({ tags: ['x'.repeat(41)] })).toThrow(
      'option "tags.0" of @SingletonCron: expected a tag of 1 to 40',
    );
  });

  it('have texts for people in one line, however the source breaks them', () => {
    const written = { description: '\n  Closes the books\n\tof a month. ', owner: ' Team  Billing' };
    const { definition } = declared({ ...written, runbookUrl: ' https://wiki.example/books?page=7 ' });
    expect(definition).toMatchObject({ description: 'Closes the books of a month.', owner: 'Team Billing' });
    expect(definition.runbookUrl).toBe('https://wiki.example/books?page=7');
  });

  it.each(['skip', 'queue-one', 'queue-all', 'replace'])('let %s have several runs at once', (overlap) => {
    expect(declared({ overlap, maxConcurrency: 3 }).definition).toMatchObject({ overlap, maxConcurrency: 3 });
  });

  it.each([
    [{ maxCatchUp: 5 }, 'maxCatchUp', 'misfire "fire-all" beside it, got misfire "fire-once"'],
    [{ maxCatchUp: 20 }, 'maxCatchUp', 'misfire "fire-all" beside it, got misfire "fire-once"'],
    [
      { misfire: 'skip', catchUpWindow: '1h' },
      'catchUpWindow',
      'misfire "fire-once" or "fire-all" beside it, got misfire "skip"',
    ],
    [{ ping: { missed: 'https://hc.example/a' } }, 'ping.missed', 'expectEvery or lateAfter beside it, got neither'],
    [{ expectEvery: '1ms' }, 'expectEvery', "a duration from '1s' to '3650d', got \"1ms\""],
    [{ lateAfter: '8d' }, 'lateAfter', "a duration from '1s' to '7d', got \"8d\""],
    [
      { ping: { success: 'ftp://hc.example' } },
      'ping.success',
      'an address such as "https://hc.example/ping/…", with http or https, got another text, which is not shown',
    ],
    [{ tags: 'billing' }, 'tags', `at most 10 tags such as ['billing', 'eu'], got "billing"`],
    [
      { tags: ['eu', 'Billing'] },
      'tags.1',
      'a tag of 1 to 40 of a-z, 0-9 and . _ -, beginning with a letter or digit, got "Billing"',
    ],
    [{ tags: [''] }, 'tags.0', 'a tag of 1 to 40 of a-z, 0-9 and . _ -, beginning with a letter or digit, got ""'],
    [{ tags: ['eu', 'eu'] }, 'tags', "each tag once, got [ 'eu', 'eu' ]"],
    [{ description: ' \n ' }, 'description', 'a text of 1 to 500 characters, got " \\n "'],
    [{ description: ['books'] }, 'description', "a text of 1 to 500 characters, got [ 'books' ]"],
    [{ owner: '' }, 'owner', 'a team or person in 1 to 80 characters, got ""'],
    [{ owner: 'a\u0000b' }, 'owner', 'a team or person in 1 to 80 characters, got "a\\u0000b"'],
    [{ runbookUrl: 'wiki.example/books' }, 'runbookUrl', `${RUNBOOK}, got "wiki.example/books"`],
    [{ runbookUrl: 'javascript:alert(1)' }, 'runbookUrl', `${RUNBOOK}, got "javascript:alert(1)"`],
    [{ runbookUrl: 'https://ada:pw@wiki.example' }, 'runbookUrl', `${RUNBOOK}, got "https://***@wiki.example"`],
    [
      { runbookUrl: 'https://wiki.example/?token=s3' },
      'runbookUrl',
      `${RUNBOOK}, got "https://wiki.example/?token=***"`,
    ],
    [{ runbookUrl: 'https://wiki.example:99999' }, 'runbookUrl', `${RUNBOOK}, got "https://wiki.example:99999"`],
    [{ cancelGrace: '5s' }, 'cancelGrace', 'overlap "replace" beside it, got overlap "skip"'],
    [{ cancelGrace: 0, overlap: 'queue-all' }, 'cancelGrace', 'overlap "replace" beside it, got overlap "queue-all"'],
    [
      { maxConcurrency: 2, overlap: 'allow' },
      'maxConcurrency',
      'overlap "skip" or "queue-one" or "queue-all" or "replace" beside it, got overlap "allow"',
    ],
    [{ misfire: 'fire-all', maxCatchUp: 0 }, 'maxCatchUp', 'a whole number from 1 to 1000, got 0'],
    [{ misfire: 'fire-all', maxCatchUp: 1_001 }, 'maxCatchUp', 'a whole number from 1 to 1000, got 1001'],
    [{ maxConcurrency: 0 }, 'maxConcurrency', 'a whole number from 1 to 1000, got 0'],
    [{ maxConcurrency: 1.5 }, 'maxConcurrency', 'a whole number from 1 to 1000, got 1.5'],
    [{ startDeadline: 0 }, 'startDeadline', "a duration from '1ms' to '7d', got 0"],
    [{ startDeadline: '8d' }, 'startDeadline', "a duration from '1ms' to '7d', got \"8d\""],
    [{ cancelGrace: '25h', overlap: 'replace' }, 'cancelGrace', "a duration from '0ms' to '24h', got \"25h\""],
  ])('are refused where they mean nothing: %j', (options, option, sentence) => {
    expect(refusal(options)).toBe(`Jobs.report: option "${option}" of @SingletonCron: expected ${sentence}.`);
  });
});

describe('a payload', () => {
  const circle: Record<string, unknown> = { name: 'round' };
  circle['itself'] = [circle];
  class Order {
    readonly id = 1;
  }

  it.each<[string, unknown, string, string]>([
    ['a date', { at: new Date(0) }, '.at', '1970-01-01T00:00:00.000Z'],
    ['no number', { list: [1, NaN] }, '.list.1', 'NaN'],
    ['an endless number', Infinity, '', 'Infinity'],
    ['a negative zero', -0, '', '-0'],
    ['nothing', { limit: undefined }, '.limit', 'nothing'],
    ['a bigint', 7n, '', '7n'],
    ['a function', { call: Date }, '.call', '[Function: Date]'],
    ['a symbol', Symbol('s'), '', 'Symbol(s)'],
    ['a map', { map: new Map() }, '.map', 'Map(0) {}'],
    ['an instance', new Order(), '', 'Order { id: 1 }'],
    ['a hole', { list: Array(2) }, '.list', '[ <2 empty items> ]'],
    ['a hole that a name makes up for', Object.assign(Array(1), { x: 1 }), '', '[ <1 empty item>, x: 1 ]'],
    ['a list with names', Object.assign([1], { x: 1 }), '', '[ 1, x: 1 ]'],
  ])('is refused with %s in it, and says where', (...[, payload, path, got]) => {
    expect(refusal({ payload })).toBe(
      `Jobs.report: option "payload${path}" of @SingletonCron: expected JSON values only: null, booleans, numbers, strings, ` +
        `arrays and plain objects, at most 100 within each other, got ${got}.`,
    );
  });

  it('is refused with a circle in it, and not followed for ever', () => {
    expect(refusal({ payload: circle })).toContain(
      'option "payload.itself.0" of @SingletonCron: expected JSON values only',
    );
  });

  it('is refused with a name that is a symbol', () => {
    expect(refusal({ payload: { a: { [Symbol.iterator]: 1 } } })).toContain('option "payload.a" of @SingletonCron');
  });
});

describe('the least interval of a process', () => {
  const hourly = { expression: '0 * * * *' };

  it('holds for a cron that has none of its own, and is no part of its definition', () => {
    const tooOften = () => declared({}, { ...hourly, minIntervalMs: 7_200_000 });
    expect(refusalOf(CronDeclarationError, tooOften)).toContain('at least 7200 s between instants, and not 3600 s');
    expect(declared({}, { ...hourly, minIntervalMs: 3_600_000 })).toStrictEqual(declared({}, hourly));
  });

  it('holds for a cron that is made at run time as well', () => {
    expect(() => atRunTime({}, { minIntervalMs: 2 * 86_400_000 })).toThrow(CronDeclarationError);
  });
});

describe('a cron that is made at run time', () => {
  it('is what the same cron would be in code, and may name whose handler carries it out', () => {
    const options = { timeZone: 'Europe/Berlin', overlap: 'queue-one', payload: { to: 'a' }, disabled: true };
    const declaration = declared(options);
    expect(atRunTime(options)).toStrictEqual(declaration);
    const definition = { ...declaration.definition, handler: 'mail' };
    expect(atRunTime({ ...options, handler: 'mail' })).toEqual({ definition, disabled: true });
  });

  it('is the same whether it names itself as its handler or not', () => {
    expect(atRunTime({ handler: 'report' })).toStrictEqual(atRunTime({}));
  });

  it.each([
    [{ handler: 'a b' }, /option "handler" of the cron: expected a name of 1 to 100 letters/],
    [
      { retry: { attempts: 1 } },
      /the cron has no option "retry"; known are name, .*, payload, tags, description, owner, runbookUrl, handler\./,
    ],
    [{ dst: { fold: 1 } }, /the cron has no option "dst.fold"; known are gap, repeat\./],
    [{ maxCatchUp: 1 }, /option "maxCatchUp" of the cron: expected misfire "fire-all" beside it/],
    [{ timeZone: 'Mars/Phobos' }, /option "timeZone" of the cron: expected an IANA time zone/],
  ])('is refused by the same rules: %j', (options, sentence) => {
    const message = refusalOf(CronDeclarationError, () => atRunTime(options));
    expect(message).toMatch(sentence);
    expect(message).toMatch(/^CronCatalog\.set: /);
  });
});
