import { rateLimit } from 'express-rate-limit';
import type { Middleware, WebResponse } from './web-request.js';

const WINDOW_MS = 60_000;

/** So many requests of one address in a minute, whoever it is: also of somebody who tries tokens. */
export function requestLimit(most: number): Middleware {
  return rateLimit({
    windowMs: WINDOW_MS,
    limit: most,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    // It would write a line for each request that bears such a header, which anybody can.
    validate: { xForwardedForHeader: false, trustProxy: false },
    // An orchestrator that is refused an answer would end the pod.
    skip: ({ path }: { readonly path: string }) => path.startsWith('/health/'),
    handler: (_request: unknown, response: WebResponse) => void response.status(429).json(tooMany(most)),
  });
}

function tooMany(most: number) {
  const message = `Expected at most ${most} requests in a minute (FENCEPOST_RATE_LIMIT). Wait, then retry.`;
  return { statusCode: 429, code: 'TOO_MANY_REQUESTS', message };
}
