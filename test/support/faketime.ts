import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { endianness, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureProgram, onPath, run } from '../../scripts/debian.mjs';

/**
 * A wall clock for one server, which can be stepped while it runs. Not Debian's libfaketime: a Redis with jemalloc doesn't
 * start under it, because the allocator asks for the time while the library still looks for the real function.
 */
export interface WallClock {
  /** What the server has to be started with. */
  readonly env: NodeJS.ProcessEnv;
  /** What the server takes for now, milliseconds since the Unix epoch. */
  now(): number;
  /** Sets it this far ahead of this machine's clock; a negative number is behind. */
  setAhead(ms: number): void;
  step(ms: number): void;
}

export interface WallClocks {
  clock(): WallClock;
  /** When no server uses one any more. */
  close(): void;
}

/** @throws where the shim can't be built or preloaded, with a sentence that says why */
export async function wallClocks(): Promise<WallClocks> {
  if (process.platform !== 'linux') {
    throw new Error(
      `Expected Linux, where a server's clock can be stepped by a preloaded library, got ${process.platform}.`,
    );
  }
  const folder = mkdtempSync(join(tmpdir(), 'test-clocks-'));
  // A PostgreSQL that root has started runs as another user.
  chmodSync(folder, 0o755);
  const library = await build(folder);
  const files: number[] = [];
  return {
    clock: () => {
      const path = join(folder, `ahead-${files.length}`);
      writeFileSync(path, bytes(0));
      const file = openSync(path, 'r+');
      files.push(file);
      return wallClock(file, { LD_PRELOAD: library, WALL_CLOCK_FILE: path });
    },
    close: () => {
      files.forEach(closeSync);
      rmSync(folder, { recursive: true });
    },
  };
}

function wallClock(file: number, env: NodeJS.ProcessEnv): WallClock {
  let aheadMs = 0;
  const setAhead = (ms: number) => {
    aheadMs = ms;
    // In place: a file that was cut short for a moment would be a clock that was right for a moment.
    writeSync(file, bytes(ms), 0, 8, 0);
  };
  return { env, setAhead, now: () => Date.now() + aheadMs, step: (ms) => setAhead(aheadMs + ms) };
}

function bytes(aheadMs: number): Buffer {
  const buffer = Buffer.alloc(8);
  const us = BigInt(aheadMs) * 1_000n;
  if (endianness() === 'LE') buffer.writeBigInt64LE(us);
  else buffer.writeBigInt64BE(us);
  return buffer;
}

async function build(folder: string): Promise<string> {
  const source = fileURLToPath(new URL('wall-clock.c', import.meta.url));
  const library = join(folder, 'wall-clock.so');
  const { command, env } = await compiler();
  const built = await run(command, ['-shared', '-fPIC', '-nostdlib', '-o', library, source], { env });
  if (built.ok) return library;
  rmSync(folder, { recursive: true });
  throw new Error(`The clock shim could not be built with ${command}: ${built.because ?? built.out}`);
}

/** tcc, where there is none: it is small, and needs no assembler, no linker and no headers beside it. */
async function compiler(): Promise<{ command: string; env: NodeJS.ProcessEnv }> {
  const command = onPath('cc') ?? onPath('gcc') ?? onPath('clang');
  return command ? { command, env: process.env } : ensureProgram('tcc');
}
