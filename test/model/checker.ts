import { cpSync, mkdtempSync, rmSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, aptDownload, aptInstall, ensureProgram, onPath, sentence, unpackedEnv } from '../../scripts/debian.mjs';
import { readReport, type Report } from './report.js';
import type { Bounds } from './bounds.js';
import { isClaim, type Claim } from './bounds.js';

interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

interface Tools {
  readonly spin: Command;
  /** As SPIN tells it, such as `6.5.2`. */
  readonly version: string;
  readonly compiler: Command;
}

type Log = (line: string) => void;

const CACHE = fileURLToPath(new URL('../../.cache', import.meta.url));
const HEADERS = 'libc6-dev';

/** @throws {Error} with one sentence, when there is no way to SPIN or to a C compiler */
async function tools(log: Log): Promise<Tools> {
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

interface CheckerOptions {
  readonly log: (line: string) => void;
  /** Ends what is being searched. */
  readonly signal: AbortSignal;
  /** For small rooms: compiled fast, and not for speed. */
  readonly quick?: boolean;
}

/** A program that SPIN has written, compiled for one kind of search. */
export type Search = 'safe' | 'fair' | 'shortest';

export interface Checker {
  readonly version: string;
  /** Goes through every state of a room. @param out the number of a defence that is taken out, 0 for none */
  check(search: Search, bounds: Bounds, out?: number): Promise<Report>;
  /** What led to the error that the last check of that kind has found. */
  steps(search: Search, bounds: Bounds, out?: number): Promise<Steps>;
  /** Removes what was written. */
  close(): void;
}

const SOURCES = fileURLToPath(new URL('promela', import.meta.url));
const MODEL = 'fencepost.pml';
const TRAIL = `${MODEL}.trail`;

/** How each kind is written and compiled, how it is told to search, and how many slots (2^n) its table begins with. */
const KINDS = {
  safe: { words: [], flags: ['-DSAFETY', '-DCOLLAPSE'], search: ['-m500000'], table: 24 },
  fair: { words: ['-DLIVENESS'], flags: ['-DCOLLAPSE', '-DNFAIR=4'], search: ['-a', '-f', '-m500000'], table: 23 },
  // In breadth, so that the first error has the fewest steps.
  shortest: { words: ['-DSHORTEST'], flags: ['-DSAFETY', '-DBFS'], search: [], table: 16 },
} as const satisfies Record<Search, unknown>;

/** Of small rooms: clearing a large table would take longer than the search. */
const SMALL_TABLE = 18;

/** Compiling is most of the work for a small room. */
const OPTIMISED = { safe: '-O2', fair: '-O2', shortest: '-O0' } as const;

/** Of one search. */
const PATIENCE_MS = 600_000;

/** @throws {Error} with one sentence, where there is no way to SPIN or to a compiler, or the model is broken */
export async function checker(
  searches: readonly Search[],
  { log, signal, quick = false }: CheckerOptions,
): Promise<Checker> {
  const found = await tools(log);
  const folder = mkdtempSync(join(tmpdir(), 'test-model-'));
  const close = () => rmSync(folder, { recursive: true, force: true });
  try {
    await Promise.all(searches.map((search) => build(found, { search, folder: join(folder, search), quick })));
  } catch (error) {
    close();
    throw error;
  }
  const start = (search: Search, args: readonly string[], env: NodeJS.ProcessEnv) =>
    run(join(folder, search, 'pan'), args, ending({ cwd: join(folder, search), env, timeout: PATIENCE_MS }, signal));
  return {
    version: found.version,
    close,
    check: async (search, bounds, out = 0) => {
      const { search: words, table } = KINDS[search];
      const args = [...words, `-w${quick ? Math.min(table, SMALL_TABLE) : table}`];
      const { out: text, because } = await start(search, args, environment(bounds, out));
      return readReport(text, because);
    },
    steps: async (search, bounds, out = 0) => {
      const { out: text } = await start(search, ['-S', '-n', '-r', TRAIL], environment(bounds, out));
      return readSteps(text);
    },
  };
}

function ending<T extends object>(options: T, signal: AbortSignal): T {
  return { ...options, signal };
}

/** The program reads its room from here, and so one compilation serves all. */
function environment(bounds: Bounds, out: number): NodeJS.ProcessEnv {
  const words = Object.entries({ ...bounds, out }).map(([name, value]) => [name, String(value)]);
  return { PATH: process.env.PATH, ...Object.fromEntries(words) };
}

interface Build {
  readonly search: Search;
  readonly folder: string;
  readonly quick: boolean;
}

async function build({ spin, compiler }: Tools, { search, folder, quick }: Build): Promise<void> {
  cpSync(SOURCES, folder, { recursive: true });
  const { words, flags } = KINDS[search];
  const preprocessor = [compiler.command, ...compiler.args, '-E', '-x', 'c'].join(' ');
  const written = await run(spin.command, [`-P${preprocessor}`, ...words, '-a', MODEL], { cwd: folder, env: spin.env });
  if (!written.ok || /error/i.test(written.out)) throw new Error(`SPIN refuses the model: ${written.out}`);
  const optimised = quick ? '-O0' : OPTIMISED[search];
  const args = [...compiler.args, optimised, '-w', ...flags, '-o', 'pan', 'pan.c'];
  const compiled = await run(compiler.command, args, { cwd: folder, env: compiler.env });
  if (!compiled.ok) {
    throw new Error(`The checker could not be built with ${compiler.command}: ${compiled.because ?? compiled.out}`);
  }
}

/** A counter-example. */
interface Steps {
  readonly steps: readonly string[];
  /** What broke at the end; `null` for a cycle in which nothing ever ends. */
  readonly claim: Claim | null;
}

const WORDS = new Set(wordsOf(readFileSync(fileURLToPath(new URL('promela/world.pml', import.meta.url)), 'utf8')));

/** Every word that the model has for a state, an answer or a claim. */
export function wordsOf(world: string): string[] {
  const lists = [...world.matchAll(/^mtype = \{([^}]*)\}/gm)];
  return lists.flatMap(([, list = '']) => list.split(',').map((word) => word.trim()));
}

/** Reads a replay. The checker prints words as numbers, and at its end which number each of them has. */
export function readSteps(text: string): Steps {
  const [told = '', rest = ''] = text.split(/^pan:\d+:|^spin: trail ends/m, 2);
  const numbers = [...`${told}${rest}${text}`.matchAll(/^\tmtype {2}(\w+):\t(\d+)$/gm)];
  const names = new Map(numbers.map(([, word = '', n = '']) => (WORDS.has(word) ? [n, word] : ['', ''])));
  const lines = told.split('\n').filter((line) => line.trim() !== '' && !/^(MSC:|\s*<<<<|spin:|ltl )/.test(line));
  const readable = lines.map((line) => line.replace(/#(\d+)/g, (all, n: string) => names.get(n) ?? all));
  const broken = readable.find((line) => line.startsWith('BROKEN '))?.slice('BROKEN '.length) ?? '';
  return { steps: withAnswers(readable), claim: isClaim(broken) ? broken : null };
}

/** An answer stands on a line of its own, because what was asked has to be printed also when its answer never came. */
function withAnswers(lines: readonly string[]): string[] {
  const steps: string[] = [];
  for (const line of lines) {
    if (line.startsWith('BROKEN ')) continue;
    if (line.startsWith('= ')) steps.push(`${steps.pop() ?? ''} -> ${line.slice(2)}`);
    else steps.push(line);
  }
  return steps;
}
