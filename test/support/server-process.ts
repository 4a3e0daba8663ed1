import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ServerProcess {
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
    return { pid, end };
  } catch (error) {
    await end();
    throw error;
  }
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
