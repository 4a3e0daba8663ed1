import type { Place } from '../http/web-request.js';

/**
 * What answers without a token, and nothing else: how one signs in, and the page's own program, which shows nothing until
 * somebody has. Written exactly: a spelling that is not in here needs a token.
 */
const OPEN: readonly (readonly [methods: readonly string[], path: RegExp])[] = [
  [['POST', 'DELETE'], /^\/session$/],
  [['GET', 'HEAD'], /^\/(assets\/[\w.-]+|favicon\.svg)$/],
];

export function isOpen({ method, path }: Place): boolean {
  return OPEN.some(([methods, place]) => methods.includes(method) && place.test(path));
}
