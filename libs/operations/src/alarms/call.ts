import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { FencepostError, type Clock } from '@fencepost/lease';
import { useAgent } from 'request-filtering-agent';
import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Somebody outside was called, and did not take it. Says the host and nothing else of the address. */
export class CallError extends FencepostError {
  readonly code = 'CALL_FAILED';

  constructor(
    host: string,
    why: string,
    /** Of the answer; `null` where there was none. */
    readonly status: number | null = null,
  ) {
    super(`Expected ${host} to accept the message, but ${why}. Delivery is retried, up to a limit.`);
  }
}

export interface Call {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface CallOptions {
  readonly clock: Clock;
  /** For all of it, from the look-up of the name to the end of the answer; milliseconds. */
  readonly timeoutMs: number;
  /** Hosts, or hosts with their port, of one's own network; see {@link isAllowed}. */
  readonly allowHosts: readonly string[];
}

const NOT_PUBLIC = 'its address is not public; if that is intended, add the host to alarms.allowHosts';

/** Nobody reads the answer; what is longer is cut off, and its status counts. */
const MAX_ANSWER_LENGTH = 64 * 1_024;

/** Whether a private, loopback or other special address may be behind the host of this URL: somebody has said so. */
function isAllowed(url: URL, allowHosts: readonly string[]): boolean {
  return allowHosts.some((host) => host.toLowerCase() === url.hostname || host.toLowerCase() === url.host);
}

/**
 * Calls an address that somebody has written into a definition or an environment, and that may point to anything: only
 * public addresses, checked again after the name was looked up and on the very connection that is used. No redirect is
 * followed, no proxy is asked, and the answer is thrown away.
 * @returns the status, 200 to 299
 * @throws {CallError} for every other end
 */
export async function call(wanted: Call, options: CallOptions): Promise<number> {
  const url = new URL(wanted.url);
  if (isForbidden(url.hostname)) throw new CallError(url.host, NOT_PUBLIC);
  const status = await statusOf(url, wanted, options);
  if (status >= 200 && status < 300) return status;
  const redirect = status >= 300 && status < 400 ? ', and redirects are not followed' : '';
  throw new CallError(url.host, `it answered ${status}${redirect}`, status);
}

function statusOf(url: URL, wanted: Call, { clock, timeoutMs, allowHosts }: CallOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(
      url,
      requestOptions(url, wanted, allowHosts),
    );
    const over = new CallError(url.host, `it did not answer within ${timeoutMs} ms`);
    const cancel = clock.after(timeoutMs, () => request.destroy(over));
    const settle = (settled: () => void) => {
      cancel();
      settled();
    };
    request.on('error', (error: Error) => settle(() => reject(asCallError(url, error))));
    request.on('response', (answer: IncomingMessage) => {
      drain(answer, () => settle(() => resolve(answer.statusCode ?? 0)));
    });
    request.end(wanted.body);
  });
}

function requestOptions(url: URL, { method, headers, body }: Call, allowHosts: readonly string[]): RequestOptions {
  const allowed = isAllowed(url, allowHosts);
  const filter = { allowPrivateIPAddress: allowed, allowMetaIPAddress: false };
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return {
    method,
    // One of its own: a kept connection would be one that was checked for somebody else.
    lookup: lookUp,
    agent: useAgent(url.href, { ...filter, keepAlive: false }),
    headers: { 'user-agent': 'fencepost', ...headers, ...length },
    maxHeaderSize: 16 * 1_024,
  };
}

/** Once, at its end or at the byte that is too much. */
function drain(answer: IncomingMessage, ended: () => void): void {
  let left = MAX_ANSWER_LENGTH;
  answer.on('data', (part: Buffer) => {
    left -= part.length;
    if (left >= 0) return;
    ended();
    answer.destroy();
  });
  answer.on('end', ended);
  answer.on('error', ended);
}

/** What the machine says of a connection names addresses and no secrets; what it says of a URL may hold all of it. */
function asCallError(url: URL, error: Error): CallError {
  if (error instanceof CallError) return error;
  const refused = /is not allowed/.test(error.message);
  if (!refused) return new CallError(url.host, 'code' in error ? String(error.code) : error.name);
  return new CallError(url.host, NOT_PUBLIC);
}

/** Where machines hand out their credentials, and everything else of a link. It also knows these addresses within IPv6. */
const FORBIDDEN = new BlockList();
FORBIDDEN.addSubnet('169.254.0.0', 16, 'ipv4');
FORBIDDEN.addSubnet('fe80::', 10, 'ipv6');
FORBIDDEN.addSubnet('fd00:ec2::', 32, 'ipv6');

/** Whether nobody may be called there, also not by a name that somebody has allowed. */
export function isForbidden(address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, '');
  const family = isIP(plain);
  return family !== 0 && FORBIDDEN.check(plain, family === 6 ? 'ipv6' : 'ipv4');
}

/** The look-up of a name that ends in an error when one of its addresses is forbidden: the others may be there to hide it. */
const lookUp: LookupFunction = (hostname, options, callback) => {
  dnsLookup(hostname, options, (error: Error | null, found: string | LookupAddress[], family?: number) => {
    const addresses = typeof found === 'string' ? [found] : (found ?? []).map(({ address }) => address);
    const refused = addresses.some(isForbidden) ? new Error(`${hostname} is not allowed`) : error;
    callback(refused, found, family);
  });
};
