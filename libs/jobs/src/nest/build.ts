import { readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** What a program is called that stands in no package. */
const NO_PACKAGE = 'default';

/** What an app may be called: letters, digits and what the names of packages have. */
export const APP_NAME = /^[A-Za-z0-9@._/~-]{1,214}$/;

/** Where compilers put what they make of a program, and where it was: the same program. */
const OUTPUT = /^(dist|bundle|build|out|lib|src)\//;

/**
 * What the running program is called: the name in the nearest `package.json` above it that has one, and unless the program
 * is that package's `main` or `index`, its own path in there. Two programs of one monorepo are two: the build of one may not
 * remove what the other declares.
 *
 * Some builds lay a `package.json` without a name beside their output, only to say which kind of module it is.
 */
export function appName(entry: string | undefined = process.argv[1]): string {
  if (entry === undefined) return NO_PACKAGE;
  for (let folder = dirname(entry); ; folder = dirname(folder)) {
    const name = nameIn(join(folder, 'package.json'));
    if (name !== null) return named(name, relative(folder, entry));
    if (folder === dirname(folder)) return NO_PACKAGE;
  }
}

function named(name: string, program: string): string {
  const path = program
    .replaceAll('\\', '/')
    .replace(OUTPUT, '')
    .replace(/\.[cm]?[jt]sx?$/, '');
  const whole = `${name}/${path}`;
  return path === 'main' || path === 'index' || !APP_NAME.test(whole) ? name : whole;
}

function nameIn(file: string): string | null {
  try {
    const name: unknown = Reflect.get(Object(JSON.parse(readFileSync(file, 'utf8'))), 'name');
    return typeof name === 'string' && APP_NAME.test(name) ? name : null;
  } catch {
    // None is there, or nobody can read it: then it names nothing.
    return null;
  }
}

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
