import { isSuspicious, scrub, withoutQuery } from '@fencepost/lease/internal';
import type { Options } from 'pino-http';
import { Catch, HttpException, type ArgumentsHost } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';

/**
 * Whatever is logged in a pod, by us, by Nest or by a user's own code, loses its secrets: the arguments of every call before
 * pino sees them, as an error may carry the command that failed, and what child loggers add when the line is whole.
 */
export function cleanLogs(): Options {
  return {
    // Health checks come every few seconds; a line each would be most of the log.
    autoLogging: false,
    hooks: {
      logMethod(args, method) {
        method.apply(this, cleanArguments(args) as typeof args);
      },
      streamWrite: cleanLine,
    },
    serializers: {
      // Not its headers and not its query: they hold tokens and cookies, and any other header may.
      req: ({ id, method, url }: RequestShown) => ({ id, method, url: url?.replace(/\?.*$/s, '') }),
      err: shownError,
    },
  };
}

/** By then pino has taken it for an error of its own kind, named after the class of what it was given: a plain object. */
function shownError(error: ErrorShown): object {
  return { ...scrub(error), type: error.raw?.type ?? error.type };
}

interface ErrorShown {
  readonly type: string;
  readonly raw?: { readonly type?: string };
}

interface RequestShown {
  readonly id?: unknown;
  readonly method?: string;
  readonly url?: string;
}

/** An error that comes alone is shown as pino shows one: under `err`, with its message as that of the line. */
function cleanArguments(args: readonly unknown[]): unknown[] {
  const [first, ...others] = args.map((arg) => scrub(arg));
  if (!(args[0] instanceof Error)) return [first, ...others];
  return [{ err: first }, ...(others.length > 0 ? others : [(first as { readonly message: string }).message])];
}

/**
 * JSON leaves these as they are: a reader of lines may take one for the end of a line, a terminal for an order (C1 control
 * characters), and a person reads what stands after others backwards.
 */
const MISTAKEN = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** The same JSON: outside of texts it has none of them. */
function plain(line: string): string {
  return line.replace(MISTAKEN, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function cleanLine(line: string): string {
  if (!isSuspicious(line)) return plain(line);
  try {
    return plain(`${JSON.stringify(scrub(JSON.parse(line)))}\n`);
  } catch {
    return `{"msg":"a line that could not be read was left out"}\n`;
  }
}

/**
 * Answers errors as Nest does, without the secrets that they quote: that of a route which does not exist repeats the whole
 * address, and a proxy in front may log what it passes on.
 */
@Catch()
export class CleanErrors extends BaseExceptionFilter {
  override catch(error: unknown, host: ArgumentsHost): void {
    super.catch(error instanceof HttpException ? cleaned(error) : error, host);
  }
}

function cleaned(error: HttpException): HttpException {
  const said = error.getResponse();
  const body = typeof said === 'string' ? withoutQuery(said) : { ...said, ...messageOf(said) };
  return new HttpException(scrub(body), error.getStatus());
}

function messageOf(said: object): object {
  return 'message' in said && typeof said.message === 'string' ? { message: withoutQuery(said.message) } : {};
}
