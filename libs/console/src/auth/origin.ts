import type { IncomingMessage } from 'node:http';
import { isLoopbackHost } from '../http/loopback.js';

type Headed = Pick<IncomingMessage, 'headers'>;

/** An address of this machine as a socket shows it; one of IPv4 may be written as IPv6. */
const LOCAL_ADDRESS = /^(::ffff:)?127\.|^::1$/;

/** What a proxy says of whom it asks for. One that says none of it can't be told from a program of this machine. */
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

type Received = Headed & Pick<IncomingMessage, 'socket' | 'httpVersion'>;

/** Whether the request came from this machine, as far as can be known, and was sent to it by a name of its own. */
export function isWithinMachine({ headers, socket, httpVersion }: Received): boolean {
  // HTTP/1.0 is what nginx speaks unless configured otherwise, and no browser does.
  const isForwarded = httpVersion === '1.0' || FORWARDED.some((name) => headers[name] !== undefined);
  const isFromHere = LOCAL_ADDRESS.test(socket.remoteAddress ?? '') && !isForwarded;
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
