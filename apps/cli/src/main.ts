import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { UsageError } from './exit.js';
import { PLACE_FILE } from './place.js';
import { run } from './run.js';

// Whoever reads our output may close it, as `head` does; that must not end us half-way.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

process.exitCode = await run(process.argv.slice(2), {
  out: (words) => void process.stdout.write(words),
  err: (words) => void process.stderr.write(words),
  flushed,
  env: process.env,
  now: Date.now,
  width: process.stdout.isTTY ? process.stdout.columns || 80 : Number(process.env['COLUMNS']) || Infinity,
  user,
  placeFile,
  read,
  interrupted,
  terminal: process.stdout.isTTY,
  errTerminal: process.stderr.isTTY,
  ...(process.stdin.isTTY && process.stderr.isTTY ? { ask } : {}),
  ...(process.stdin.isTTY && process.stdout.isTTY
    ? { liveTerminal: { out: process.stdout, keys: process.stdin } }
    : {}),
  unread,
});

/** A container may run under a number that nobody has given a name. */
function user(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env['USER'] || `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** On stderr: what stdout is for may be read by a program. */
async function ask(question: string): Promise<string> {
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await asking.question(question);
  } finally {
    asking.close();
  }
}

function placeFile(): { path: string; text: string } | null {
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const path = join(folder, PLACE_FILE);
    if (existsSync(path)) return { path, text: readFileSync(path, 'utf8') };
    if (folder === dirname(folder)) return null;
  }
}

async function read(file: string): Promise<string> {
  if (file === '-') return text(process.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`Cannot read ${JSON.stringify(file)}: ${why}. Name a readable file, or - for stdin.`);
  }
}

function interrupted(): AbortSignal {
  const stopping = new AbortController();
  // Once: a second Ctrl-C ends the program as ever.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  return stopping.signal;
}

/** A pipe takes only so much at a time; one that is closed takes everything. */
async function flushed(): Promise<void> {
  if (!process.stdout.writableNeedDrain) return;
  // A reader that leaves, as "head" does, is an error of the pipe, and no outage of a store.
  await Promise.race([once(process.stdout, 'drain'), once(process.stdout, 'close')]).catch(() => {});
}

function unread(): AbortSignal {
  const left = new AbortController();
  process.stdout.once('error', () => left.abort());
  return left.signal;
}
