import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';

/** The name of an application that stands in no package. */
const NO_PACKAGE = 'default';

/** What an app may be called: letters, digits and what the names of packages have. */
export const APP_NAME = /^[A-Za-z0-9@._/~-]{1,214}$/;

/**
 * The name in the nearest `package.json` that has one, above the program, or above the working directory where the program is
 * a runner in `node_modules`. Some builds lay a `package.json` without a name beside their output.
 */
export function appName(entry: string | undefined = process.argv[1], cwd: string = process.cwd()): string {
  for (let folder = folderOf(entry) ?? cwd; ; folder = dirname(folder)) {
    const name = nameIn(join(folder, 'package.json'));
    if (name !== null) return name;
    if (folder === dirname(folder)) return NO_PACKAGE;
  }
}

/** `node .` starts a folder; `null` for a program that is no file, and for a runner, which says nothing of what it runs. */
function folderOf(entry: string | undefined): string | null {
  if (entry === undefined || entry === '' || entry.split(sep).includes('node_modules')) return null;
  return statSync(entry, { throwIfNoEntry: false })?.isDirectory() === true ? entry : dirname(entry);
}

function nameIn(file: string): string | null {
  try {
    const name: unknown = Reflect.get(Object(JSON.parse(readFileSync(file, 'utf8'))), 'name');
    return typeof name === 'string' && APP_NAME.test(name) ? name : null;
  } catch {
    // There is none, or it is unreadable: then it names nothing.
    return null;
  }
}

const CODE = /\.[cm]?[jt]sx?$/;

/** A larger program is not hashed: that would delay nothing, but keep a core busy. */
const MAX_FILES = 1_000;

/**
 * The content of the program's code in few characters, for people: pods with equal code that declare differently are reported.
 * It decides nothing. File times don't count.
 * @returns `null` for a program that is no file, is a runner, or has more than 1,000 files of code
 */
export async function codeDigest(entry: string | undefined = process.argv[1]): Promise<string | null> {
  const folder = folderOf(entry);
  if (folder === null) return null;
  try {
    const files = (await codeIn(folder)).toSorted();
    if (files.length === 0 || files.length > MAX_FILES) return null;
    const hash = createHash('sha256');
    for (const file of files)
      hash
        .update(file.slice(folder.length))
        .update('\0')
        .update(await readFile(file))
        .update('\0');
    return hash.digest('base64url').slice(0, 12);
  } catch {
    // The code went away or is unreadable: nothing depends on it.
    return null;
  }
}

async function codeIn(folder: string, found: string[] = []): Promise<string[]> {
  for (const item of await readdir(folder, { withFileTypes: true })) {
    if (item.name === 'node_modules' || item.name.startsWith('.') || found.length > MAX_FILES) continue;
    const path = join(folder, item.name);
    if (item.isDirectory()) await codeIn(path, found);
    else if (CODE.test(item.name)) found.push(path);
  }
  return found;
}
