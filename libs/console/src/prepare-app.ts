import { StandardSchemaValidationPipe } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { rateLimit } from 'express-rate-limit';
import { problemOf } from './api/problem.js';
import { sendProblem } from './api/problem-filter.js';
import { ACCESS, type Access } from './auth/access.js';
import { AccessBoundary } from './auth/access-boundary.js';
import { Refusal } from './auth/refusals.js';
import { serveApiPage, servePage } from './http/page.js';
import { securityHeaders } from './http/security-headers.js';
import type { Middleware, WebResponse } from './http/web-request.js';

const MAX_BODY = '256kb';
const MAX_WORD_LENGTH = 60;
const WINDOW_MS = 60_000;

/**
 * Middleware before every route, in this order: headers, rate limit, access boundary; a body is parsed only after them.
 * Anything that serves content is added behind the access boundary.
 */
export function prepareApp(app: NestExpressApplication, { hasBoard }: { readonly hasBoard: boolean }): void {
  const { trustProxy, rateLimit: mostRequests } = app.get<Access>(ACCESS, { strict: false });
  app.disable('x-powered-by');
  app.set('trust proxy', trustProxy);
  app.use(securityHeaders());
  app.use(requestLimit(mostRequests));
  app.use(app.get(AccessBoundary, { strict: false }).enter);
  app.useBodyParser('json', { limit: MAX_BODY });
  app.useGlobalPipes(new StandardSchemaValidationPipe({ exceptionFactory: inputProblem }));
  serveApiPage(app);
  servePage(app, hasBoard);
  if (!hasBoard) app.use('/queues', refuseBoard);
}

const NO_BOARD =
  'Bull Board is not part of this console: "npm i @bull-board/api @bull-board/express" adds it, unless the option "board" is false.';

const refuseBoard: Middleware = (_request, _response, next) => next(new Refusal(404, 'NOT_FOUND', NO_BOARD));

/** Limits requests per address and minute before any token is checked, so guessing tokens is limited too. */
function requestLimit(most: number): Middleware {
  return rateLimit({
    windowMs: WINDOW_MS,
    limit: most,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    // Validation logs a line per request that carries such a header, and anyone can send one.
    validate: { xForwardedForHeader: false, trustProxy: false },
    handler: (_request: unknown, response: WebResponse) => sendProblem(response, problemOf(tooMany(most))),
  });
}

function tooMany(most: number): Refusal {
  return new Refusal(429, 'TOO_MANY_REQUESTS', `Expected at most ${most} requests in a minute. Wait, then retry.`);
}

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** One sentence about the first invalid input, naming its path. */
function inputProblem(issues: readonly Issue[]): Refusal {
  const [{ message, path = [] } = { message: 'expected something else' }] = issues;
  const place = path.map((step) => shown(typeof step === 'object' ? step.key : step)).join('.');
  const said = /^expected /i.test(message) ? message.replace(/^e/, 'E') : message;
  return new Refusal(400, 'BAD_REQUEST', `${place === '' ? '' : `${place}: `}${said}.`.replace('..', '.'));
}

/** A path step may be a key that the caller made up: shorten and escape it. */
function shown(step: PropertyKey): string {
  return JSON.stringify(String(step).slice(0, MAX_WORD_LENGTH)).slice(1, -1);
}
