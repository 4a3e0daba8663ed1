import { ConsoleLogger, Logger, type LoggerService } from '@nestjs/common';
import type { LogLine } from '../telemetry/log-line.js';
import { objectOf } from '../telemetry/log-line.js';
import { textOfLine } from '../telemetry/log-text.js';

/** The names that Nest has for levels. */
export type NestLevel = 'error' | 'warn' | 'log' | 'debug';

const CONTEXT = 'Fencepost';

/**
 * The arguments for a line. `pino`: the fields, then the sentence, for `Logger` of nestjs-pino. `params`: the sentence, then the
 * fields, for Nest 12. `object`: both in one object. `text`: one text, for every other logger.
 */
type Form = 'pino' | 'params' | 'object' | 'text';

/**
 * Passes lines to the application's logger in the form that suits it. An application may set its logger late (`app.useLogger`),
 * and Nest buffers earlier lines (`bufferLogs`): so the form is chosen when Nest asks for the instance to write to.
 */
export class NestLogger extends Logger {
  constructor() {
    super(CONTEXT);
  }

  override get localInstance(): LoggerService {
    const target = this.#target;
    // With `logger: false` Nest has no instance, and writes nothing.
    return (target && new LineWriter(target)) as LoggerService;
  }

  /** Nest 11 says no to every level, `fatal` too, until an application names its levels, and logs all the same. */
  isOn(level: NestLevel): boolean {
    const target = this.#target;
    if (target === undefined) return false;
    const isOn = pinoOf(target)?.isLevelEnabled?.(level === 'log' ? 'info' : level);
    return isOn ?? (Logger.isLevelEnabled(level) || !Logger.isLevelEnabled('fatal'));
  }

  get #target(): LoggerService | undefined {
    return super.localInstance;
  }
}

/** Takes only the lines of {@link NestLogger}. */
class LineWriter implements LoggerService {
  constructor(private readonly target: LoggerService) {}

  log(line: LogLine): void {
    this.#write('log', line);
  }

  warn(line: LogLine): void {
    this.#write('warn', line);
  }

  debug(line: LogLine): void {
    this.#write('debug', line);
  }

  error(line: LogLine): void {
    this.#write('error', line);
  }

  #write(level: NestLevel, line: LogLine): void {
    const { target } = this;
    switch (formOf(target)) {
      case 'pino':
        return target[level]?.(objectOf(line), line.sentence, CONTEXT);
      case 'params':
        return target[level]?.(line.sentence, objectOf(line), CONTEXT);
      case 'object':
        return this.#writeOne(level, { message: line.sentence, ...objectOf(line) });
      case 'text':
        return this.#writeOne(level, textOfLine(line));
    }
  }

  /** The second argument of `error` is a stack; ours is in the message. */
  #writeOne(level: NestLevel, message: unknown): void {
    if (level === 'error') this.target.error(message, undefined, CONTEXT);
    else this.target[level]?.(message, CONTEXT);
  }
}

function formOf(target: LoggerService): Form {
  if (target instanceof ConsoleLogger) {
    const { json, structuredParams } = Object(Reflect.get(target, 'options')) as ConsoleOptions;
    if (json !== true) return 'text';
    return 'stringifyParams' in ConsoleLogger.prototype && structuredParams !== false ? 'params' : 'object';
  }
  if (pinoOf(target) === undefined) return 'text';
  // `NativeLogger` of nestjs-pino reads its arguments as Nest's own logger does.
  const structured: unknown = Reflect.get(target, 'structuredParams');
  if (structured === undefined) return 'pino';
  return structured === true ? 'params' : 'object';
}

interface ConsoleOptions {
  readonly json?: boolean;
  readonly structuredParams?: boolean;
}

interface Pino {
  readonly isLevelEnabled?: (level: string) => boolean;
}

/** The pino instance of a nestjs-pino logger, recognised by its shape: the package is optional. */
function pinoOf(target: LoggerService): Pino | undefined {
  const inner: unknown = Reflect.get(target, 'logger');
  if (typeof Reflect.get(target, 'contextName') !== 'string' || typeof inner !== 'object' || inner === null) return;
  if (!('assign' in inner && 'setContext' in inner && 'logger' in inner)) return;
  return Object(inner.logger) as Pino;
}
