import type { z } from 'zod';
import { EtcdError, UNKNOWN } from './etcd-error.js';
import type { EtcdSettings } from './etcd-options.js';
import { refusal } from './etcd-replies.js';

export interface EtcdPost {
  readonly endpoint: string;
  /** Below `/v3/`. */
  readonly path: string;
  readonly body: object;
  readonly token?: string | undefined;
  /** Ends the request, or the stream that came of it. */
  readonly signal: AbortSignal;
}

type TransportSettings = Pick<EtcdSettings, 'fetch' | 'clock' | 'timeoutMs' | 'endpoints'>;

/** Requests to one member by Node's own `fetch`, each with an end, and what goes wrong as {@link EtcdError}s. */
export class EtcdTransport {
  readonly #settings: TransportSettings;
  /** A member that hangs may not use up the whole call: there is time left to ask another one, or the same one again. */
  readonly #patienceMs: number;

  constructor(settings: TransportSettings) {
    this.#settings = settings;
    this.#patienceMs = settings.timeoutMs / Math.max(2, settings.endpoints.length);
  }

  /** @throws {EtcdError} */
  post<S extends z.ZodType>(post: EtcdPost, reply: S): Promise<z.output<S>> {
    return this.#inTime(post, async (response) => {
      const text = await response.text();
      return understood(post, JSON.parse(text), reply);
    });
  }

  /**
   * Opens a stream and waits for its first message; only that far has it to be in time.
   * @throws {EtcdError} here; what the stream throws later is anything
   */
  stream<S extends z.ZodType>(post: EtcdPost, message: S): Promise<AsyncGenerator<z.output<S>, void, undefined>> {
    return this.#inTime(post, async (response) => {
      if (!response.body) throw new EtcdError(`${named(post)} answered without a body.`);
      const messages = understoodEach(post, jsonLines(response.body), message);
      const first = await messages.next();
      if (first.done) throw new EtcdError(`${named(post)} ended its stream before the first message.`);
      return following(first.value, messages);
    });
  }

  async #inTime<T>(post: EtcdPost, read: (response: Response) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const cancel = this.#settings.clock.after(this.#patienceMs, () => late.abort());
    const { endpoint, path, body, token, signal } = post;
    try {
      const response = await this.#settings.fetch(`${endpoint}/v3/${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...(token ? { authorization: token } : {}) },
        signal: AbortSignal.any([late.signal, signal]),
      });
      return await read(response);
    } catch (error) {
      if (error instanceof EtcdError) throw error;
      const because = late.signal.aborted || signal.aborted ? 'it did not answer in time' : reason(error);
      throw new EtcdError(`${named(post)} could not be asked: ${because}.`, undefined, { cause: error });
    } finally {
      cancel();
    }
  }
}

/** `fetch` says only that it failed; why stands in the cause. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

function named({ endpoint, path }: EtcdPost): string {
  return `etcd at ${endpoint} (${path})`;
}

function understood<S extends z.ZodType>(post: EtcdPost, message: unknown, schema: S): z.output<S> {
  // A stream refuses with the status 200, so the body decides and not the status.
  const refused = refusal.safeParse(message);
  if (refused.success) throw new EtcdError(`${named(post)} refused: ${refused.data.message}.`, refused.data.status);
  const read = schema.safeParse(message);
  if (read.success) return read.data;
  const because = read.error.issues[0]?.message;
  throw new EtcdError(`${named(post)} sent a reply that etcd 3.4 or newer doesn't send: ${because}.`, UNKNOWN);
}

async function* understoodEach<S extends z.ZodType>(
  post: EtcdPost,
  messages: AsyncIterable<unknown>,
  schema: S,
): AsyncGenerator<z.output<S>, void, undefined> {
  for await (const message of messages) yield understood(post, message, schema);
}

async function* following<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  yield first;
  yield* rest;
}

/** The messages of a stream, one JSON value to a line. */
export async function* jsonLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<unknown, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line);
  }
}
