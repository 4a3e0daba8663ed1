import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { ConsulState, type NewSession, type Operation } from './consul-state.js';

export interface ConsulDouble {
  readonly url: string;
  readonly sessions: number;
  /** How many queries hang until something changes. */
  readonly waiting: number;
  /** Lets its time pass. */
  advance(ms: number): void;
  /** The failure detector takes the node of all sessions for dead. */
  nodeSeemsDown(): void;
  /** Everything is as it was when `before` ran; then `meanwhile` has not happened. */
  restoreAfter(meanwhile: () => Promise<unknown>): Promise<void>;
  /** It knows nothing any more, and counts from the beginning. */
  forget(): void;
  /** The next requests are refused, as without a leader. */
  refuse(howMany: number): void;
  stop(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly index?: number;
}

const MAX_OPERATIONS = 128;

/** The HTTP API in front of a {@link ConsulState}: `API/...` in its comments is a page of Consul's, as there. */
export async function consulDouble({ token }: { token?: string } = {}): Promise<ConsulDouble> {
  let passed = 0;
  let refusing = 0;
  const now = () => performance.now() + passed;
  const state = new ConsulState(now);
  const nothing = state.snapshot();
  const waiting = new Set<(restored: boolean) => void>();
  const changed = (restored = false) => {
    for (const look of [...waiting]) look(restored);
  };

  const server = createServer((request, response) => void serve(request, response));

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const url = new URL(request.url ?? '/', 'http://localhost');
    state.expire();
    const answer = refused(request) ?? (await route(url, body, response));
    changed();
    response.statusCode = answer.status;
    if (answer.index !== undefined) response.setHeader('X-Consul-Index', answer.index);
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  }

  function refused({ headers }: IncomingMessage): Answer | undefined {
    // API/api-structure › Authentication: the token is a header.
    if (token !== undefined && headers['x-consul-token'] !== token) return { status: 403, body: 'Permission denied' };
    refusing -= 1;
    return refusing >= 0 ? { status: 500, body: 'No cluster leader' } : undefined;
  }

  async function route({ pathname, searchParams }: URL, body: string, response: ServerResponse): Promise<Answer> {
    const path = pathname.replace(/^\/v1\//, '');
    const id = path.split('/').at(-1) ?? '';
    if (path === 'txn') return transact((JSON.parse(body) as { KV: Operation }[]).map(({ KV }) => KV));
    if (path === 'session/create') return created(state.createSession(JSON.parse(body) as NewSession));
    if (path.startsWith('session/renew/')) return renewed(id);
    if (path.startsWith('session/destroy/')) return destroyed(id);
    if (path.startsWith('kv/')) return recurse(path.slice('kv/'.length), searchParams, response);
    return { status: 404, body: '' };
  }

  /** API/txn › Sample Response: 200 when it was applied, 409 when it was rolled back. */
  function transact(operations: readonly Operation[]): Answer {
    // API/txn › Sample Payload: "Up to 128 operations may be present in a single transaction."
    if (operations.length > MAX_OPERATIONS) return { status: 413, body: 'Transaction contains too many operations' };
    const results = state.transact(operations);
    if (!('failed' in results)) return { status: 200, body: { Results: results.map((KV) => ({ KV })), Errors: null } };
    return { status: 409, body: { Results: null, Errors: [{ OpIndex: results.failed, What: 'failed' }] } };
  }

  function created(id: string | undefined): Answer {
    return id === undefined ? { status: 400, body: 'Invalid Session TTL' } : { status: 200, body: { ID: id } };
  }

  /** 404 for one that is over: `SessionRenew` in agent/session_endpoint.go of hashicorp/consul; API/session is silent about it. */
  function renewed(id: string): Answer {
    return state.renewSession(id)
      ? { status: 200, body: [{ ID: id }] }
      : { status: 404, body: `Session id '${id}' not found` };
  }

  /** API/session › Delete Session: "If the session UUID does not exist or already expired, a 200 is still returned". */
  function destroyed(id: string): Answer {
    state.invalidate(id);
    return { status: 200, body: true };
  }

  /** API/kv › Read Key: 404 for nothing. API/features/blocking: hangs until the index has changed, or for `wait`. */
  async function recurse(prefix: string, query: URLSearchParams, response: ServerResponse): Promise<Answer> {
    const seen = Number(query.get('index') ?? 0);
    const waitMs = 1_000 * Number.parseInt(query.get('wait') ?? '300', 10);
    if (seen > 0 && state.below(prefix).index <= seen) await untilChanged(prefix, { seen, waitMs, response });
    const { index, shown } = state.below(prefix);
    return { status: shown.length > 0 ? 200 : 404, body: shown.length > 0 ? shown : '', index };
  }

  function untilChanged(
    prefix: string,
    { seen, waitMs, response }: { seen: number; waitMs: number; response: ServerResponse },
  ): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        waiting.delete(look);
        resolve();
      };
      const look = (restored: boolean) => {
        if (restored || state.below(prefix).index > seen) done();
      };
      const timer = setTimeout(done, waitMs);
      waiting.add(look);
      response.on('close', done);
    });
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get sessions() {
      return state.sessions;
    },
    get waiting() {
      return waiting.size;
    },
    advance: (ms) => {
      passed += ms;
      state.expire();
      changed();
    },
    nodeSeemsDown: () => state.nodeSeemsDown(),
    restoreAfter: async (meanwhile) => {
      const before = state.snapshot();
      await meanwhile();
      state.restore(before);
      changed(true);
    },
    forget: () => {
      state.restore(nothing);
      changed(true);
    },
    refuse: (howMany) => {
      refusing = howMany;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
