import { readFileSync } from 'node:fs';

/** The version in the `package.json` of this library. The build puts a constant here: a bundle has no such file beside itself. */
export function libraryVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
