import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ConnectQuorumOptions } from '@fencepost/lease/quorum';
import type { AcquireReply, AcquireRequest, Term } from '@fencepost/lease/store';
import { ensureProgram, onPath } from '../../scripts/debian.mjs';
import type { Host } from './netns.js';

const PORT = 6379;
const RUNNER = fileURLToPath(new URL('run-source.mjs', import.meta.url));
const CLIENT = fileURLToPath(new URL('../programs/quorum-client.ts', import.meta.url));

/** A Redis that forgets nothing, on a host of its own; it ends with the network. */
export async function redisOn(host: Host): Promise<{ readonly url: string; readonly remove: () => void }> {
  const command = onPath('valkey-server') ?? (await ensureProgram('redis-server', { service: 'redis-server' })).command;
  const folder = mkdtempSync(join(tmpdir(), 'netns-redis-'));
  const durable = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
  const server = host.spawn(
    command,
    ['--bind', host.address, '--protected-mode', 'no', '--port', `${PORT}`, ...durable],
    folder,
  );
  let said = '';
  for await (const chunk of server.stdout) {
    said += String(chunk);
    if (said.includes('Ready to accept connections')) {
      const url = `redis://${host.address}:${PORT}`;
      return { url, remove: () => rmSync(folder, { recursive: true, force: true }) };
    }
  }
  throw new Error(`The Redis on ${host.name} did not start: ${said.trim()}`);
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** A process on a host that uses the quorum. */
export class NetnsClient {
  readonly #child: ReturnType<Host['spawn']>;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #ended: Promise<unknown>;
  #last = 0;

  private constructor(host: Host, options: ConnectQuorumOptions) {
    this.#child = host.spawn(process.execPath, [RUNNER, CLIENT, JSON.stringify(options)]);
    this.#ended = once(this.#child, 'exit');
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const answer = JSON.parse(line) as Answer;
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
  }

  static async connect(host: Host, options: ConnectQuorumOptions): Promise<NetnsClient> {
    const client = new NetnsClient(host, options);
    const connected = client.#answer(0);
    const gone = client.#ended.then(() => {
      throw new Error(`The client on ${host.name} ended before it was connected.`);
    });
    await Promise.race([connected, gone]);
    return client;
  }

  /** An outage is "not acquired" here: the test asks who holds. */
  acquire(request: AcquireRequest): Promise<AcquireReply | 'QUORUM_UNAVAILABLE'> {
    return this.#call('acquire', [request]) as Promise<AcquireReply | 'QUORUM_UNAVAILABLE'>;
  }

  renew(term: Term, ttlMs: number): Promise<unknown> {
    return this.#call('renew', [[term], ttlMs]);
  }

  release(term: Term): Promise<unknown> {
    return this.#call('release', [[term]]);
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    await this.#ended;
  }

  async #call(call: string, args: readonly unknown[]): Promise<unknown> {
    const id = (this.#last += 1);
    const answered = this.#answer(id);
    this.#child.stdin.write(`${JSON.stringify({ id, call, args })}\n`);
    const { value, error } = await answered;
    return error ?? value;
  }

  #answer(id: number): Promise<Answer> {
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }
}
