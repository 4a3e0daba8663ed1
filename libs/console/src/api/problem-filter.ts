import { Catch, Inject, Logger } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { PROBLEM_JSON } from '@fencepost/lease/http';
import { isReading, placeOf, type WebRequest, type WebResponse } from '../http/web-request.js';
import { problemOf, type Problem } from './problem.js';
import { shellOfPage, upFrom } from '../http/page.js';
import { HAS_BOARD } from './has-board.js';

export function sendProblem(response: WebResponse, problem: Problem): void {
  response.status(problem.status).type(PROBLEM_JSON).send(JSON.stringify(problem));
}

/** For where the page was not built. */
const plain = (path: string) =>
  '<!doctype html><html lang="en"><title>Sign in · Fencepost</title>' +
  `<p>Expected a session. <a href="${upFrom(path)}">Sign in</a>, and come back.</p></html>`;

/** Every error leaves as problem details (RFC 9457); a browser that opens a page without a session is told where to sign in. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  readonly #log = new Logger('api');

  constructor(@Inject(HAS_BOARD) private readonly hasBoard: boolean) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const [request, response] = [http.getRequest<WebRequest>(), http.getResponse<WebResponse>()];
    const problem = problemOf(error, !isReading(request.method));
    if (problem.status === 500) this.#log.error({ error: stackOf(error), at: placeOf(request) }, 'an answer failed');
    // A stream that has begun can only be ended.
    if (response.headersSent) response.destroy();
    else this.#send(problem, request, response);
  }

  #send(problem: Problem, request: WebRequest, response: WebResponse): void {
    const { status } = problem;
    response.status(status).set({ 'Cache-Control': 'no-store' });
    if (status === 429 || status === 503) response.set({ 'Retry-After': '1' });
    if (status === 401) response.set({ 'WWW-Authenticate': 'Bearer realm="fencepost"' });
    if (status === 401 && isPage(request)) response.type('html').send(this.#signInPage(request));
    else sendProblem(response, problem);
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
