import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { aptDownload, aptInstall, ensureProgram, onPath, run, sentence, unpackedEnv } from '../../scripts/debian.mjs';

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export interface Tools {
  readonly spin: Command;
  /** As SPIN tells it, such as `6.5.2`. */
  readonly version: string;
  readonly compiler: Command;
}

type Log = (line: string) => void;

const CACHE = fileURLToPath(new URL('../../.cache', import.meta.url));
const HEADERS = 'libc6-dev';

/** @throws {Error} with one sentence, when there is no way to SPIN or to a C compiler */
export async function tools(log: Log): Promise<Tools> {
  const [found, compiler] = [await ensureProgram('spin', { log }), await ensureCompiler(log)];
  const spin = { command: found.command, args: [], env: found.env };
  const { out } = await run(spin.command, ['-V'], { env: spin.env });
  return { spin, version: /Version ([\d.]+)/.exec(out)?.[1] ?? 'unknown', compiler };
}

/** The checker that SPIN writes is C with headers of libc: a compiler without them is none. */
async function ensureCompiler(log: Log): Promise<Command> {
  const names = ['cc', 'gcc', 'clang', 'tcc'].map((name) => onPath(name)).filter((path) => path !== undefined);
  for (const path of names) {
    const command = { command: path, args: [], env: process.env };
    if (await compiles(command)) return command;
  }
  const { command, env } = await ensureProgram('tcc', { log });
  const fresh = { command, args: [], env };
  if (await compiles(fresh)) return fresh;
  return withHeaders(fresh, log);
}

async function withHeaders(tcc: Command, log: Log): Promise<Command> {
  const installed = await aptInstall(HEADERS, { log });
  if (installed.because === undefined && (await compiles(tcc))) return tcc;
  const check = async (root: string) => {
    const command = against(tcc, root);
    return (await compiles(command)) ? { how: 'unpacked', command } : { because: 'a program with it does not compile' };
  };
  const packages = [HEADERS, 'linux-libc-dev'];
  const folder = join(CACHE, HEADERS);
  const earlier = existsSync(folder) ? await check(folder) : { because: 'it is not there' };
  const found = earlier.how ? earlier : await aptDownload(packages, { folder, log, check });
  if (found.how && 'command' in found && found.command) return found.command;
  throw new Error(
    `There is no C compiler with headers to check the model with: have cc, gcc, clang or tcc with ${HEADERS} on this ` +
      `machine, or let apt-get install or download ${HEADERS} (${sentence(installed.because ?? found.because)}).`,
  );
}

/** tcc beside headers that lie in a folder of ours, and perhaps itself in another. */
function against(tcc: Command, root: string): Command {
  const own = dirname(dirname(dirname(tcc.command)));
  const libraries = [root, own].flatMap((base) => foldersBelow(join(base, 'usr/lib')));
  const includes = foldersBelow(join(root, 'usr/include')).map((folder) => `-I${folder}`);
  const home = libraries.map((folder) => join(folder, 'tcc')).find((folder) => existsSync(folder));
  const args = [...(home ? [`-B${home}`] : []), ...includes, ...libraries.map((folder) => `-L${folder}`)];
  return { command: tcc.command, args, env: { ...unpackedEnv(own), ...tcc.env } };
}

function foldersBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const below = readdirSync(folder).filter((name) => name.endsWith('-linux-gnu'));
  return [folder, ...below.map((name) => join(folder, name))];
}

async function compiles({ command, args, env }: Command): Promise<boolean> {
  const probe = fileURLToPath(new URL('probe.c', import.meta.url));
  const { ok } = await run(command, [...args, '-E', probe], { env });
  return ok;
}
