import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { SetupError } from '@fencepost/lease';
import { parseTokens, type Token } from '@fencepost/operations/access-tokens';
import type { PodEnvironment } from '@fencepost/pod';
import type { Authenticate } from './authenticate.js';
import { isLoopbackHost } from './origin.js';

/** Who may come in, and how often. */
export interface Access {
  readonly tokens: readonly Token[];
  readonly authenticate: Authenticate | null;
  readonly metricsOpen: boolean;
  /** How many proxies in front are ours: so many addresses at the end of `X-Forwarded-For` are believed. */
  readonly trustProxy: number;
  /** Requests of one address in a minute. */
  readonly rateLimit: number;
}

/** The {@link Access} of this process. */
export const ACCESS = Symbol('ACCESS');

const DEFAULT_RATE_LIMIT = 1_200;

/**
 * @throws {SetupError} for tokens that can't be read, a module that has no function, and for a pod that would be open to
 *   everybody beyond this machine
 */
export async function accessOf(environment: PodEnvironment, given?: Authenticate): Promise<Access> {
  const { tokens, tokensFile, authModule, metricsOpen, trustProxy, rateLimit } = environment.access ?? {};
  const access: Access = {
    tokens: tokensFrom(tokens, tokensFile),
    authenticate: given ?? (authModule === undefined ? null : await authenticateFrom(authModule)),
    metricsOpen: metricsOpen ?? false,
    trustProxy: trustProxy ?? 0,
    rateLimit: rateLimit ?? DEFAULT_RATE_LIMIT,
  };
  checkExposure(environment.host, access);
  return access;
}

/** Nobody is asked who they are: then only this machine may ask. */
export function isUnguarded({ tokens, authenticate }: Access): boolean {
  return tokens.length === 0 && authenticate === null;
}

function checkExposure(host: string, access: Access): void {
  if (!isUnguarded(access) || isLoopbackHost(host)) return;
  throw new SetupError(
    `Expected FENCEPOST_TOKENS, FENCEPOST_TOKENS_FILE or FENCEPOST_AUTH_MODULE beside HOST ${host}: without one of them anyone who ` +
      `reaches that address has full access. "fencepost token <name> --role viewer" makes a token; HOST 127.0.0.1 needs none.`,
  );
}

function tokensFrom(text: string | undefined, file: string | undefined): readonly Token[] {
  if (text !== undefined && file !== undefined) {
    throw new SetupError('Expected either FENCEPOST_TOKENS or FENCEPOST_TOKENS_FILE, got both.');
  }
  if (text === undefined && file === undefined) return [];
  const tokens = parseTokens(file === undefined ? (text ?? '') : textOf(file));
  // An empty file is a secret that was not mounted, and no wish to be open.
  if (tokens.length > 0) return tokens;
  throw new SetupError(
    `Expected a token in ${file === undefined ? 'FENCEPOST_TOKENS' : `FENCEPOST_TOKENS_FILE ${file}`}, got none.`,
  );
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new SetupError(`Cannot read the token file FENCEPOST_TOKENS_FILE ${file}.`, {
      cause,
    });
  }
}

async function authenticateFrom(path: string): Promise<Authenticate> {
  const given = await importFrom(path);
  if (typeof given === 'function') return given as Authenticate;
  throw new SetupError(
    `Expected a function as the default export of FENCEPOST_AUTH_MODULE ${path}, got ${typeof given}.`,
  );
}

async function importFrom(path: string): Promise<unknown> {
  try {
    const module = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
    return module.default;
  } catch (cause) {
    throw new SetupError(`Expected a module at FENCEPOST_AUTH_MODULE ${path}: ${String(cause)}`, { cause });
  }
}
