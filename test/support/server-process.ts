import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Freezable {
  /** SIGSTOP: connections stay open and nothing is answered, as on a host that swaps or is paused; no more once it returns. */
  freeze(): void;
  thaw(): void;
}

export interface ServerProcess extends Freezable {
  readonly pid: number;
  /** SIGKILL, because a frozen server would not hear anything else. Its folder goes with it, unless it is to be kept. */
  end(keep?: 'keep'): Promise<void>;
}

export interface ServerProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** A folder of its own. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** What it says when it is ready, read from its own output: a port that answers may be somebody else's. */
  readonly ready?: RegExp;
  /** What it says when it never will be. */
  readonly failed?: RegExp;
}

/** The shell outlives nobody: it reads a pipe from us, which the kernel closes however this process ends. */
const GUARD = '"$0" "$@" & echo "pid=$!"; keep=; read keep; kill -9 $!; wait; [ "$keep" ] || rm -r "$PWD"';

/**
 * Starts a server that ends with this process, however that ends.
 * @throws when it says that it failed, or ends without a word; nothing is left running then
 */
export async function serverProcess(program: ServerProgram): Promise<ServerProcess> {
  const { command, args, cwd, env, ready = /^pid=/, failed } = program;
  // Detached, so that Ctrl-C reaches the tests and not their servers.
  const options = { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] as ['pipe', 'pipe', 'ignore'], detached: true };
  const guard = spawn('/bin/sh', ['-c', GUARD, command, ...args], options);
  const ended = once(guard, 'exit');
  const end = async (keep?: 'keep') => {
    if (guard.exitCode === null) guard.stdin.end(keep ? 'keep\n' : '');
    await ended;
  };
  try {
    const pid = await new Promise<number>((resolve, reject) => {
      let said = '';
      const refuse = () => reject(new Error(`${command} did not start: ${said.trim()}`));
      guard.stdout.on('end', refuse).on('data', (chunk: Buffer) => {
        said = said.slice(-10_000) + chunk.toString();
        if (ready.test(said)) resolve(Number(/^pid=(\d+)$/m.exec(said)?.[1]));
        if (failed?.test(said)) refuse();
      });
    });
    return { pid, end, freeze: () => freeze(pid), thaw: () => void process.kill(pid, 'SIGCONT') };
  } catch (error) {
    await end();
    throw error;
  }
}

const MAX_FREEZING_MS = 10_000;

/** The first thread that hears of it stops the others. On a busy machine that one may wait while the others answer yet. */
function freeze(pid: number): void {
  process.kill(pid, 'SIGSTOP');
  const since = performance.now();
  while (threadsOf(pid).some(isRunning)) {
    if (performance.now() - since > MAX_FREEZING_MS) throw new Error(`Process ${pid} did not stop for SIGSTOP.`);
  }
}

/** The state of each thread, as `/proc/<pid>/task/<tid>/stat` has it; none where there is no such folder. */
function threadsOf(pid: number): string[] {
  const folder = `/proc/${pid}/task`;
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((thread) => {
    try {
      return readFileSync(join(folder, thread, 'stat'), 'utf8');
    } catch {
      return []; // It has ended since.
    }
  });
}

/** The name of a thread stands in brackets before its state, and may hold some itself. */
function isRunning(stat: string): boolean {
  return !/^ [TtZX]/.test(stat.slice(stat.lastIndexOf(')') + 1));
}

const IN_MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 ** 30;

/**
 * A new folder for a server that a test starts, in memory where there is room. What is written there survives the server,
 * however that ends, as on a disk; only nobody has to wait until a disk that others use has it. A server that syncs each
 * write waited for a second on such a disk: its clients saw an outage that nobody had made.
 */
export function serverFolder(prefix: string): string {
  return mkdtempSync(join(hasSpace(IN_MEMORY) ? IN_MEMORY : tmpdir(), prefix));
}

function hasSpace(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > ENOUGH_BYTES;
  } catch {
    return false;
  }
}
