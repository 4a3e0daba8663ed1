import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findRedisServer } from '../../scripts/redis.mjs';

const execute = promisify(execFile);
const SCRIPTS = fileURLToPath(new URL('../../scripts/', import.meta.url));

/** What a started caller reports: either a Redis, or why there is none. */
export interface Report {
  readonly url: string;
  readonly how: string;
  readonly pid?: number;
  readonly error?: string;
}

/** What {@link Newcomer.asks} brings: a program, or a file, or why there is none. */
export interface Answer {
  readonly command?: string;
  readonly path?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly how?: string;
  readonly error?: string;
}

export interface Caller {
  readonly process: ChildProcess;
  readonly report: Report;
  readonly lines: AsyncIterator<string>;
}

/** A newcomer's machine in a folder: its own clone with the resolver in it, its own PATH and its own temp folder. */
export class Newcomer {
  readonly home = mkdtempSync(join(tmpdir(), 'newcomer-'));
  readonly bin = this.folder('bin');
  readonly temp = this.folder('temp');
  private readonly scripts = this.folder('clone/scripts');
  private readonly callers: ChildProcess[] = [];

  constructor() {
    for (const name of ['redis.mjs', 'debian.mjs']) copyFileSync(join(SCRIPTS, name), join(this.scripts, name));
  }

  /** A program on this machine's PATH, as a shell script; each call of it is noted. Only such scripts see other programs. */
  program(name: string, body: string): void {
    const file = join(this.bin, name);
    writeFileSync(file, `#!/bin/sh\nPATH=/usr/bin:/bin\necho "$@" >> ${join(this.home, name)}.calls\n${body}\n`);
    chmodSync(file, 0o755);
  }

  calls(name: string): string[] {
    const file = join(this.home, `${name}.calls`);
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  /** Starts a process that starts a Redis, tells of it, and then does what `then` says. */
  async caller(then = '', env: NodeJS.ProcessEnv = {}): Promise<Caller> {
    const code = `
      ${env.UID === undefined ? '' : `process.getuid = () => ${env.UID};`}
      const { startRedis } = await import(${JSON.stringify(join(this.scripts, 'redis.mjs'))});
      const redis = await startRedis().catch((error) => ({ error: error.message }));
      console.log(JSON.stringify(redis));
      ${then}`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      env: { PATH: this.bin, TMPDIR: this.temp, ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    this.callers.push(child);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const { value } = await lines.next();
    return { process: child, report: JSON.parse(String(value)) as Report, lines };
  }

  /** What debian.mjs answers on this machine to the user with this id. */
  async asks(question: string, uid: string): Promise<Answer> {
    const code = `
      process.getuid = () => ${uid};
      const debian = await import(${JSON.stringify(join(this.scripts, 'debian.mjs'))});
      console.log(JSON.stringify(await ${question}.catch((error) => ({ error: error.message }))));`;
    const env = { PATH: this.bin, TMPDIR: this.temp };
    const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', code], { env });
    return JSON.parse(stdout) as Answer;
  }

  async leave(): Promise<void> {
    for (const child of this.callers) {
      if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
    }
    rmSync(this.home, { recursive: true, force: true });
  }

  folder(name: string): string {
    const path = join(this.home, name);
    mkdirSync(path, { recursive: true });
    return path;
  }
}

/** Keeps a caller alive until somebody ends it. */
export const STAY = 'process.stdin.resume();';

/** The words with which a shell script becomes the real server of this machine. */
export async function realServer(): Promise<string> {
  const address = process.env.REDIS_URL;
  delete process.env.REDIS_URL;
  try {
    const { command, env } = await findRedisServer();
    if (!command) throw new Error('Expected a redis-server to run here, and only Docker has one.');
    return `LD_LIBRARY_PATH="${env?.LD_LIBRARY_PATH ?? ''}" exec ${command} "$@"`;
  } finally {
    process.env.REDIS_URL = address;
  }
}

/** Resolves once connected, with a promise that tells when the server is gone. */
export async function connectTo(url: string): Promise<{ gone: Promise<unknown>; end(): void }> {
  const { hostname, port } = new URL(url);
  const socket = createConnection(Number(port), hostname);
  await once(socket, 'connect');
  socket.on('error', () => {});
  const gone = new Promise((resolve) => socket.on('close', resolve));
  return { gone, end: () => socket.destroy() };
}
