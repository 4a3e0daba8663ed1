import { Logger, Module } from '@nestjs/common';
import type { DynamicModule, LoggerService, Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { SetupError } from '@fencepost/lease';
import { ApiModule } from './api/api.module.js';
import { HAS_BOARD } from './api/has-board.js';
import type * as BoardModule from './board/bull-board.module.js';
import { ProblemFilter } from './api/problem-filter.js';
import { ReadingModule } from './api/reading.module.js';
import { ACCESS, type Access } from './auth/access.js';
import { AccessBoundary } from './auth/access-boundary.js';
import { FencepostGuard } from './auth/fencepost-guard.js';
import type { ConsoleSettings } from './options.js';
import { prepareApp } from './prepare-app.js';

/** Authentication, roles and error responses for every route of the console. */
@Module({})
class AuthModule {
  static on(access: Access, hasBoard: boolean): DynamicModule {
    return {
      module: AuthModule,
      providers: [
        { provide: ACCESS, useValue: access },
        { provide: HAS_BOARD, useValue: hasBoard },
        AccessBoundary,
        { provide: APP_GUARD, useClass: FencepostGuard },
        { provide: APP_FILTER, useClass: ProblemFilter },
      ],
      exports: [ACCESS, AccessBoundary],
    };
  }
}

/** What the console takes from the application that it is mounted in. */
@Module({})
class HostModule {}

@Module({})
class ConsoleAppModule {}

type Board = typeof BoardModule;

/**
 * The console as a Nest application of its own, on Express whatever the application around it is on: so no pipe, guard, filter,
 * interceptor or header of either reaches the other's routes. It never listens; requests are handed to it.
 * @param host what the console takes from the application that it is mounted in
 */
export async function openConsoleApp(
  host: readonly (Provider & { readonly provide: unknown })[],
  { access, board: wanted }: ConsoleSettings,
): Promise<NestExpressApplication> {
  const board = wanted === false ? null : await boardIfInstalled(wanted === true);
  const hasBoard = board !== null;
  const given = { module: HostModule, providers: [...host], exports: [...host] };
  const auth = AuthModule.on(access, hasBoard);
  const reading = ReadingModule.on(given);
  const api = ApiModule.on(reading, auth);
  const boards = board ? [board.QueuesBoardModule.on(reading, api)] : [];
  const module = { module: ConsoleAppModule, imports: [auth, reading, api, ...boards] };
  return quietly(async () => {
    const app = await NestFactory.create<NestExpressApplication>(module, new ExpressAdapter(), { abortOnError: false });
    prepareApp(app, { hasBoard });
    return app.init();
  });
}

/** @throws {SetupError} if it was asked for and its packages are missing */
async function boardIfInstalled(isWanted: boolean): Promise<Board | null> {
  try {
    return await import('./board/bull-board.module.js');
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    const text = 'the packages @bull-board/api and @bull-board/express are not installed';
    if (isWanted) throw new SetupError(`ConsoleModule, option "board": ${text}.`, { cause });
    new Logger('ConsoleModule').log(`The console has no Bull Board: ${text}.`);
    return null;
  }
}

function isMissing(error: unknown): boolean {
  const code: unknown = Reflect.get(Object(error), 'code');
  return (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') && String(error).includes('@bull-board/');
}

/** What Nest says of every start: an application has said it of itself already. */
const STARTING = ['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication'];

/** The logger is one for the whole process, so what Nest says of this start has to be left out of it. */
async function quietly<Result>(work: () => Promise<Result>): Promise<Result> {
  const logger = CurrentLogger.get();
  if (!logger) return work();
  const said =
    (level: 'log' | 'debug' | 'verbose') =>
    (message: unknown, ...more: unknown[]) => {
      if (!STARTING.includes(String(more.at(-1)))) logger[level]?.(message, ...more);
    };
  const quiet: LoggerService = {
    ...{ log: said('log'), debug: said('debug'), verbose: said('verbose') },
    warn: (message, ...more) => logger.warn(message, ...more),
    error: (message, ...more) => logger.error(message, ...more),
    fatal: (message, ...more) => logger.fatal?.(message, ...more),
  };
  Logger.overrideLogger(quiet);
  try {
    return await work();
  } finally {
    Logger.overrideLogger(logger);
  }
}

class CurrentLogger extends Logger {
  /** `undefined`: there is none, as with `logger: false`. */
  static get(): LoggerService | undefined {
    return Logger.staticInstanceRef;
  }
}
