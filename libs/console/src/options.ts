import type { DynamicModule, FactoryProvider, ModuleMetadata } from '@nestjs/common';
import { checkedOptions } from '@fencepost/lease/internal/options';
import { z } from 'zod';
import { accessOf, type Access, type ConsoleAuth } from './auth/access.js';
import type { Authenticate } from './auth/authenticate.js';

/** What {@link ConsoleModule} takes. */
export interface ConsoleOptions {
  /** Where the console is, such as `/crons`; the application's global prefix precedes it. */
  readonly path: string;
  /** Who may come in. Without tokens and without a function the console serves this machine alone. */
  readonly auth?: ConsoleAuth | undefined;
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
  'expected an object with tokens, tokensFile or authenticate',
);

const schema = z.strictObject(
  {
    path: z
      .string(PATH)
      .regex(/^\/?[\w.~-]+(\/[\w.~-]+)*\/?$/, PATH)
      .transform((path) => `/${path.replace(/^\/|\/$/g, '')}`),
    auth: authSchema.optional(),
    board: z.boolean('expected true or false').optional(),
    trustProxy: wholeNumber(0, 10).default(0),
    rateLimit: wholeNumber(10, 1_000_000).default(DEFAULT_RATE_LIMIT),
  },
  'expected an object such as { path: "/crons" }',
);

/** @throws {SetupError} naming each wrong option, what was expected, and what came */
export function consoleSettings(options: ConsoleOptions): ConsoleSettings {
  const secrets = { auth: () => 'a value that is not shown' };
  const {
    path,
    auth = {},
    board = null,
    ...limits
  } = checkedOptions({ owner: 'ConsoleModule', schema, secrets }, options);
  return { path, board, access: { ...accessOf(auth), ...limits } };
}
