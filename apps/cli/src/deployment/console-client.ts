import type { paths } from '@fencepost/client';
import createClient, { type Client } from 'openapi-fetch';
import { StoreError, UsageError } from '../exit.js';
import type { ConsoleAddress } from './console-address.js';

export type ConsoleClient = Client<paths>;

/** The console has refused it, in its own words: nothing was changed. */
export class ConsoleRefusal extends UsageError {
  constructor(
    /** As the API has it, such as `RUN_UNKNOWN`. */
    readonly problem: string,
    message: string,
    readonly details: Readonly<Record<string, unknown>>,
  ) {
    super(message);
  }
}

/** A client whose answers are the API's: whatever else comes back is thrown as a sentence of this program. */
export function consoleClient(address: ConsoleAddress, patienceMs = TIMEOUT_MS): ConsoleClient {
  return createClient<paths>({
    baseUrl: address.url,
    headers: authorization(address),
    fetch: (request) => ask(request, address, patienceMs),
  });
}

export function authorization({ token }: ConsoleAddress): Record<string, string> {
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

/** What was answered; everything else has been thrown by then. */
export async function answered<Data>(call: Promise<{ readonly data?: Data }>): Promise<Data> {
  const { data } = await call;
  if (data === undefined) throw new StoreError('The console has answered nothing. Repeat the command.');
  return data;
}

const TIMEOUT_MS = 30_000;

async function ask(request: Request, address: ConsoleAddress, timeoutMs: number): Promise<Response> {
  const signal = AbortSignal.timeout(timeoutMs);
  const isOrder = request.method !== 'GET';
  try {
    const response = await fetch(request, { signal, redirect: 'manual' });
    const text = await response.text();
    if (response.ok && isJson(response)) return new Response(text, response);
    throw refusalOf(response, text, { address, isOrder });
  } catch (error) {
    if (error instanceof UsageError || error instanceof StoreError) throw error;
    throw awayFrom(error, { address, timeoutMs, isOrder });
  }
}

function isJson({ headers }: Response): boolean {
  return /^application\/json\b/.test(headers.get('content-type') ?? '');
}

interface Asked {
  readonly address: ConsoleAddress;
  readonly isOrder: boolean;
}

const HEARD = ' The order may have taken effect: check before you repeat it.';

/** Why an answer is none, and what to do. */
export function refusalOf(response: Response, text: string, { address, isOrder }: Asked): UsageError | StoreError {
  const { url } = address;
  const { code, detail, ...details } = problemIn(text);
  const { status } = response;
  if (status >= 300 && status < 400) return new UsageError(movedTo(response, url));
  if (status === 401) return new UsageError(unauthenticated(address));
  if (status === 429 || status >= 500) {
    // What stands in front of a console doesn't know how far the order came.
    const said = detail ?? `HTTP status ${status}.${isOrder ? HEARD : ''}`;
    return new StoreError(`The console at ${url} cannot answer now: ${said}`);
  }
  // Nest, and whatever else may stand there, have problems of their own: without our codes.
  if (code === undefined || detail === undefined || code === 'NOT_FOUND') return new UsageError(notThere(status, url));
  const how = code === 'FORBIDDEN' ? ` "fencepost token <name> --role <role>" creates one.` : '';
  return new ConsoleRefusal(code, `${detail}${how}`, details);
}

interface Problem extends Readonly<Record<string, unknown>> {
  readonly code?: string;
  readonly detail?: string;
}

/** Without what every problem has besides; the rest is what this one was refused for. */
function problemIn(text: string): Problem {
  try {
    const { type: _type, title: _title, status: _status, code, detail, ...rest } = Object(JSON.parse(text)) as Problem;
    return { ...rest, ...(typeof code === 'string' && { code }), ...(typeof detail === 'string' && { detail }) };
  } catch {
    return {};
  }
}

function movedTo({ status, headers }: Response, url: string): string {
  const to = headers.get('location') ?? 'nowhere';
  return `The address ${url} redirects (${status}) to ${to}. Use the address of the console itself, for a token is not sent elsewhere.`;
}

function unauthenticated({ url, token }: ConsoleAddress): string {
  const wrong =
    token === null ? `The console at ${url} requires a token` : `The console at ${url} does not know this token`;
  return (
    `${wrong}. Create one with "fencepost token <name> --role viewer" (operator or admin for orders), add its line to ` +
    'the tokens of the console, and pass the token in FENCEPOST_TOKEN.'
  );
}

function notThere(status: number, url: string): string {
  return (
    `No console answers at ${url} (HTTP status ${status}). Is it mounted at this path? Give the whole address, such as ` +
    'https://example.com/crons.'
  );
}

interface Failed extends Asked {
  readonly timeoutMs: number;
}

/** Before these there was no request. */
const NEVER_SENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ISSUER/;

/** Nobody has answered: who was asked, what went wrong, and whether an order may have been heard. */
export function awayFrom(error: unknown, { address: { url }, timeoutMs, isOrder }: Failed): StoreError {
  const { code, message } = innermost(error);
  if (CERTIFICATE.test(code)) {
    return new StoreError(
      `The certificate of ${url} is not trusted (${code}). Name its authority with NODE_EXTRA_CA_CERTS, or correct --url.`,
    );
  }
  const late = Object(error).name === 'TimeoutError';
  const why = late ? `no answer within ${timeoutMs / 1_000} s` : message || code;
  const heard = !isOrder || NEVER_SENT.test(code) ? '' : HEARD;
  return new StoreError(
    `The console could not be reached at ${url} (${why}). Start it, or correct --url or FENCEPOST_URL.${heard}`,
    { cause: error },
  );
}

/** Fetch wraps what went wrong, and where a name has several addresses the socket wraps it once more. */
function innermost(error: unknown): { readonly code: string; readonly message: string } {
  const { cause, errors, code = '', message = '' } = Object(error) as Record<string, unknown>;
  const inner = Array.isArray(errors) ? errors[0] : cause;
  return inner === undefined ? { code: String(code), message: String(message) } : innermost(inner);
}

/** What the console says of the state that it has refused an order for. */
export function refused(error: unknown, ...problems: readonly string[]): Pick<ConsoleRefusal, 'details' | 'message'> {
  if (!(error instanceof ConsoleRefusal) || !problems.includes(error.problem)) throw error;
  return error;
}
