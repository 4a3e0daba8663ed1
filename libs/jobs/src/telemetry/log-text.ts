import type { ErrorParts } from './error-parts.js';
import type { LogLine } from './log-line.js';

/** Names and short sentences; longer values are lists of crons. */
const MAX_VALUE_LENGTH = 1_000;

/** Characters that end a line, control a terminal, or change the direction of the text after them. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_C}]/gu;

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Escapes these characters, so that no quoted text can begin a line. */
export function oneLine(text: string): string {
  return text.replace(UNPRINTABLE, (char) => SHORT_ESCAPES[char] ?? `\\u${hexOf(char)}`);
}

function hexOf(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(4, '0');
}

/**
 * `attempt failed: Error: refused (attempt_failed, cron nightly, runId nightly@1, …)`: one line, for loggers that write text. The
 * error, or a finding in words, comes before the fields. The frames of the stack follow on indented lines.
 */
export function textOfLine({ event, sentence, fields, error }: LogLine): string {
  const { resource: _, found, text, ...shown } = fields;
  const values = Object.entries(shown).map(([name, value]) => `${name} ${valueText(value)}`);
  const findings = [found, text].filter((said) => said !== undefined).map(valueText);
  const what = [sentence, ...(error === null ? [] : [errorText(error)]), ...findings].join(': ');
  const frames = error?.frames.map((frame) => `\n    at ${oneLine(frame)}`) ?? [];
  return `${oneLine(`${what} (${[event, ...values].join(', ')})`)}${frames.join('')}`;
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
}

/** `AggregateError: all failed [Error: a; Error: b; and 7 more]` */
function errorText({ type, message, errors = [], errorCount = 0 }: ErrorParts): string {
  const text = message === '' ? type : `${type}: ${message}`;
  if (errors.length === 0) return text;
  const more = errorCount > errors.length ? [`and ${errorCount - errors.length} more`] : [];
  return `${text} [${[...errors.map(errorText), ...more].join('; ')}]`;
}
