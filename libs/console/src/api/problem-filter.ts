import { Catch, Logger } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { placeOf, type WebRequest, type WebResponse } from '../http/web-request.js';
import { problemOf, type Problem } from './problem.js';
import { shellOfPage } from '../http/page.js';

const PLAIN =
  '<!doctype html><html lang="en"><title>Sign in · Fencepost</title>' +
  '<p>Expected a session. <a href="/crons/">Sign in</a>, and come back.</p></html>';

/** For a browser that has no session: our page, which asks for a token and shows nothing else; or a link to it. */
function signInPage(): string {
  return shellOfPage() ?? PLAIN;
}

/** Every error leaves as `{ statusCode, code, message }`; a browser that opens a page without a session is told where to sign in. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  readonly #log = new Logger('api');

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const [request, response] = [http.getRequest<WebRequest>(), http.getResponse<WebResponse>()];
    const problem = problemOf(error);
    if (problem.statusCode === 500)
      this.#log.error({ error: stackOf(error), at: placeOf(request) }, 'an answer failed');
    // A stream that has begun can only be ended.
    if (response.headersSent) response.destroy();
    else this.#send(problem, request, response);
  }

  #send(problem: Problem, request: WebRequest, response: WebResponse): void {
    const { statusCode } = problem;
    response.status(statusCode).set({ 'Cache-Control': 'no-store' });
    if (statusCode === 429 || statusCode === 503) response.set({ 'Retry-After': '1' });
    if (statusCode === 401) response.set({ 'WWW-Authenticate': 'Bearer realm="fencepost"' });
    if (statusCode === 401 && isPage(request)) response.type('html').send(signInPage());
    else response.json(problem);
  }
}

function isPage(request: WebRequest): boolean {
  return (
    request.method === 'GET' &&
    !placeOf(request).path.startsWith('/api/') &&
    request.accepts(['json', 'html']) === 'html'
  );
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
