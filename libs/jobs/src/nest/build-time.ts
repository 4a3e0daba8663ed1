import { readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Only code: a log or a cache that the program writes beside itself is not a new build. */
const CODE = /\.[cm]?[jt]sx?$/;

/**
 * When the running program was built: the newest code file beside or below its entry, epoch milliseconds.
 *
 * The newest and not the entry's own, because a compiler that works incrementally writes only the files that changed.
 */
export function buildTime(entry: string | undefined = process.argv[1]): number {
  if (entry === undefined) return 0;
  try {
    return newest(dirname(entry));
  } catch {
    // A program that isn't a file (`node -e`, a REPL) has no build, and must not override one that has.
    return 0;
  }
}

function newest(folder: string): number {
  let latest = 0;
  for (const item of readdirSync(folder, { withFileTypes: true })) {
    if (item.name === 'node_modules' || item.name.startsWith('.')) continue;
    const path = `${folder}/${item.name}`;
    if (item.isDirectory()) latest = Math.max(latest, newest(path));
    else if (CODE.test(item.name)) latest = Math.max(latest, writtenAt(path));
  }
  return latest;
}

function writtenAt(path: string): number {
  return Math.floor(statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
}
