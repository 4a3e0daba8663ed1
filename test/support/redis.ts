import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { findRedisServer } from '../../scripts/redis.mjs';

/** The Redis that all tests share; each keeps to its own prefix. */
export function testRedis(): string {
  const url = process.env['REDIS_URL'];
  if (!url)
    throw new Error('Expected REDIS_URL: run the tests with the root vitest.config.ts, whose global setup sets it.');
  return url;
}

/** A prefix no other test uses, so that tests can run at once and after each other on one server. */
export function freshPrefix(): string {
  return `test-${randomUUID().slice(0, 13)}`;
}

export interface PrivateRedis {
  readonly url: string;
  readonly port: number;
  /** Changes with a restart. */
  readonly pid: number;
  stop(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing is answered, as on a host that swaps or is paused. */
  freeze(): void;
  thaw(): void;
  /** A new process without data on the same port. */
  restartEmpty(): Promise<void>;
}

/**
 * A server for one test to freeze, stop and restart.
 * @param settings of redis.conf, such as `{ requirepass: 'secret' }`
 */
export async function privateRedis(settings: Record<string, string> = {}): Promise<PrivateRedis> {
  const port = await freePort();
  const all = { bind: '127.0.0.1', port: `${port}`, save: '', appendonly: 'no', ...settings };
  let server = await start(all);
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return server.pid;
    },
    stop: () => server.end(),
    freeze: () => void process.kill(server.pid, 'SIGSTOP'),
    thaw: () => void process.kill(server.pid, 'SIGCONT'),
    restartEmpty: async () => {
      await server.end();
      server = await start(all);
    },
  };
}

interface Server {
  readonly pid: number;
  end(): Promise<void>;
}

/**
 * The shell outlives nobody: it reads a pipe from us, which the kernel closes however this process ends, and then ends
 * the server and removes its folder. SIGKILL, because a frozen server would not hear anything else, and nothing in it is
 * to be kept.
 */
const GUARD = '"$0" "$@" & echo "pid=$!"; cat >/dev/null; kill -9 $!; wait; rm -r "$PWD"';

async function start(settings: Record<string, string>): Promise<Server> {
  const { command, env } = await ownServer();
  const args = Object.entries(settings).flatMap(([key, value]) => [`--${key}`, value]);
  // Detached, so that Ctrl-C reaches the tests and not their servers.
  const guard = spawn('/bin/sh', ['-c', GUARD, command, ...args], {
    // A folder of its own: a server in cluster mode writes into it.
    cwd: mkdtempSync(join(tmpdir(), 'test-redis-')),
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  const ended = once(guard, 'exit');
  const end = async () => {
    guard.stdin.end();
    await ended;
  };
  try {
    return { pid: await ready(guard.stdout), end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** @returns the server's pid. Read from its own output: a port that answers may be somebody else's. */
function ready(output: Readable): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = '';
    output.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('Ready to accept connections')) resolve(Number(/^pid=(\d+)$/m.exec(said)?.[1]));
      if (/FATAL|Failed|not found/.test(said)) reject(new Error(`The private Redis did not start: ${said.trim()}`));
    });
  });
}

/** The resolver prefers the shared server of REDIS_URL, which is not ours to freeze. */
async function ownServer(): Promise<{ command: string; env: NodeJS.ProcessEnv }> {
  const shared = process.env['REDIS_URL'];
  delete process.env['REDIS_URL'];
  // It reads the variable before its first pause, so that nobody else misses it meanwhile.
  const finding = findRedisServer();
  if (shared !== undefined) process.env['REDIS_URL'] = shared;
  const { command, env = process.env, how } = await finding;
  if (!command) throw new Error(`Expected a redis-server to start for this test, found only ${how}.`);
  return { command, env };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
