import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A release of Node.js that the contenders run on which need a newer one than this. */
const NEWER = 22;
const FOLDER = fileURLToPath(new URL(`../../.cache/node-${NEWER}/`, import.meta.url));
const PROGRAM = `${FOLDER}node_modules/node/bin/node`;

/**
 * The program to run a contender with: this one, or where that is older than `major` one of the registry, fetched once if it may be.
 * @returns the path, or nothing where it could not be had
 */
export function nodeOf(major, { mayFetch }) {
  if (Number(process.versions.node.split('.')[0]) >= major) return process.execPath;
  if (existsSync(PROGRAM)) return PROGRAM;
  if (!mayFetch) return undefined;
  try {
    mkdirSync(FOLDER, { recursive: true });
    const args = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', FOLDER, `node@${NEWER}`];
    execFileSync('npm', args, { stdio: ['ignore', 'ignore', 2] });
  } catch {
    return undefined;
  }
  return existsSync(PROGRAM) ? PROGRAM : undefined;
}
