import { readFileSync } from 'node:fs';

const UNKNOWN = 'unknown';

/** Of this library, as its package says; `unknown` where somebody has bundled it and left that out. */
export function libraryVersion(file: URL = new URL('../../package.json', import.meta.url)): string {
  try {
    const version: unknown = Reflect.get(Object(JSON.parse(readFileSync(file, 'utf8'))), 'version');
    return typeof version === 'string' ? version : UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}
