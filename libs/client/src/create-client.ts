import createFetchClient, { type Client as FetchClient } from 'openapi-fetch';
import type { components, paths } from './api-types.js';

export interface ClientOptions {
  /** Where a scheduler pod listens, such as `http://127.0.0.1:3000`. In a page of that server: an empty text. */
  readonly baseUrl: string;
  /** A token as `fencepost token` prints it; without one a page's session counts, and on loopback nobody is asked. */
  readonly token?: string;
  /** Default: that of the platform. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** Everything the API answers, by its name in the OpenAPI document. */
export type Answers = components['schemas'];

export type Client = FetchClient<paths>;

/**
 * A client whose paths, parameters, bodies and answers are those of the OpenAPI document.
 *
 * Each call resolves with `data`, or with an `error`: problem details (RFC 9457) with a stable `code`. It rejects only when nobody
 * answered.
 */
export function createClient({ baseUrl, token, fetch }: ClientOptions): Client {
  return createFetchClient<paths>({
    baseUrl,
    ...(fetch && { fetch }),
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
  });
}
