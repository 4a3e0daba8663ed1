import type { z } from 'zod';
import { sleep } from '../base/clock.js';
import { Gate } from '../base/gate.js';
import { EtcdError, isPassing, isStaleToken } from './etcd-error.js';
import { etcdSettings } from './etcd-options.js';
import type { EtcdOptions, EtcdSettings } from './etcd-options.js';
import { tokenReply } from './etcd-replies.js';
import { EtcdTransport } from './etcd-transport.js';
import type { EtcdPost } from './etcd-transport.js';

/** One member of the cluster, for the time of one attempt. */
export interface EtcdMember {
  /** @throws {EtcdError} */
  post<S extends z.ZodType>(path: string, body: object, reply: S): Promise<z.output<S>>;
  /** @param opening the request, and the signal that ends the stream */
  stream<S extends z.ZodType>(
    path: string,
    opening: { readonly body: object; readonly stop: AbortSignal },
    message: S,
  ): Promise<AsyncGenerator<z.output<S>, void, undefined>>;
}

/** Each is a connection of its own, as HTTP/1.1 answers one request at a time. */
const REQUESTS_AT_ONCE = 64;
/** An election takes about a second, without a leader meanwhile. */
const PAUSE_MS = 50;

/**
 * etcd 3.4 or newer by its JSON gateway, https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway/.
 *
 * The gateway is part of every etcd and speaks what Node speaks, so that nothing has to be installed. The client for Node,
 * `etcd3`, has had no release since 2023 and brings gRPC with it.
 */
export class EtcdClient {
  readonly #settings: EtcdSettings;
  readonly #transport: EtcdTransport;
  readonly #gate = new Gate(REQUESTS_AT_ONCE);
  #preferred = 0;
  #token: Promise<string> | undefined;

  /** @throws {SetupError} */
  constructor(options: EtcdOptions) {
    this.#settings = etcdSettings(options);
    this.#transport = new EtcdTransport(this.#settings);
  }

  /**
   * Lets `flow` ask one member, and all of it another one when that fails, until the time is up.
   *
   * Whatever was asked may have been done although no answer came, and may still be done later: a flow has to be one that
   * can begin anew, and compares before it writes.
   * @param stop ends it before that
   * @throws {EtcdError} the last failure, or what etcd refused
   */
  async ask<T>(flow: (member: EtcdMember) => Promise<T>, stop?: AbortSignal): Promise<T> {
    const over = new AbortController();
    const end = () => over.abort();
    const cancel = this.#settings.clock.after(this.#settings.timeoutMs, end);
    stop?.addEventListener('abort', end);
    try {
      return await this.#askInTurn(flow, over.signal);
    } finally {
      stop?.removeEventListener('abort', end);
      cancel();
    }
  }

  async #askInTurn<T>(flow: (member: EtcdMember) => Promise<T>, over: AbortSignal): Promise<T> {
    const { endpoints, clock } = this.#settings;
    for (let attempt = 1; ; attempt += 1) {
      const index = this.#preferred;
      try {
        return await flow(this.#member(endpoints[index] ?? '', over));
      } catch (error) {
        if (!isPassing(error)) throw error;
        // Of many calls that fail at once the first one moves on, or two would come back to where they were.
        if (this.#preferred === index) this.#preferred = (index + 1) % endpoints.length;
        if (attempt % endpoints.length === 0) await sleep(clock, PAUSE_MS, over);
        if (over.aborted) throw error;
      }
    }
  }

  #member(endpoint: string, over: AbortSignal): EtcdMember {
    return {
      post: (path, body, reply) =>
        this.#gate.through(() =>
          this.#authorized({ endpoint, path, body, signal: over }, (post) => this.#transport.post(post, reply)),
        ),
      stream: (path, { body, stop }, message) => {
        const signal = AbortSignal.any([over, stop]);
        return this.#authorized({ endpoint, path, body, signal }, (post) => this.#transport.stream(post, message));
      },
    };
  }

  async #authorized<T>(post: EtcdPost, send: (post: EtcdPost) => Promise<T>): Promise<T> {
    if (post.signal.aborted)
      throw new EtcdError(`etcd at ${post.endpoint} (${post.path}) was not asked: the time is up.`);
    if (!this.#settings.user) return send(post);
    try {
      return await send({ ...post, token: await this.#authenticate(post) });
    } catch (error) {
      if (!isStaleToken(error)) throw error;
      this.#token = undefined;
      return send({ ...post, token: await this.#authenticate(post) });
    }
  }

  #authenticate({ endpoint, signal }: EtcdPost): Promise<string> {
    this.#token ??= this.#transport
      .post({ endpoint, path: 'auth/authenticate', body: this.#settings.user ?? {}, signal }, tokenReply)
      .then(({ token }) => token);
    const token = this.#token;
    // Only a token is kept: after a failure, the next call asks again.
    token.catch(() => {
      if (this.#token === token) this.#token = undefined;
    });
    return token;
  }
}
