import { Catch, HttpException } from '@nestjs/common';
import type { ArgumentsHost } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { scrub } from '@fencepost/lease/internal';

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

/** Nest repeats the whole address of a route that does not exist. */
export function withoutQuery(text: string): string {
  return text.replace(/^(Cannot [A-Z]+ [^?]*)\?.*$/s, '$1');
}
