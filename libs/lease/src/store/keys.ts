import { SetupError } from '../base/errors.js';
import { checkResourceName } from '../base/resource.js';

export interface KeySpace {
  /** First part of every key. Deployments that share a Redis have different ones. */
  readonly prefix: string;
  readonly tenant: string;
}

/** Kinds of leases and semaphores other than the caller's own: two kinds never collide, even with the same names. */
export type LeaseKind = 'cron';

/** A part of the keys of one kind: its own, so that no name of one is a name of another. */
export function partOf(kind: LeaseKind | undefined, part: string): string {
  return kind === undefined ? part : `${kind}-${part}`;
}

export type KeyBuilder = (resource: string, part: string) => string;

const MAX_NAME_LENGTH = 200;
const SCHEMA = 'v1';
// A colon in a prefix or a tenant would let two of them build the same key; a brace anywhere would move the hash tag.
const SPACE_NAME = { pattern: /^[A-Za-z0-9._-]+$/, charset: 'letters, digits and . _ -' };
const PART_NAME = { pattern: /^[A-Za-z0-9._:/@-]+$/, charset: 'letters, digits and . _ : / @ -' };

function checked(what: string, name: string, rule: typeof SPACE_NAME): string {
  if (name.length <= MAX_NAME_LENGTH && rule.pattern.test(name)) return name;
  throw new SetupError(
    `Expected a ${what} of 1 to ${MAX_NAME_LENGTH} characters out of ${rule.charset}, got ${JSON.stringify(name.slice(0, 2 * MAX_NAME_LENGTH))}.`,
  );
}

/**
 * The one place where a key is built: `<prefix>:v1:{<tenant>:<resource>}:<part>`.
 *
 * The braces are the hash tag: everything about one resource lies in one cluster slot, so one script may touch it all.
 * @throws {SetupError} here for a bad prefix or tenant, and in the builder for a bad resource or part
 */
export function redisKeys(space: KeySpace): KeyBuilder {
  const head = headOf(space);
  return (resource, part) => `${head}${checkResourceName(resource)}${tailOf(part)}`;
}

/** {@link redisKeys} of one part. A key takes 0.1 µs to build: a cache of a hundred thousand takes three times as long to ask. */
export function redisKeysOf(part: string, space: KeySpace): (resource: string) => string {
  const [head, tail] = [headOf(space), tailOf(part)];
  return (resource) => `${head}${checkResourceName(resource)}${tail}`;
}

/** Two keys of one resource. */
export type KeyPair = readonly [string, string];

/**
 * {@link redisKeysOf} of two parts. The last pair is kept: a lease is released soon after it was acquired, and contenders ask for
 * the same one.
 */
export function redisKeyPairsOf([first, second]: KeyPair, space: KeySpace): (resource: string) => KeyPair {
  const [head, tail, otherTail] = [headOf(space), tailOf(first), tailOf(second)];
  let last: string | undefined;
  let pair: KeyPair = ['', ''];
  return (resource) => {
    if (resource === last) return pair;
    const name = `${head}${checkResourceName(resource)}`;
    [last, pair] = [resource, [`${name}${tail}`, `${name}${otherTail}`]];
    return pair;
  };
}

function tailOf(part: string): string {
  return `}:${checked('key part', part, PART_NAME)}`;
}

function headOf({ prefix, tenant }: KeySpace): string {
  checked('key prefix', prefix, SPACE_NAME);
  checked('tenant', tenant, SPACE_NAME);
  return `${prefix}:${SCHEMA}:{${tenant}:`;
}

/** A channel of the whole tenant: messages don't live in a slot, so it has no hash tag. */
export function redisChannel({ prefix, tenant }: KeySpace, name: string): string {
  checked('key prefix', prefix, SPACE_NAME);
  checked('tenant', tenant, SPACE_NAME);
  return `${prefix}:${SCHEMA}:${tenant}:${checked('channel', name, SPACE_NAME)}`;
}
