import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { mishapsOf, play, replayLine, type Ask } from './replay.js';
import { Tally, told } from './report.js';
import { shrink } from './shrink.js';
import { summaryOf, type Summary } from './summary.js';
import { invariantOf } from './world.js';

const RUNNER = fileURLToPath(new URL('../support/run-source.mjs', import.meta.url));
const PLAYER = fileURLToPath(new URL('player.ts', import.meta.url));

interface Played {
  readonly summary: Summary;
  /** Of the processor. */
  readonly cpuMs: number;
}

interface Waiting {
  readonly played: Promise<Played>;
  readonly tell: (played: Played) => void;
}

interface Plays {
  readonly seeds: readonly number[];
  readonly days: number;
  readonly processes: number;
}

/**
 * Plays the worlds of these seeds in several processes at once: no world knows of another.
 * @returns in the order of the seeds, whoever was done first
 * @throws when a process ends before its world does
 */
async function* playAll({ seeds, days, processes }: Plays): AsyncGenerator<Played> {
  const crew = Array.from({ length: Math.min(processes, seeds.length) }, () =>
    fork(RUNNER, [PLAYER], { execArgv: [] }),
  );
  const waiting = new Map(seeds.map((seed) => [seed, waitingOf()]));
  const left = [...seeds];
  const failed = Promise.all(crew.map((child) => playOn(child, { left, days, waiting })));
  try {
    for (const seed of seeds) {
      const played = waiting.get(seed)?.played;
      if (played) yield await Promise.race([played, failed.then(() => played)]);
    }
    await failed;
  } finally {
    for (const child of crew) child.kill();
  }
}

interface Work {
  readonly left: number[];
  readonly days: number;
  readonly waiting: ReadonlyMap<number, Waiting>;
}

async function playOn(child: ChildProcess, { left, days, waiting }: Work): Promise<void> {
  await heardOf(child);
  for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
    const answer = heardOf(child);
    child.send({ seed, days });
    waiting.get(seed)?.tell((await answer) as Played);
  }
}

async function heardOf(child: ChildProcess): Promise<unknown> {
  const over = new AbortController();
  const end = once(child, 'exit', { signal: over.signal }).then(() => {
    throw new Error('A process that played worlds has ended before its time.');
  });
  const word = once(child, 'message', { signal: over.signal });
  try {
    return ((await Promise.race([word, end])) as unknown[])[0];
  } finally {
    over.abort();
    for (const each of [end, word]) each.catch(() => {});
  }
}

function waitingOf(): Waiting {
  let tell: Waiting['tell'] = () => {};
  const played = new Promise<Played>((resolve) => (tell = resolve));
  return { played, tell };
}

const HELP = `npm run sim -- [--seeds 200] [--from 1] [--days 1] [--processes 2] [--json]
npm run sim -- --seed 7 [--days 1] [--only 3,9,12] [--trace] [--json]

Plays worlds of three schedulers and up to five workers over stores in memory, with the engine and the worker as they are, a
clock that is turned from event to event, and mishaps and deployments drawn from the seed. After each step every invariant of the
protocols is checked, now and then that the definitions in force are those of the newest live pods, and at the end, when all is
healed, that every instant is accounted for and nothing is left open.

The last line with --json: ok · seeds, days, simulatedYears, msPerDay, cpuMsPerDay · mishaps and branches, how often each ·
runs, attempts, instants · silentChanges, changes of definitions that no pod told of (0), and untoldChanges, those whose pod
died before it could · violations, each with the line that replays it, made as small as could be · never, what has to happen and
did not (with 100 seeds or more that is a failure) · controlDuplicates of an effect that nothing protects.

--only  the mishaps that are left, by their numbers, or "none"
--processes  how many of them play, each its own worlds; default: one for each processor
--trace tells every call, answer and mishap of one world on stderr`;

/** Trials for making one failing world small. */
const MAX_TRIALS = 120;
/** So many failing worlds are made small; of the others only the line is told. */
const MAX_SHRUNK = 3;

