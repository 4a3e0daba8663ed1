import type { Place } from '../http/web-request.js';

/**
 * What answers without a token, and nothing else: whether the process lives, how one signs in, and the page's own program,
 * which shows nothing until somebody has. Written exactly: a spelling that is not in here needs a token.
 */
const OPEN: readonly (readonly [methods: readonly string[], path: RegExp])[] = [
  [['GET', 'HEAD'], /^\/health\/(live|ready)$/],
  [['POST', 'DELETE'], /^\/api\/session$/],
  [['GET', 'HEAD'], /^\/crons\/(assets\/[\w.-]+|favicon\.svg)$/],
];

const METRICS = /^\/metrics$/;

export interface OpenPlaces {
  readonly metricsOpen: boolean;
}

export function isOpen({ method, path }: Place, { metricsOpen }: OpenPlaces): boolean {
  if (metricsOpen && METRICS.test(path) && (method === 'GET' || method === 'HEAD')) return true;
  return OPEN.some(([methods, place]) => methods.includes(method) && place.test(path));
}
