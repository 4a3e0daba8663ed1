import { Catch, Inject, Logger } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { placeOf, type WebRequest, type WebResponse } from '../http/web-request.js';
import { problemOf, type Problem } from './problem.js';
import { shellOfPage, upFrom } from '../http/page.js';
import { HAS_BOARD } from './has-board.js';

/** For where the page was not built. */
const plain = (path: string) =>
  '<!doctype html><html lang="en"><title>Sign in · Fencepost</title>' +
  `<p>Expected a session. <a href="${upFrom(path)}">Sign in</a>, and come back.</p></html>`;

/** Every error leaves as `{ statusCode, code, message }`; a browser that opens a page without a session is told where to sign in. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  readonly #log = new Logger('api');

  constructor(@Inject(HAS_BOARD) private readonly hasBoard: boolean) {}

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
    if (statusCode === 401 && isPage(request)) response.type('html').send(this.#signInPage(request));
    else response.json(problem);
  }

  /** For a browser that has no session: our page, which asks for a token and shows nothing else; or a link to it. */
  #signInPage(request: WebRequest): string {
    const { path } = placeOf(request);
    return shellOfPage({ path, hasBoard: this.hasBoard }) ?? plain(path);
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
