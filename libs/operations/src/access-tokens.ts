import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { SetupError } from '@fencepost/lease';

/** What somebody may do; each role may all that those before it may. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type AccessRole = (typeof ROLES)[number];

/** Who a secret stands for. The secret itself is kept nowhere, only its SHA-256. */
export interface Token {
  /** Stands in the records of what was done. */
  readonly name: string;
  readonly role: AccessRole;
  /** 64 hexadecimal digits. */
  readonly sha256: string;
}

export interface NewToken {
  /** For whoever is to use it; nobody can be told it again. */
  readonly secret: string;
  /** For FENCEPOST_TOKENS, or a line of the file of FENCEPOST_TOKENS_FILE. */
  readonly line: string;
}

const NAME = /^[A-Za-z0-9._@-]{1,64}$/;
const SHA256 = /^[0-9a-f]{64}$/i;
const SECRET_BYTES = 32;
const EXPECTED = 'name:role:sha256, with a role of viewer, operator or admin and 64 hexadecimal digits';

/**
 * Reads `name:role:sha256hex` entries, separated by commas or line ends. Empty lines, and what begins with `#`, are left out.
 * @throws {SetupError} which entry is wrong and why, by its place: an entry that is one may be a secret by mistake
 */
export function parseTokens(text: string): Token[] {
  const entries = text.split(/\r?\n/).flatMap((line) => (line.trim().startsWith('#') ? [] : line.split(',')));
  const filled = entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
  const tokens = filled.map(parseEntry);
  const names = new Set<string>();
  for (const { name } of tokens) {
    if (names.has(name)) throw new SetupError(`Expected each token to have a name of its own, "${name}" comes twice.`);
    names.add(name);
  }
  return tokens;
}

function parseEntry(entry: string, index: number): Token {
  const [name = '', role = '', sha256 = '', ...more] = entry.split(':').map((part) => part.trim());
  const wrong = !NAME.test(name) ? 'name' : !isRole(role) ? 'role' : !SHA256.test(sha256) ? 'hash' : null;
  if (wrong === null && isRole(role) && more.length === 0) return { name, role, sha256: sha256.toLowerCase() };
  throw new SetupError(
    `Expected token ${index + 1} to be ${EXPECTED}; its ${wrong ?? 'number of parts'} is not right. ` +
      `"fencepost token <name> --role <role>" prints such a line.`,
  );
}

/**
 * Whose secret this is, or `null`. All tokens are compared, each in constant time, so that how long the answer takes tells
 * nothing about any of them.
 */
export function roleOf(tokens: readonly Token[], secret: string): { name: string; role: AccessRole } | null {
  const digest = createHash('sha256').update(secret, 'utf8').digest();
  let found: Token | null = null;
  for (const token of tokens) {
    if (timingSafeEqual(digest, Buffer.from(token.sha256, 'hex'))) found = token;
  }
  return found && { name: found.name, role: found.role };
}

/** Whether a role is at least the one that something needs. */
export function mayAs(role: AccessRole, needed: AccessRole): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/**
 * A secret of 256 random bits, and the line that knows it again.
 * @throws {SetupError} for a name that can't stand in a line
 */
export function newToken(name: string, role: AccessRole, random: (size: number) => Buffer = randomBytes): NewToken {
  if (!NAME.test(name)) {
    throw new SetupError(
      `Expected the name of a token to be 1 to 64 letters, digits or . _ @ -, got ${JSON.stringify(name.slice(0, 80))}.`,
    );
  }
  // Recognisable, so that whoever searches logs or repositories for leaked secrets can find it.
  const secret = `fencepost_${random(SECRET_BYTES).toString('base64url')}`;
  return { secret, line: `${name}:${role}:${createHash('sha256').update(secret, 'utf8').digest('hex')}` };
}

function isRole(text: string): text is AccessRole {
  return (ROLES as readonly string[]).includes(text);
}
