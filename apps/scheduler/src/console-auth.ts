import { pathToFileURL } from 'node:url';
import { SetupError } from '@fencepost/lease';
import type { Authenticate, ConsoleAuth } from '@fencepost/console';
import { isLoopback, type PodEnvironment } from '@fencepost/pod';

/**
 * Who may use the console of a pod, from its environment.
 * @throws {SetupError} for a module that has no function, and for a pod that would be open to everybody beyond this machine
 */
export async function consoleAuth(
  { host, access = {} }: PodEnvironment,
  given?: Authenticate,
): Promise<ConsoleAuth | 'none'> {
  const { tokens, tokensFile, authModule, auth } = access;
  const authenticate = given ?? (authModule === undefined ? undefined : await authenticateFrom(authModule));
  const isGuarded = (tokens ?? tokensFile ?? authenticate) !== undefined;
  if (!isGuarded && !isLoopback(host)) throw exposed(host);
  if (isGuarded && auth) throw new SetupError('Expected FENCEPOST_AUTH none or a way to know who comes, got both.');
  if (auth) return auth;
  return { tokens, tokensFile, authenticate };
}

function exposed(host: string): SetupError {
  return new SetupError(
    `Expected FENCEPOST_TOKENS, FENCEPOST_TOKENS_FILE or FENCEPOST_AUTH_MODULE beside HOST ${host}: without one of them anyone who ` +
      `reaches that address has full access. "fencepost token <name> --role viewer" makes a token; with HOST 127.0.0.1, FENCEPOST_AUTH=none leaves it open to this machine.`,
  );
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
