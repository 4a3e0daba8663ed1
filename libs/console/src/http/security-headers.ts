import helmet from 'helmet';
import { placeOf, type Middleware } from './web-request.js';

type Sources = Readonly<Record<string, readonly string[]>>;

const NOTHING: Sources = {
  defaultSrc: ["'none'"],
  frameAncestors: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
};

const OWN: Sources = {
  ...NOTHING,
  defaultSrc: ["'self'"],
  connectSrc: ["'self'"],
  imgSrc: ["'self'", 'data:'],
  objectSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
};

/** Both set styles of elements in their HTML. No program may stand there, and none may come from elsewhere. */
const STYLED: Sources = { ...OWN, styleSrc: ["'self'", "'unsafe-inline'"] };

/** What a page may load, by where it stands; what the API answers is no page, and may load nothing. */
const PAGES: readonly (readonly [place: RegExp, sources: Sources])[] = [
  [/^\/(api|session|openapi\.json)(\/|$)/i, NOTHING],
  // It says what its addresses are relative to.
  [/^\/queues(\/|$)/i, { ...STYLED, baseUri: ["'self'"] }],
  [/^\/docs(\/|$)/i, STYLED],
];

/** The headers of every answer, refusals included. Nothing may be framed, sniffed, or read by another origin: there is no CORS. */
export function securityHeaders(): Middleware {
  const rules = PAGES.map(([place, sources]) => [place, headersFor(sources)] as const);
  const others = headersFor(OWN);
  return (request, response, next) => {
    const { path } = placeOf(request);
    const [, headers = others] = rules.find(([place]) => place.test(path)) ?? [];
    if (path.startsWith('/api/')) response.set({ 'Cache-Control': 'no-store' });
    headers(request, response, next);
  };
}

function headersFor(sources: Sources): Middleware {
  const directives = Object.fromEntries(Object.entries(sources).map(([name, from]) => [name, [...from]]));
  return helmet({
    contentSecurityPolicy: { useDefaults: false, directives },
    referrerPolicy: { policy: 'no-referrer' },
  });
}
