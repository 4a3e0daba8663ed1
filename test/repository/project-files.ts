import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const GENERATED = new Set([
  'node_modules',
  'dist',
  'bundle',
  '.git',
  '.cache',
  'coverage',
  'package-lock.json',
  'api-types.ts',
]);

export interface ProjectFile {
  /** From the root of the project, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Pictures hold no lines. */
const PICTURE = /\.png$/;

/** Everything a person wrote, read from the disk and not from git, so that a new file counts before it is added. */
export function projectFiles(matching: RegExp = /./): ProjectFile[] {
  return paths(ROOT)
    .map((path) => relative(ROOT, path))
    .filter((path) => matching.test(path) && !PICTURE.test(path))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

function paths(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !GENERATED.has(name));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return paths(path);
    return entry.isFile() ? [path] : [];
  });
}
