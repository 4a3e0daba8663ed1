import type { z } from 'zod';
import { Gate } from '../base/gate.js';
import { InTurn } from '../base/in-turn.js';
import { ConsulError, UNEXPECTED, isPassing } from './consul-error.js';
import { consulSettings } from './consul-options.js';
import type { ConsulOptions, ConsulSettings } from './consul-options.js';

export interface ConsulRequest {
  readonly method: 'GET' | 'PUT';
  /** Below `/v1/`, with its query. */
  readonly path: string;
  readonly body?: object;
  /** Statuses that are answers, besides 200; their bodies are read as the schema says. */
  readonly answers?: readonly number[];
}

export interface ConsulReply<T> {
  readonly status: number;
  /** `X-Consul-Index`, of requests that can block. */
  readonly index: number;
  readonly body: T;
}

/** One server or agent, for the time of one attempt. */
export interface ConsulAgent {
  /** @throws {ConsulError} */
  send<S extends z.ZodType>(request: ConsulRequest, reply: S): Promise<ConsulReply<z.output<S>>>;
}

/** Each is a connection of its own, as HTTP/1.1 answers one request at a time. An agent lets 200 in from one address. */
const REQUESTS_AT_ONCE = 64;
const OK = 200;
const MAX_SAID = 200;

/** Consul 1.7 or newer by its HTTP API, https://developer.hashicorp.com/consul/api-docs. */
export class ConsulClient {
  readonly settings: ConsulSettings;
  readonly #gate = new Gate(REQUESTS_AT_ONCE);
  readonly #turns: InTurn;
  readonly #patienceMs: number;
  #blockedAt = 0;

  /** @throws {SetupError} */
  constructor(options: ConsulOptions) {
    this.settings = consulSettings(options);
    const { endpoints, clock, timeoutMs } = this.settings;
    const late = () => new ConsulError(`Consul did not answer in time: ${timeoutMs} ms.`);
    this.#turns = new InTurn({ servers: endpoints.length, clock, timeoutMs, isPassing, late });
    // An agent that hangs may not use up the whole call: there is time left to ask another one, or the same one again.
    this.#patienceMs = timeoutMs / Math.max(2, endpoints.length);
  }

  /**
   * Lets `flow` ask one agent, and all of it another one when that fails.
   * @throws {ConsulError} the last failure, or what Consul refused
   */
  ask<T>(flow: (agent: ConsulAgent) => Promise<T>): Promise<T> {
    return this.#turns.ask((index, over) =>
      flow({
        send: (request, reply) =>
          this.#gate.through(() => this.#send(index, request, { reply, stop: over, patienceMs: this.#patienceMs })),
      }),
    );
  }

  /**
   * A request that may hang for `waitMs` on purpose. After a failure, the next one goes to another agent.
   * @throws {ConsulError}
   */
  async block<S extends z.ZodType>(
    request: ConsulRequest,
    { reply, waitMs, stop }: { reply: S; waitMs: number; stop: AbortSignal },
  ): Promise<ConsulReply<z.output<S>>> {
    try {
      return await this.#send(this.#blockedAt, request, { reply, stop, patienceMs: waitMs + this.#patienceMs });
    } catch (error) {
      this.#blockedAt = (this.#blockedAt + 1) % this.settings.endpoints.length;
      throw error;
    }
  }

  async #send<S extends z.ZodType>(
    index: number,
    request: ConsulRequest,
    { reply, stop, patienceMs }: { reply: S; stop: AbortSignal; patienceMs: number },
  ): Promise<ConsulReply<z.output<S>>> {
    const name = `Consul at ${this.settings.endpoints[index]} (${request.path.split('?')[0]})`;
    const late = new AbortController();
    const cancel = this.settings.clock.after(patienceMs, () => late.abort());
    try {
      const response = await this.#fetch(index, request, AbortSignal.any([late.signal, stop]));
      return understood(name, { response, text: await response.text(), request }, reply);
    } catch (error) {
      if (error instanceof ConsulError) throw error;
      const because = late.signal.aborted || stop.aborted ? 'it did not answer in time' : reason(error);
      throw new ConsulError(`${name} could not be asked: ${because}.`, undefined, { cause: error });
    } finally {
      cancel();
    }
  }

  #fetch(index: number, { method, path, body }: ConsulRequest, signal: AbortSignal): Promise<Response> {
    const { endpoints, fetch, token } = this.settings;
    return fetch(`${endpoints[index]}/v1/${path}`, {
      ...{ method, signal, headers: token === undefined ? {} : { 'x-consul-token': token } },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  }
}

interface Answer {
  readonly response: Response;
  readonly text: string;
  readonly request: ConsulRequest;
}

function understood<S extends z.ZodType>(
  name: string,
  { response, text, request }: Answer,
  schema: S,
): ConsulReply<z.output<S>> {
  const { status, headers } = response;
  if (status !== OK && !request.answers?.includes(status)) {
    throw new ConsulError(`${name} refused with ${status}: ${text.trim().slice(0, MAX_SAID)}.`, status);
  }
  const read = schema.safeParse(json(text));
  if (!read.success)
    throw new ConsulError(`${name} sent a reply that Consul doesn't send: ${read.error.message}.`, UNEXPECTED);
  return { status, index: Number(headers.get('x-consul-index') ?? 0), body: read.data };
}

/** Some refusals have a text or nothing for a body. */
function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `fetch` says only that it failed; why stands in the cause. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
