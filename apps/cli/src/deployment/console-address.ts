import { Option, type Command } from 'commander';
import { UsageError } from '../exit.js';
import type { StoreFlags } from '../store/store-options.js';
import { placeEnv } from '../place.js';
import type { World } from '../world.js';

/** As they stand on the command line. */
export interface ConsoleFlags extends StoreFlags {
  readonly url?: string;
  readonly token?: string;
  readonly by?: string;
}

/** Where a console is mounted, and who asks it. */
export interface ConsoleAddress {
  /** Without a slash at its end. */
  readonly url: string;
  /** `null`: nobody gave one, which is enough for a console without tokens on this machine. */
  readonly token: string | null;
}

const URL_TEXT = 'talk to the console at this address instead of the stores (default: FENCEPOST_URL)';
const TOKEN_TEXT = 'access token for it (default: FENCEPOST_TOKEN, which other users of this machine cannot see)';

export function withConsoleOptions(command: Command): Command {
  return command.option('--url <url>', URL_TEXT).option('--token <token>', TOKEN_TEXT);
}

const OF_STORES = ['redis', 'prefix', 'tenant', 'postgres', 'schema', 'leases'] as const;

/**
 * The console that a command is to talk to; `null` for the stores. What is on the command line outweighs the environment.
 * @throws {UsageError} for one that can't be, and for one together with a store
 */
export function consoleAddress(flags: ConsoleFlags, world: Pick<World, 'env' | 'placeFile'>): ConsoleAddress | null {
  const env = placeEnv(flags, world);
  const url = flags.url ?? (isAtStores(flags) ? null : env['FENCEPOST_URL'] || null);
  if (url === null) {
    if (flags.token === undefined) return null;
    throw new UsageError('Expected --token together with --url (or FENCEPOST_URL): the stores ask for no token.');
  }
  const store = OF_STORES.find((name) => flags[name] !== undefined);
  if (store) throw new UsageError(`Expected --url or --${store}, got both: a console has its stores and its tenant.`);
  if (flags.by !== undefined) {
    throw new UsageError('Expected no --by together with --url: a console records the name of the token.');
  }
  return { url: checkedUrl(url), token: checkedToken(flags.token ?? (env['FENCEPOST_TOKEN'] || null)) };
}

function isAtStores({ redis, postgres }: ConsoleFlags): boolean {
  return redis !== undefined || postgres !== undefined;
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.username || url?.password) {
    throw new UsageError(
      'Expected --url (or FENCEPOST_URL) without user and password: give a token with FENCEPOST_TOKEN.',
    );
  }
  if (url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '') {
    return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  }
  throw new UsageError(
    `Expected --url (or FENCEPOST_URL) to be where a console is mounted, such as https://example.com/crons, got ${JSON.stringify(text)}.`,
  );
}

/** Says nothing of what it is: it may be a secret all the same. */
function checkedToken(token: string | null): string | null {
  if (token === null || /^[\x21-\x7e]+$/.test(token)) return token;
  throw new UsageError(
    'Expected --token (or FENCEPOST_TOKEN) to be a token as "fencepost token" prints it, without spaces.',
  );
}

/**
 * For a command that no console has a route for.
 * @throws {UsageError} where one is given, so that nothing is done elsewhere than was meant
 */
export function refuseConsole(command: string, flags: ConsoleFlags, world: Pick<World, 'env' | 'placeFile'>): void {
  const env = placeEnv(flags, world);
  if (flags.url === undefined && flags.token === undefined && (isAtStores(flags) || !env['FENCEPOST_URL'])) return;
  const instead =
    flags.url === undefined && flags.token === undefined ? 'Unset FENCEPOST_URL, or' : 'Leave out --url, and';
  throw new UsageError(
    `"fencepost ${command}" works on the stores themselves: the API of a console does not offer it. ${instead} name the store with --redis.`,
  );
}

/** So that a command without these options says why, and not that there is no such option. */
export function withRefusedConsole(command: Command, typed: string): void {
  if (command.options.some(({ long }) => long === '--url')) return;
  const refuse = () => {
    throw new UsageError(`"${typed}" does not talk to a console: leave out --url and --token.`);
  };
  for (const flags of ['--url <url>', '--token <token>']) {
    command.addOption(new Option(flags).hideHelp().argParser(refuse));
  }
}
