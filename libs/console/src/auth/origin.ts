import type { IncomingMessage } from 'node:http';
import { isLoopbackHost } from '../http/loopback.js';

type Headed = Pick<IncomingMessage, 'headers'>;

/** An address of this machine as a socket shows it; one of IPv4 may be written as IPv6. */
const LOCAL_ADDRESS = /^(::ffff:)?127\.|^::1$/;

/** Whether the request came from this machine, and was sent to it by a name of its own. */
export function isWithinMachine({ headers, socket }: Headed & Pick<IncomingMessage, 'socket'>): boolean {
  const isFromHere = LOCAL_ADDRESS.test(socket.remoteAddress ?? '') && headers['x-forwarded-for'] === undefined;
  return isFromHere && isLoopbackHost((headers.host ?? '').replace(/:\d+$/, ''));
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
