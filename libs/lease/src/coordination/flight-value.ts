import { FlightValueError } from './flight-errors.js';

/**
 * A value as the cache keeps it.
 * @throws {FlightValueError} when JSON can't say it, or when it takes more than `maxBytes`
 */
export function encodeValue(key: string, value: unknown, maxBytes: number): string {
  const text = toJson(key, value);
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return text;
  throw new FlightValueError(
    key,
    `a value of ${bytes} bytes, more than the ${maxBytes} allowed. Cache less of it, or raise maxBytes.`,
  );
}

function toJson(key: string, value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new FlightValueError(key, 'what JSON cannot express. Return plain data; the cause says what is in the way.', {
      cause,
    });
  }
  if (text !== undefined) return text;
  const what = value === undefined ? 'undefined' : `a ${typeof value}`;
  throw new FlightValueError(key, `${what}, which is no value in JSON. Return null to say that there is nothing.`);
}
