import type { DynamicModule, FactoryProvider, ModuleMetadata } from '@nestjs/common';
import { SetupError } from '@fencepost/lease';
import { checkedOptions } from '@fencepost/lease/internal/options';
import { z } from 'zod';
import { accessOf, isUnguarded, type Access, type ConsoleAuth } from './auth/access.js';
import type { Authenticate } from './auth/authenticate.js';

/** What {@link ConsoleModule} takes. */
export interface ConsoleOptions {
  /** Where the console is, such as `/crons`; the application's global prefix precedes it. */
  readonly path: string;
  /**
   * Who may come in. `'none'`: every program on this machine is an admin, a reverse proxy included. Required, except with
   * `NODE_ENV=development`, where a console without tokens and without a function is open in the same way.
   */
  readonly auth?: ConsoleAuth | 'none' | undefined;
  /** Whether Bull Board is part of it; default: yes, if `@bull-board/api` and `@bull-board/express` are installed. */
  readonly board?: boolean | undefined;
  /** Number of proxies in front that belong to the deployment: their `X-Forwarded-For` is believed. Default 0. */
  readonly trustProxy?: number | undefined;
  /** Maximum requests of one address to the console in a minute; default 1200. */
  readonly rateLimit?: number | undefined;
}

/** Where the options come from; the shape Nest users know from other modules' `forRootAsync`. */
export interface ConsoleOptionsSource extends Pick<ModuleMetadata, 'imports'> {
  readonly inject?: FactoryProvider['inject'];
  readonly useFactory: (...args: never[]) => ConsoleOptions | Promise<ConsoleOptions>;
}

export interface OfJobs {
  /** What `JobsModule.forRoot` returned; only needed in an application with several. */
  readonly jobs?: DynamicModule | undefined;
}

export interface ConsoleSettings {
  /** Begins with a slash and does not end with one. */
  readonly path: string;
  readonly access: Access;
  /** `null`: if its packages are installed. */
  readonly board: boolean | null;
}

const DEFAULT_RATE_LIMIT = 1_200;
const PATH = 'expected a path such as "/crons", of letters, digits and . _ ~ -';
const NO_AUTH = 'expected an object with tokens, tokensFile or authenticate, or "none"';
const FUNCTION = 'expected a function that takes a request';

const wholeNumber = (min: number, max: number) => {
  const expected = `expected a whole number from ${min} to ${max}`;
  return z.int(expected).min(min, expected).max(max, expected);
};

const authSchema = z.strictObject(
  {
    tokens: z.string('expected lines or a list of name:role:sha256').optional(),
    tokensFile: z.string('expected the path of a file').optional(),
    authenticate: z.custom<Authenticate>((value) => typeof value === 'function', FUNCTION).optional(),
  },
  NO_AUTH,
);

const schema = z.strictObject(
  {
    path: z
      .string(PATH)
      .regex(/^\/?[\w.~-]+(\/[\w.~-]+)*\/?$/, PATH)
      .transform((path) => `/${path.replace(/^\/|\/$/g, '')}`),
    auth: z.union([z.literal('none'), authSchema], NO_AUTH).optional(),
    board: z.boolean('expected true or false').optional(),
    trustProxy: wholeNumber(0, 10).default(0),
    rateLimit: wholeNumber(10, 1_000_000).default(DEFAULT_RATE_LIMIT),
  },
  'expected an object such as { path: "/crons" }',
);

/**
 * @param stage `NODE_ENV`: only in development is a console open that nobody has asked to be
 * @throws {SetupError} naming each wrong option, what was expected, and what came
 */
export function consoleSettings(options: ConsoleOptions, stage = process.env['NODE_ENV']): ConsoleSettings {
  const secrets = { auth: () => 'a value that is not shown' };
  const {
    path,
    auth = {},
    board = null,
    ...limits
  } = checkedOptions({ owner: 'ConsoleModule', schema, secrets }, options);
  const access = { ...accessOf(auth === 'none' ? {} : auth), ...limits };
  if (isUnguarded(access) && auth !== 'none' && stage !== 'development') throw unguarded();
  return { path, board, access };
}

/** A reverse proxy on the same machine makes a request of the network look like one of this machine. */
function unguarded(): SetupError {
  return new SetupError(
    'ConsoleModule needs "auth": without it every program on this machine has full access, and so has everyone whom a reverse ' +
      'proxy on it lets in. Set tokens ("fencepost token <name> --role admin" prints one), or leave the console open to this ' +
      `machine with auth: 'none' (for a pod: FENCEPOST_AUTH=none). NODE_ENV=development needs neither.`,
  );
}
