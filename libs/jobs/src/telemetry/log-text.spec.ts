import { describe, expect, it } from 'vitest';
import type { Events } from './events.js';
import { logLine, objectOf, withLeftOut } from './log-line.js';
import { oneLine, textOfLine } from './log-text.js';

const FORGED = '[Nest] 1  - 11/27/2026, 7:00:00 PM     LOG [Fencepost] this pod has started (pod_started)';

/** Whatever a terminal or a reader of logs may take for the end of a line. */
const LINE_END = /[\p{Cc}\p{Zl}\p{Zp}]/u;

const failed = (err: Error, more: Partial<Events['attempt.failed']> = {}) =>
  logLine('attempt.failed', { cron: 'nightly', runId: 'nightly@1', attempt: 1, state: 'failed', err, ...more });

describe('oneLine', () => {
  it.each([
    ['a line feed', '\n', '\\n'],
    ['a carriage return', '\r', '\\r'],
    ['a tab', '\t', '\\t'],
    ['an escape sequence', '\u001b[2K', '\\u001b[2K'],
    ['a control sequence of one character', '\u009b2K', '\\u009b2K'],
    ['a backspace', '\b', '\\u0008'],
    ['a next line', '\u0085', '\\u0085'],
    ['a line separator', '\u2028', '\\u2028'],
    ['a paragraph separator', '\u2029', '\\u2029'],
    ['a right-to-left override', '\u202e', '\\u202e'],
    ['an isolate', '\u2066', '\\u2066'],
    ['an Arabic letter mark', '\u061c', '\\u061c'],
  ])('escapes %s', (_, char, escaped) => {
    expect(oneLine(`a${char}b`)).toBe(`a${escaped}b`);
  });

  it('keeps every other character', () => {
    const text = 'Grüße, 日本語, שלום, 👩‍🚀 — "quoted" \\n';
    expect(oneLine(text)).toBe(text);
  });
});

describe('textOfLine', () => {
  it('has the sentence, the error, the fields, and the frames below', () => {
    const [first, frame] = textOfLine(failed(new TypeError('refused'))).split('\n');
    expect(first).toBe(
      'attempt failed: TypeError: refused (attempt_failed, cron nightly, runId nightly@1, attempt 1, state failed)',
    );
    expect(frame).toMatch(/^ {4}at .*log-text\.spec\.ts/);
  });

  it.each(['\n', '\r', '\r\n', '\u2028', '\u2029', '\u0085', '\u001b[1G', '\n    at x (y:1:1)\n'])(
    'lets no text after %j begin a line, in the message, the stack, the name or any field',
    (end) => {
      const forged = `no${end}${FORGED}`;
      const err = new Error(forged);
      const renamed = Object.assign(new Error('x'), { name: `N${end}${FORGED}` });
      const changed = Object.assign(new Error(forged), { message: 'another text' });
      const made = Object.assign(new Error('x'), { stack: `Error: x\n    at a${end}${FORGED}\n${FORGED}` });
      const nested = new AggregateError([err, renamed], forged, { cause: err });
      for (const error of [err, renamed, changed, made, nested]) {
        const text = textOfLine(failed(error, { cron: forged, runId: forged }));
        const [first = '', ...below] = text.split(LINE_END);
        expect(first).toMatch(/^attempt failed: /);
        for (const line of below) expect(line).toMatch(/^ {4}at /);
        expect(text).not.toContain('\u001b');
      }
    },
  );

  it('has what was found before the fields', () => {
    const found = 'Expected an append-only file, found none.';
    expect(textOfLine(logLine('store.warning', { code: 'NO_PERSISTENCE', found }))).toBe(
      `lease server cannot guarantee what leases need, or has lost data: ${found} (store_warning, code NO_PERSISTENCE)`,
    );
  });

  it('escapes names of fields and values in lists', () => {
    const line = logLine('catalog.lost', { crons: [`a\n${FORGED}`], [`b\n${FORGED}`]: 1 });
    expect(textOfLine(line)).not.toContain('\n');
  });

  it('shows the first errors of an AggregateError', () => {
    const errors = ['a', 'b', 'c', 'd', 'e'].map((text) => new Error(text));
    expect(textOfLine(failed(new AggregateError(errors, 'all failed')))).toMatch(
      /^attempt failed: AggregateError: all failed \[Error: a; Error: b; Error: c; and 2 more\] \(/,
    );
  });

  it('cuts long values', () => {
    const crons = Array.from({ length: 10_000 }, (_, n) => `cron-${n}`);
    const text = textOfLine(logLine('catalog.zone-data', { crons, theirs: 'x'.repeat(1_000_000) }));
    expect(text.length).toBeLessThan(3_000);
    expect(textOfLine(failed(new Error('x'.repeat(5_000_000)))).length).toBeLessThan(10_000);
  });
});

describe('objectOf', () => {
  it('has the fields beside the event, and the error as pino has one', () => {
    const err = Object.assign(new TypeError('refused'), { code: 'E1', cause: new Error('deeper') });
    expect(objectOf(failed(err))).toMatchObject({
      event: 'attempt_failed',
      cron: 'nightly',
      err: {
        type: 'TypeError',
        message: 'refused',
        code: 'E1',
        stack: expect.stringMatching(/^TypeError: refused\n {4}at /),
        cause: { type: 'Error', message: 'deeper' },
      },
    });
  });
});

describe('withLeftOut', () => {
  it.each([
    [{ omitted: 118, omittedOfOthers: 0, sinceMs: 61_000 }, ' (118 more in the last minute)'],
    [{ omitted: 9, omittedOfOthers: 0, sinceMs: 10_000 }, ' (9 more in the last 10 s)'],
    [{ omitted: 1, omittedOfOthers: 0, sinceMs: 300_000 }, ' (1 more in the last 5 min)'],
    [{ omitted: 1, omittedOfOthers: 7, sinceMs: 10_800_000 }, ' (1 more in the last 3 h, 7 more of other crons)'],
    [{ omitted: 0, omittedOfOthers: 0, sinceMs: 60_000 }, ''],
  ])('tells what was left out: %j', (leftOut, told) => {
    const { sentence, fields } = withLeftOut(logLine('lease.lost', { cron: 'a' }), leftOut);
    expect(sentence).toBe(`lease lost; this pod stopped acting for the cron${told}`);
    expect(fields['omitted']).toBe(leftOut.omitted || undefined);
    expect(fields['omittedOfOthers']).toBe(leftOut.omittedOfOthers || undefined);
  });
});
