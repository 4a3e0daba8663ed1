import { describe, expect, it } from 'vitest';
import { contentHash, CRON_TEXTS, type CronDefinition } from './definition.js';

const PLAIN: CronDefinition = {
  name: 'nightly-report',
  expression: '0 3 * * *',
  timeZone: 'Europe/Berlin',
  misfire: 'fire-once',
  overlap: 'skip',
  graceMs: 60_000,
  catchUpWindowMs: null,
};

const hash = (over: Partial<CronDefinition> = {}) =>
  contentHash({ definition: { ...PLAIN, ...over }, disabled: false });

describe('the hash of a declaration', () => {
  it('is what it was before there were options that it does not use', () => {
    expect(hash()).toBe('fb1c829667bce9ea');
  });

  it('is another one for each rule, spread and least interval, and each other option', () => {
    const others = [
      hash(),
      hash({ dst: { gap: 'skip', repeat: 'first' } }),
      hash({ dst: { gap: 'shift', repeat: 'first' } }),
      hash({ dst: { gap: 'next-valid', repeat: 'last' } }),
      hash({ spreadMs: 60_000 }),
      hash({ spreadMs: 61_000 }),
      hash({ minIntervalMs: 60_000 }),
      hash({ spreadMs: 60_000, minIntervalMs: 60_000 }),
      hash({ maxCatchUp: 60_000 }),
      hash({ maxConcurrency: 60_000 }),
      hash({ startDeadlineMs: 60_000 }),
      hash({ cancelGraceMs: 60_000 }),
      hash({ handler: 'weekly-report' }),
      hash({ expectEveryMs: 60_000 }),
      hash({ lateAfterMs: 60_000 }),
      hash({ ping: { success: 'https://hc.example/a' } }),
      hash({ ping: { failure: 'https://hc.example/a' } }),
      hash({ tags: ['billing'] }),
      hash({ description: 'billing' }),
      hash({ owner: 'billing' }),
      hash({ runbookUrl: 'https://hc.example/a' }),
      hash({ payload: 'weekly-report' }),
      hash({ payload: 0 }),
      hash({ payload: {} }),
      hash({ payload: [] }),
      hash({ payload: { a: [1, 2] } }),
      hash({ payload: { a: [2, 1] } }),
    ];
    expect(new Set(others).size).toBe(others.length);
  });

  it('is the same for a payload whatever the order of its keys, and for none and null', () => {
    expect(hash({ payload: { a: { b: 1, c: 2 }, d: 3 } })).toBe(hash({ payload: { d: 3, a: { c: 2, b: 1 } } }));
    expect(hash({ payload: null })).toBe(hash());
  });
});

describe('a text of a cron', () => {
  const fits = (kind: keyof typeof CRON_TEXTS, text: string) => CRON_TEXTS[kind].pattern.test(text);

  it('has as many characters as people count', () => {
    expect([fits('description', '🦉'.repeat(500)), fits('description', 'x'.repeat(501))]).toEqual([true, false]);
    expect([fits('owner', 'ö'.repeat(80)), fits('owner', 'x'.repeat(81))]).toEqual([true, false]);
    const address = (length: number) => 'https://wiki.example/'.padEnd(length, 'x');
    expect([fits('runbookUrl', address(500)), fits('runbookUrl', address(501))]).toEqual([true, false]);
  });

  it.each(['', ' ', 'two\nlines', 'a bell\u0007', 'half a pair \ud83e', ' around '])(
    'is none that a terminal, a header or a store could not take: %j',
    (text) => expect([fits('description', text), fits('owner', text)]).toEqual([false, false]),
  );

  it.each([
    ['https://wiki.example', 'http://10.0.0.7:8080/a/b?c=d#e', 'https://wiki.example/%40billing', 'https://[::1]/a'],
    ['javascript:alert(1)', 'data:text/html,x', '//wiki.example', 'https:wiki.example', 'https:///wiki.example'],
    ['https://ada:secret@wiki.example/', 'https://ada@wiki.example', 'https://wiki.example/a b', 'https://a/"><b>'],
    ['ftp://wiki.example', 'wiki.example', 'https://', 'https://wiki.example\\@evil.example', ' https://wiki.example'],
  ])('leads to a runbook by http or https, without credentials: %j, …', (...addresses) => {
    const [first] = addresses;
    expect(addresses.map((address) => fits('runbookUrl', address))).toEqual(
      addresses.map(() => first === 'https://wiki.example'),
    );
  });
});