interface Options {
  readonly seeds: readonly number[];
  readonly days: number;
  readonly only?: readonly number[];
  readonly json: boolean;
  readonly trace: boolean;
  readonly processes: number;
}

function readOptions(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{
        seeds: { type: 'string', default: '200' },
        from: { type: 'string', default: '1' },
        seed: { type: 'string' },
      },
      ...{ days: { type: 'string', default: '1' }, only: { type: 'string' } },
      processes: { type: 'string', default: String(availableParallelism()) },
      ...{ json: { type: 'boolean', default: false }, trace: { type: 'boolean', default: false } },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const { json, trace, only, seed } = values;
  const [from, count] =
    seed === undefined ? [whole('from', values.from, 0), whole('seeds', values.seeds, 1)] : [whole('seed', seed, 0), 1];
  const seeds = Array.from({ length: count }, (_, n) => from + n);
  if (only !== undefined && seed === undefined) throw new Error('Expected --only together with --seed.');
  const left =
    only === undefined ? {} : { only: only === 'none' ? [] : only.split(',').map((one) => whole('only', one, 0)) };
  const processes = whole('processes', values.processes, 1);
  return { seeds, days: whole('days', values.days, 1), json, trace, processes, ...left };
}

function whole(name: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least && text.trim() !== '') return value;
  throw new Error(`Expected a whole number from ${least} for --${name}, got "${text}".`);
}

/** The same world with as few mishaps as break the same promise. */
async function smallest(ask: Ask, invariant: string): Promise<Ask> {
  const items = mishapsOf(ask).map(({ index }) => index);
  const fails = async (only: readonly number[]) => invariantOf(await play({ ...ask, only })) === invariant;
  return { ...ask, only: await shrink({ items, fails, maxTrials: MAX_TRIALS }) };
}

/** One world is played here, where it can be traced, and more of them side by side. */
async function* worlds({ seeds, days, only, trace, processes }: Options): AsyncGenerator<Played> {
  if (seeds.length > 1) return yield* playAll({ seeds, days, processes });
  const onLine = (line: string) => console.error(line);
  const [seed = 0, before] = [seeds[0], process.cpuUsage()];
  const outcome = await play({ seed, days, ...(only ? { only } : {}), ...(trace ? { onLine } : {}) });
  const { user, system } = process.cpuUsage(before);
  yield { summary: summaryOf(outcome), cpuMs: (user + system) / 1_000 };
}

async function simulate(options: Options): Promise<{ tally: Tally; cpuMs: number }> {
  const { seeds, days, only } = options;
  const tally = new Tally();
  let [cpuMs, played, shrunk] = [0, 0, 0];
  for await (const { summary, ...spent } of worlds(options)) {
    cpuMs += spent.cpuMs;
    played += 1;
    tally.add(summary);
    if (summary.violation) {
      shrunk += 1;
      const ask: Ask = { seed: summary.seed, days, ...(only ? { only } : {}) };
      tally.broke(await explain(ask, summary, shrunk <= MAX_SHRUNK));
    }
    if (seeds.length > 1 && played % 50 === 0) console.error(`${played} of ${seeds.length} worlds`);
  }
  return { tally, cpuMs };
}

async function explain(ask: Ask, { seed, violation, hash }: Summary, small: boolean) {
  const { invariant = 'unknown', message = '', stack = '' } = violation ?? {};
  console.error(`seed ${seed}: ${hash} ${stack}\n  ${replayLine(ask)}`);
  const left = small ? await smallest(ask, invariant) : ask;
  for (const { index, kind, at } of small ? mishapsOf(left) : []) console.error(`  ${index} ${kind} after ${at} ms`);
  return { seed, invariant, message, replay: replayLine(left) };
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(process.argv[1]?.endsWith('run-source.mjs') ? 3 : 2));
  if (options === 'help') return console.log(HELP);
  const started = performance.now();
  const { tally, cpuMs } = await simulate(options);
  const report = tally.report(options.days, { wallMs: performance.now() - started, cpuMs });
  console.log(options.json ? JSON.stringify(report) : told(report));
  if (!report.ok) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
