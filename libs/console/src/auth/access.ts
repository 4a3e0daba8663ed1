import { readFileSync } from 'node:fs';
import { SetupError } from '@fencepost/lease';
import { parseTokens, type Token } from '@fencepost/operations/access-tokens';
import type { Authenticate } from './authenticate.js';

/** Who may come in: tokens, a function, or both. */
export interface ConsoleAuth {
  /** Lines, or a list with commas, of `name:role:sha256`; `fencepost token <name> --role viewer` prints one. */
  readonly tokens?: string | undefined;
  /** A file with such lines, instead of `tokens`. */
  readonly tokensFile?: string | undefined;
  /** Says who sends a request that has no known token, as behind a proxy that signs people in. */
  readonly authenticate?: Authenticate | undefined;
}

/** Who may come in, and how often. */
export interface Access {
  readonly tokens: readonly Token[];
  readonly authenticate: Authenticate | null;
  /** How many proxies in front are ours: so many addresses at the end of `X-Forwarded-For` are believed. */
  readonly trustProxy: number;
  /** Requests of one address in a minute. */
  readonly rateLimit: number;
}

/** The {@link Access} of this console. */
export const ACCESS = Symbol('ACCESS');

/** @throws {SetupError} for tokens that can't be read */
export function accessOf({ tokens, tokensFile, authenticate }: ConsoleAuth): Pick<Access, 'tokens' | 'authenticate'> {
  return { tokens: tokensFrom(tokens, tokensFile), authenticate: authenticate ?? null };
}

/** Nobody is asked who they are: then only this machine may ask. */
export function isUnguarded({ tokens, authenticate }: Pick<Access, 'tokens' | 'authenticate'>): boolean {
  return tokens.length === 0 && authenticate === null;
}

function tokensFrom(text: string | undefined, file: string | undefined): readonly Token[] {
  if (text !== undefined && file !== undefined) {
    throw new SetupError('Expected either access tokens or a file of access tokens, got both.');
  }
  if (text === undefined && file === undefined) return [];
  const tokens = parseTokens(file === undefined ? (text ?? '') : textOf(file));
  // An empty file is a secret that was not mounted, and no wish to be open.
  if (tokens.length > 0) return tokens;
  throw new SetupError(
    `Expected an access token in ${file === undefined ? 'the list of tokens' : `the token file ${file}`}, got none. ` +
      `"fencepost token <name> --role viewer" prints one.`,
  );
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new SetupError(`Cannot read the token file ${file}.`, { cause });
  }
}
