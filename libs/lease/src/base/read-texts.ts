import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Scripts or statements by file name, such as `claim-occurrences.lua` or `functions/begin-run.sql`. */
export type Texts = Readonly<Record<string, string>>;

const TEXT = /\.(lua|sql)$/;

/**
 * The Lua and SQL beside a module and below it. A module that exports nothing else is called `texts.ts`: the build puts the texts in
 * its place, so that a compiled package reads no file and works in a bundle.
 * @param url `import.meta.url` of the module, or of the folder
 */
export function readTexts(url: string): Texts {
  const folder = new URL('.', url);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => TEXT.test(name));
  const slashed = names.map((name) => name.replaceAll('\\', '/')).toSorted();
  return Object.fromEntries(slashed.map((name) => [name, readFileSync(fileURLToPath(new URL(name, folder)), 'utf8')]));
}

/** @throws {Error} if there is none of this name */
export function textOf(texts: Texts, name: string): string {
  const text = texts[name];
  if (text === undefined) throw new Error(`Expected a text "${name}", found none among ${Object.keys(texts).length}.`);
  return text;
}
