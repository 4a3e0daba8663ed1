import { FencepostError, SetupError } from '../base/errors.js';
import { formatFence, parseFence } from '../base/fence.js';
import type { Fenced } from './fenced-sql.js';

const RESOURCE = 'fencepost-resource';
const FENCE = 'fencepost-fence';

/** A type and not an interface, so that it can be spread into the headers of any client. */
export type FenceHeaders = Readonly<Record<typeof RESOURCE | typeof FENCE, string>>;

/** Headers of a request as Fetch, Node and Express have them. */
export type IncomingFenceHeaders =
  { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request without a fence, or with an unreadable one. Answer 400: repeating it changes nothing. */
export class BadFenceHeadersError extends FencepostError {
  readonly code = 'BAD_FENCE_HEADERS';
}

/**
 * The headers by which a write to another service carries its fence.
 *
 * The resource is percent-encoded (RFC 3986): a header's value can't hold every character a resource's name may have.
 * @throws {SetupError} for a name with half of a surrogate pair, which has no encoding
 */
export function fenceHeaders({ resource, fence }: Fenced): FenceHeaders {
  return { [RESOURCE]: encoded(resource), [FENCE]: formatFence(fence) };
}

/**
 * Reads what {@link fenceHeaders} wrote; names of headers in any case.
 * @throws {BadFenceHeadersError} when one is missing, there twice, or malformed
 */
export function readFenceHeaders(headers: IncomingFenceHeaders): Fenced {
  return {
    resource: read(headers, { name: RESOURCE, expected: 'a percent-encoded resource name', parse: decoded }),
    fence: read(headers, { name: FENCE, expected: 'a decimal whole number from 1 to 2^53 - 1', parse: issuedFence }),
  };
}

interface Header<T> {
  readonly name: string;
  readonly expected: string;
  /** @throws for an invalid value */
  readonly parse: (value: string) => T;
}

function read<T>(headers: IncomingFenceHeaders, { name, expected, parse }: Header<T>): T {
  const values = valuesOf(headers, name);
  try {
    if (values.length === 1) return parse(values[0] ?? '');
  } catch {
    // Reported below, with the same message for every kind of error.
  }
  const got =
    values.length === 0 ? 'nothing' : values.map((value) => JSON.stringify(value.slice(0, 200))).join(' and ');
  throw new BadFenceHeadersError(`Expected the header "${name}" once, with ${expected}, got ${got}.`);
}

function valuesOf(headers: IncomingFenceHeaders, name: string): readonly string[] {
  if (typeof headers.get === 'function') return [headers.get(name) ?? []].flat();
  const named = Object.entries(headers).filter(([key]) => key.toLowerCase() === name);
  return named.flatMap(([, value]) => (value as string | readonly string[] | undefined) ?? []);
}

function encoded(resource: string): string {
  try {
    return encodeURIComponent(resource);
  } catch (error) {
    throw new SetupError(`Expected a resource name of whole characters, got ${JSON.stringify(resource)}.`, {
      cause: error,
    });
  }
}

/** A proxy joins two headers of one name with a comma, which no encoded value contains. */
function decoded(value: string): string {
  if (!/^[\x21-\x2b\x2d-\x7e]+$/.test(value)) throw new RangeError('blank, comma, or beyond ASCII');
  return decodeURIComponent(value);
}

/** Zero is the floor below every fence, and no store issues it. */
function issuedFence(value: string): Fenced['fence'] {
  const fence = parseFence(value);
  if (fence === 0) throw new RangeError('zero');
  return fence;
}
