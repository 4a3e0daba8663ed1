import { createHash } from 'node:crypto';
import { SetupError } from './errors.js';

/**
 * The name of a resource, such as `'nightly-report'` or `'invoice:42'`, or its two parts.
 *
 * `sensitive` ids (an e-mail address, a customer's number) are hashed before they leave the process, so that they stand in
 * no key, no log and no dashboard. A guessed id can still be hashed and compared.
 */
export type ResourceName =
  string | { readonly type: string; readonly id: string | number; readonly sensitive?: boolean };

/** Types that this library takes leases under, and for what. */
const RESERVED: Readonly<Record<string, string>> = { role: 'Election', flight: 'SingleFlight' };
const OURS = Symbol('taken by the library itself');

const MAX_NAME_LENGTH = 200;
const MAX_TYPE_LENGTH = 40;
const TYPE = /^[a-z][a-z0-9-]*$/;
const PLAIN = /^[A-Za-z0-9._:/@+=-]{1,200}$/;
// Letters of any script. A brace would move the hash tag of a cluster, a blank or a control character is a riddle in a log.
const REFUSED = /[^\p{L}\p{M}\p{N}._:/@+=-]/gu;

/**
 * The resource as stores know it: `<type>:<id>`, in Unicode's composed form (NFC), so that two ways of typing one `é` are
 * one resource.
 * @throws {SetupError} naming the characters that are refused
 */
export function resourceName(resource: ResourceName): string {
  if (typeof resource === 'string') return checkResourceName(resource);
  const { type, id, sensitive = false } = resource;
  return `${checkType(type)}:${sensitive ? hashedId(String(id)) : checkResourceName(String(id))}`;
}

/** A resource of a type that no caller can take a lease on. */
export function reservedResource(type: 'role' | 'flight', id: string): ResourceName {
  return { type, id, ...{ [OURS]: true } };
}

/**
 * {@link resourceName} for acquiring: the leases of elections and single flights are reserved.
 * @throws {SetupError} for a type that is reserved
 */
export function takenName(resource: ResourceName): string {
  const name = resourceName(resource);
  const type = resourceType(name);
  const owner = Object.hasOwn(RESERVED, type) ? RESERVED[type] : undefined;
  if (owner === undefined || (typeof resource === 'object' && OURS in resource)) return name;
  throw new SetupError(
    `Expected a resource of a type of your own, got ${JSON.stringify(name)}: the type "${type}" is that of ${owner}. Give it ` +
      `another type, such as "my-${type}".`,
  );
}

/** @throws {SetupError} */
export function checkResourceName(name: string): string {
  // Nearly all are, and this is asked for every key of every command.
  if (PLAIN.test(name)) return name;
  const normal = name.normalize('NFC');
  const refused = [...new Set(normal.match(REFUSED))].slice(0, 10).map((character) => JSON.stringify(character));
  if (normal.length > 0 && normal.length <= MAX_NAME_LENGTH && refused.length === 0) return normal;
  const because = refused.length > 0 ? `${refused.join(', ')} may not be in it` : `it has ${normal.length} characters`;
  throw new SetupError(
    `Expected a resource name of 1 to ${MAX_NAME_LENGTH} letters, digits or . _ : / @ + = - , got ` +
      `${JSON.stringify(name.slice(0, MAX_NAME_LENGTH))}: ${because}. Hash what may hold anything: { type, id, sensitive: true }.`,
  );
}

/**
 * The part before the first colon where it looks like a type, else `untyped`. For metrics: ids are as many as customers,
 * types are as many as the code has.
 */
export function resourceType(name: string): string {
  const colon = name.indexOf(':');
  if (colon <= 0) return 'untyped';
  const type = name.slice(0, colon);
  return isType(type) ? type : 'untyped';
}

function checkType(type: string): string {
  if (isType(type)) return type;
  throw new SetupError(
    `Expected a resource type of 1 to ${MAX_TYPE_LENGTH} lower-case letters, digits or - that begins with a letter, ` +
      `got ${JSON.stringify(type)}.`,
  );
}

function isType(type: string): boolean {
  return type.length <= MAX_TYPE_LENGTH && TYPE.test(type);
}

/** 128 bits: two ids that met would be one resource. */
function hashedId(id: string): string {
  return `sha256-${createHash('sha256').update(id.normalize('NFC')).digest('hex').slice(0, 32)}`;
}
