import type { IncomingMessage } from 'node:http';

type Headed = Pick<IncomingMessage, 'headers'>;

/** A name that can only mean this machine. One that merely resolves to it may be an attacker's (DNS rebinding). */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i;

export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host) || host === '::1';
}

/** Whether the request was sent to this machine by a name of its own. */
export function isSentToLoopback({ headers }: Headed): boolean {
  return isLoopbackHost((headers.host ?? '').replace(/:\d+$/, ''));
}

/**
 * Whether a browser says that a page of another origin made it send this. One that says nothing is no browser, or one from
 * before 2020: a program has no cookies that somebody else could use.
 *
 * Source: Fetch Metadata (W3C), and the `Origin` header of the Fetch standard for browsers without it.
 */
export function isCrossOrigin({ headers }: Headed): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin';
  const { origin, host } = headers;
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase();
}
