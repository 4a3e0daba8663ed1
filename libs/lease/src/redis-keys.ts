import { SetupError } from './errors.js';

export interface KeySpace {
  /** First part of every key. Deployments that share a Redis have different ones. */
  readonly prefix: string;
  readonly tenant: string;
}

export type KeyBuilder = (resource: string, part: string) => string;

const LONGEST_NAME = 200;
const SCHEMA = 'v1';
// A colon in a prefix or a tenant would let two of them build the same key; a brace anywhere would move the hash tag.
const SPACE_NAME = { pattern: /^[A-Za-z0-9._-]+$/, charset: 'letters, digits and . _ -' };
const RESOURCE_NAME = { pattern: /^[A-Za-z0-9._:/@-]+$/, charset: 'letters, digits and . _ : / @ -' };

function checked(what: string, name: string, rule: typeof SPACE_NAME): string {
  if (name.length <= LONGEST_NAME && rule.pattern.test(name)) return name;
  throw new SetupError(
    `Expected a ${what} of 1 to ${LONGEST_NAME} characters out of ${rule.charset}, got ${JSON.stringify(name.slice(0, 2 * LONGEST_NAME))}.`,
  );
}

/** Throws {@link SetupError} unless `resource` may be part of a key. */
function checkResource(resource: string): string {
  return checked('resource name', resource, RESOURCE_NAME);
}

/**
 * The one place where a key is built: `<prefix>:v1:{<tenant>:<resource>}:<part>`.
 *
 * The braces are the hash tag: everything about one resource lies in one cluster slot, so one script may touch it all.
 * @throws {SetupError} here for a bad prefix or tenant, and in the builder for a bad resource or part
 */
export function redisKeys({ prefix, tenant }: KeySpace): KeyBuilder {
  checked('key prefix', prefix, SPACE_NAME);
  checked('tenant', tenant, SPACE_NAME);
  return (resource, part) =>
    `${prefix}:${SCHEMA}:{${tenant}:${checkResource(resource)}}:${checked('key part', part, RESOURCE_NAME)}`;
}

/** A channel of the whole tenant: messages don't live in a slot, so it has no hash tag. */
export function redisChannel({ prefix, tenant }: KeySpace, name: string): string {
  checked('key prefix', prefix, SPACE_NAME);
  checked('tenant', tenant, SPACE_NAME);
  return `${prefix}:${SCHEMA}:${tenant}:${checked('channel', name, SPACE_NAME)}`;
}
