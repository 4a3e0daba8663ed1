import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ConnectQuorumOptions } from '@fencepost/lease/quorum';
import type { AcquireReply, AcquireRequest, Term } from '@fencepost/lease/store';
import { ensureProgram, onPath } from '../../scripts/debian.mjs';
import { execFile, spawn, type ChildProcessByStdio } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';

const PORT = 6379;
const RUNNER = fileURLToPath(new URL('../support/run-source.mjs', import.meta.url));
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

const run = promisify(execFile);

/** A machine of its own, as far as the network goes. */
export interface Host {
  readonly name: string;
  readonly address: string;
  /** Starts a program inside; it ends with the network at the latest. */
  spawn(command: string, args: readonly string[], cwd?: string): ChildProcessByStdio<Writable, Readable, null>;
}

export interface Network {
  readonly hosts: readonly Host[];
  /** Two networks that know nothing of each other: the hosts with these numbers, and the others. */
  cut(apart: readonly number[]): Promise<void>;
  heal(): Promise<void>;
  readonly close: () => Promise<void>;
}

type Ip = (...args: readonly string[]) => Promise<unknown>;

/**
 * Ends what runs in the namespaces of a network, and removes them. A process of its own that reads a pipe from us, which the
 * kernel closes however this process ends.
 */
const GUARD =
  'cat >/dev/null; ip="$1"; shift; for ns in "$@"; do "$ip" netns pids "$ns" | xargs -r kill -9; "$ip" netns del "$ns"; done';

/**
 * Hosts on one switch, in network namespaces that nobody else has. The switch has a namespace too, so that nothing of this is
 * seen on the machine.
 * @returns why it can't be, in a few words, where namespaces aren't permitted
 */
export async function network(size: number): Promise<Network | string> {
  const [command, refused] = await permitted();
  if (refused !== undefined) return refused;
  const ip: Ip = (...args) => run(command, args);
  const id = `fp-${randomUUID().slice(0, 8)}`;
  const hub = `${id}-hub`;
  const names = Array.from({ length: size }, (_, n) => `${id}-${n}`);
  const guard = spawn('/bin/sh', ['-c', GUARD, 'sh', command, hub, ...names], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  const ended = once(guard, 'exit');
  const close = async () => {
    guard.stdin.end();
    await ended;
  };
  try {
    await wire(ip, hub, names);
  } catch (error) {
    await close();
    throw error;
  }
  const plug = (n: number, bridge: string) => ip('-n', hub, 'link', 'set', `port${n}`, 'master', bridge);
  return {
    hosts: names.map((name, n) => hostOf(command, name, n)),
    cut: async (apart) => void (await Promise.all(apart.map((n) => plug(n, 'apart')))),
    heal: async () => void (await Promise.all(names.map((_, n) => plug(n, 'main')))),
    close,
  };
}

async function permitted(): Promise<[command: string, refused?: string]> {
  if (process.platform !== 'linux') return ['', 'there are no network namespaces on this system'];
  if (process.getuid?.() !== 0) return ['', 'this is not root'];
  const probe = `fp-${randomUUID().slice(0, 8)}-probe`;
  try {
    const { command } = await ensureProgram('ip', { package: 'iproute2' });
    await run(command, ['netns', 'add', probe]);
    try {
      await run(command, ['-n', probe, 'link', 'add', 'probe', 'type', 'bridge']);
      await run(command, ['-n', probe, 'link', 'add', 'one', 'type', 'veth', 'peer', 'name', 'other']);
    } finally {
      await run(command, ['netns', 'del', probe]);
    }
    return [command];
  } catch (error) {
    return ['', (error as Error).message.trim().split('\n').at(-1) ?? 'it is not permitted'];
  }
}

async function wire(ip: Ip, hub: string, names: readonly string[]): Promise<void> {
  await ip('netns', 'add', hub);
  for (const bridge of ['main', 'apart']) {
    await ip('-n', hub, 'link', 'add', bridge, 'type', 'bridge');
    await ip('-n', hub, 'link', 'set', bridge, 'up');
  }
  for (const [n, name] of names.entries()) {
    await ip('netns', 'add', name);
    await ip('-n', hub, 'link', 'add', `port${n}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    await ip('-n', hub, 'link', 'set', `port${n}`, 'master', 'main', 'up');
    await ip('-n', name, 'address', 'add', `${addressOf(n)}/24`, 'dev', 'eth0');
    await ip('-n', name, 'link', 'set', 'eth0', 'up');
    await ip('-n', name, 'link', 'set', 'lo', 'up');
  }
}

/** From the addresses reserved for examples; nobody else is on these wires. */
function addressOf(n: number): string {
  return `192.0.2.${n + 1}`;
}

function hostOf(command: string, name: string, n: number): Host {
  return {
    name,
    address: addressOf(n),
    spawn: (program, args, cwd) =>
      spawn(command, ['netns', 'exec', name, program, ...args], {
        stdio: ['pipe', 'pipe', 'inherit'],
        ...(cwd === undefined ? {} : { cwd }),
      }),
  };
}
