import { readFileSync } from 'node:fs';

const UNKNOWN = 'unknown';

/** The version in the `package.json` of this library; `unknown` in a bundle without it. */
export function libraryVersion(file: URL = new URL('../../package.json', import.meta.url)): string {
  try {
    const version: unknown = Reflect.get(Object(JSON.parse(readFileSync(file, 'utf8'))), 'version');
    return typeof version === 'string' ? version : UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}
