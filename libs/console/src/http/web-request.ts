import type { IncomingMessage, ServerResponse } from 'node:http';

/* The little of Express that is used here; it has no types of its own. */

export interface WebRequest extends IncomingMessage {
  readonly method: string;
  readonly originalUrl: string;
  readonly ip?: string;
  /** Whether it came by TLS, as far as trusted proxies say. */
  readonly secure: boolean;
  is(type: string): string | false | null;
  accepts(types: readonly string[]): string | false;
}

export interface WebResponse extends ServerResponse {
  status(code: number): this;
  set(headers: Readonly<Record<string, string>>): this;
  type(type: string): this;
  json(body: unknown): this;
  send(body: string): this;
  readonly locals: object;
  sendFile(path: string): void;
  append(header: string, value: string): this;
}

export type Next = (error?: unknown) => void;

export type Middleware = (request: WebRequest, response: WebResponse, next: Next) => void;

/** One JSON value in each line. */
export const LINES = 'application/x-ndjson';

/** Where a body is not JSON, but lines of it. */
export const TAKES_LINES = '/api/crons/import';

export interface Place {
  readonly method: string;
  readonly path: string;
}

/** The full path of a request, also below a mount point. */
export function placeOf({ method, originalUrl }: { readonly method: string; readonly originalUrl: string }): Place {
  return { method, path: originalUrl.split('?', 1)[0] ?? '' };
}

/** Whether a request with this method only reads. */
export function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
