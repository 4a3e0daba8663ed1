import { createClient, type Answers } from '@fencepost/client';
import { WORDS } from '../words.js';
import { BASE } from './base.js';
import { readable } from './readable.js';

/** An answer that is not what was asked for. `status` 0: nobody answered. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Of the console that the page came from. */
export const client = createClient({ baseUrl: BASE });

type Listener = () => void;
const unauthorised = new Set<Listener>();

/** Told whenever the API no longer knows who asks: a token was withdrawn, or the session ended. */
export function onUnauthorised(listener: Listener): void {
  unauthorised.add(listener);
}

interface Reply<Data> {
  readonly data?: Data | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

/** @throws ApiError for anything but what was asked for; as it is when the question was withdrawn */
export async function answered<Data>(reply: Promise<Reply<Data>>, signal?: AbortSignal): Promise<Data> {
  const { data, error, response } = await reached(reply, signal);
  if (response.ok) return readable(data) as Data;
  if (response.status === 401) for (const listener of unauthorised) listener();
  throw problemOf(error, response);
}

async function reached<Data>(reply: Promise<Reply<Data>>, signal?: AbortSignal): Promise<Reply<Data>> {
  try {
    return await reply;
  } catch (error) {
    // One that was given up because no answer came is as one that nobody answered.
    if (signal?.aborted && !isTimeout(signal.reason)) throw error;
    throw new ApiError(0, 'away', WORDS.frame.noResponse);
  }
}

const isTimeout = (reason: unknown) => reason instanceof DOMException && reason.name === 'TimeoutError';

/** A proxy in between may answer with a page of its own. */
function problemOf(error: unknown, { status, statusText }: Response): ApiError {
  const said = typeof error === 'object' && error !== null ? (error as Partial<Answers['Problem']>) : {};
  return new ApiError(status, said.code ?? `http_${status}`, readable(said.detail ?? statusText));
}
