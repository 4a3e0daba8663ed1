import { isNativeError } from 'node:util/types';
import { scrubText } from '@fencepost/lease/internal';

/** An error as logs and records show it: bounded, and without the secrets that libraries put into messages. */
export interface ErrorParts {
  readonly type: string;
  readonly message: string;
  /** Lines of the stack, without the message that stands above them. */
  readonly frames: readonly string[];
  readonly code?: string;
  /** The first errors of an AggregateError. */
  readonly errors?: readonly ErrorParts[];
  /** How many errors an AggregateError has. */
  readonly errorCount?: number;
  readonly cause?: ErrorParts;
}

const MAX_TYPE_LENGTH = 100;
/** A message may be a whole response of another service. */
const MAX_MESSAGE_LENGTH = 2_000;
/** In longer stacks, the rest are frames of frameworks. */
const MAX_FRAMES = 20;
const MAX_FRAME_LENGTH = 300;
const MAX_ERRORS = 3;
const MAX_CAUSES = 4;

/** An error of this realm or of another one, such as that of a test runner. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || isNativeError(value);
}

/** Never throws, whatever the getters of the error do. @param depth how many errors have this one as a cause */
export function errorParts(error: unknown, depth = 0): ErrorParts {
  if (!isError(error)) return { type: typeof error, message: shownText(textOf(error)), frames: [] };
  const { value: code } = read(error, 'code');
  const { value: cause } = read(error, 'cause');
  return {
    type: typeOf(error),
    message: shownText(messageOf(error)),
    frames: framesOf(error),
    ...(typeof code === 'string' && { code: shownText(code) }),
    ...(depth < MAX_CAUSES && errorsOf(error)),
    ...(depth < MAX_CAUSES && cause !== undefined && { cause: errorParts(cause, depth + 1) }),
  };
}

/** Its name, which a subclass may have forgotten to set, or that of its class. */
export function typeOf(error: Error): string {
  const { value: name } = read(error, 'name');
  const { value: constructor } = read(error, 'constructor');
  const { value: className } = read(Object(constructor), 'name');
  const type = [name, className].find((text) => typeof text === 'string' && text !== '') as string | undefined;
  return scrubText((type ?? 'Error').slice(0, MAX_TYPE_LENGTH));
}

export function messageOf(error: Error): string {
  const { value: message, isReadable } = read(error, 'message');
  if (!isReadable) return '[unreadable]';
  return typeof message === 'string' ? message : textOf(message ?? '');
}

/**
 * The lines of the stack that name a place in code. The message above them may contain lines that look the same, so it is cut off
 * first.
 */
function framesOf(error: Error): readonly string[] {
  const { value: stack } = read(error, 'stack');
  if (typeof stack !== 'string') return [];
  const message = messageOf(error);
  const at = stack.indexOf(message);
  const below = at < 0 ? stack : stack.slice(at + message.length);
  const frames: string[] = [];
  for (const [, frame = ''] of below.matchAll(FRAME)) {
    if (frames.push(frame.slice(0, MAX_FRAME_LENGTH)) >= MAX_FRAMES) break;
  }
  return frames.map(scrubText);
}

/** As an engine writes it: name and message, and the frames below. */
export function stackOf({ type, message, frames }: ErrorParts): string {
  return [`${type}: ${message}`, ...frameLines({ frames })].join('\n');
}

export function frameLines({ frames }: Pick<ErrorParts, 'frames'>): string[] {
  return frames.map((frame) => `    at ${frame}`);
}

const FRAME = /(?:^|\n)[^\S\n]+at ([^\n]*)/g;

/** A text of any length as a log shows it. */
export function shownText(text: string): string {
  const clean = scrubText(text);
  if (clean.length <= MAX_MESSAGE_LENGTH) return clean;
  // Not between the two halves of a character.
  const short = clean.slice(0, MAX_MESSAGE_LENGTH).replace(/[\uD800-\uDBFF]$/, '');
  return `${short}… (${text.length} characters)`;
}

/** `String(value)`, of which some objects throw. */
export function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return `[${typeof value}]`;
  }
}

/** Other libraries use the same name for other objects, such as the issues of a validator. */
function errorsOf(error: Error): Pick<ErrorParts, 'errors' | 'errorCount'> {
  const { value: errors } = read(error, 'errors');
  // `shownError` copies only the first errors.
  const { value: count } = read(error, 'errorCount');
  if (!Array.isArray(errors)) return {};
  const first = errors.slice(0, MAX_ERRORS).filter((one) => isError(one) || typeof one === 'string');
  if (first.length === 0) return {};
  const parts = first.map((one) => errorParts(one, MAX_CAUSES));
  return { errors: parts, errorCount: typeof count === 'number' ? count : errors.length };
}

function read(object: object, key: string): { readonly value?: unknown; readonly isReadable: boolean } {
  try {
    return { value: Reflect.get(object, key), isReadable: true };
  } catch {
    return { isReadable: false };
  }
}
