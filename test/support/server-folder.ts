import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
