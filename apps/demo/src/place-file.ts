import { readFileSync, rmSync, writeFileSync } from 'node:fs';

/** Where `fencepost`, started in this folder or below it, finds the running demo. */
const FILE = '.fencepost.json';

/**
 * Writes down where the demo is, for as long as this process lives.
 * @returns what takes the file away again, unless a later demo has written its own; `null` where none could be written
 */
export function writePlaceFile(place: object): (() => void) | null {
  const text = `${JSON.stringify({ ...place, pid: process.pid }, null, 2)}\n`;
  try {
    writeFileSync(FILE, text, { mode: 0o600 });
  } catch {
    return null;
  }
  return () => {
    if (readText() === text) rmSync(FILE, { force: true });
  };
}

function readText(): string | null {
  try {
    return readFileSync(FILE, 'utf8');
  } catch {
    return null;
  }
}
