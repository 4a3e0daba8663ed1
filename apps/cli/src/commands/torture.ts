import { Command } from 'commander';
import type * as testing from '@fencepost/testing';
import type { ExportedJobs, TortureReport, TorturedEffect } from '@fencepost/testing';
import { json, wholeNumber, words, type JsonValue } from '../option-values.js';
import { toned } from '../colour.js';
import { AppError, EXIT } from '../exit.js';
import type { Setting } from '../world.js';
import { type OutputFlags, withOutput } from '../output.js';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { whileWorking } from '../progress.js';
import type { Report } from '../report.js';
import { hanging, table } from '../table.js';

interface Flags extends OutputFlags {
  readonly app: string;
  readonly job?: string;
  readonly payload?: JsonValue;
  readonly seconds: number;
  readonly rounds?: number;
  readonly seed: number;
  readonly only?: number;
  readonly harmless?: string[];
}

const ABOUT =
  'Executes jobs repeatedly in this process, with stores in memory, while their workers are killed, frozen and ' +
  'disconnected at every fail point. Reports unsafe effects with the reason. Effects are really ' +
  'executed, many times: use a module with fake providers. Fails (1) if an effect is not safe.';

export function tortureCommand({ world, answer }: Setting): Command {
  const command = new Command('torture')
    .summary('find unsafe effects of jobs')
    .description(ABOUT)
    .requiredOption(
      '--app <file>',
      'module that exports classes with jobs, instances, or a Nest module that provides them',
      words,
    )
    .option('--job <name>', 'only this cron or job handler (default: all)', words)
    .option('--payload <json>', 'payload for job handlers', json)
    .option('--seconds <n>', 'total duration, over all jobs', wholeNumber(1, 86_400), 10)
    .option('--rounds <n>', 'maximum number of runs with several faults', wholeNumber(0, 1e9))
    .option('--seed <n>', 'of what happens together', wholeNumber(0, 2 ** 32 - 1), 1)
    .option('--only <n>', 'of all runs only this one', wholeNumber(1, 1e12))
    .option('--harmless <effect...>', 'these change nothing, and may be repeated');
  return withOutput(command).action(async (flags: Flags) => {
    const kit = await testingKit();
    const app = await loadApp(kit, flags.app);
    const names = flags.job === undefined ? app.names : [flags.job];
    const reports: TortureReport[] = [];
    for (const [n, name] of names.entries()) {
      const given = { ...flags, job: name, seconds: flags.seconds / names.length };
      const what = `Torturing ${name}, ${n + 1} of ${names.length}, ${given.seconds.toFixed(0)} s each`;
      reports.push(await whileWorking(what, world, () => torture(kit, app, given)));
    }
    answer(
      tortureReport(reports, (job, only) => replayOf(flags, job, only)),
      flags,
    );
  });
}

type Kit = Pick<typeof testing, 'jobsIn' | 'tortureJob'>;

/** Not installed with this package: of all commands this one alone needs it. */
async function testingKit(): Promise<Kit> {
  try {
    return await import('@fencepost/testing');
  } catch (error) {
    if (Object(error).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new AppError(
      'Expected the package @fencepost/testing, which is not installed. Run: npm i -D @fencepost/testing',
    );
  }
}

function torture({ tortureJob }: Kit, app: ExportedJobs, flags: Flags & { job: string }): Promise<TortureReport> {
  const { job, payload, seconds, rounds, seed, only, harmless } = flags;
  return tortureJob({
    ...{ crons: () => app.open(), close: () => app.close(), job, seed, lasts: Math.ceil(seconds * 1_000) },
    ...(payload && { payload: payload.value }),
    ...(rounds !== undefined && { rounds }),
    ...(only !== undefined && { only }),
    ...(harmless && { harmless }),
  }).catch((error: unknown) => {
    throw new AppError(sentence(error));
  });
}

function replayOf({ app, payload, seed }: Flags, job: string, only: number | null): string {
  const which = only === null ? '' : ` --only ${only}`;
  const given = payload ? ` --payload ${quoted(JSON.stringify(payload.value))}` : '';
  return `fencepost torture --app ${quoted(app)} --job ${quoted(job)}${given} --seed ${seed}${which}`;
}

/** As a shell takes it. */
function quoted(word: string): string {
  return /^[\w./@:-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** @throws {AppError} in one sentence, whatever is wrong with it */
async function loadApp({ jobsIn }: Kit, file: string): Promise<ExportedJobs> {
  const named = JSON.stringify(file);
  const exports = await imported(file).catch((error: unknown) => {
    throw new AppError(`Expected a module that Node can import, got ${named}: ${sentence(error)}`);
  });
  return jobsIn(exports).catch((error: unknown) => {
    throw new AppError(`Cannot create jobs from ${named}: ${sentence(error)}`);
  });
}

async function imported(file: string): Promise<object> {
  return (await import(/* @vite-ignore */ pathToFileURL(resolve(file)).href)) as object;
}

/** The first line: the rest of what Nest or a module says is for whoever has its source before them. */
function sentence(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return /[.!?]$/.test(line) ? line : `${line}.`;
}

/** What is to be typed to see one run again. */
type Replay = (job: string, only: number | null) => string;

/** All jobs that were looked at, as one. */
function tortureReport(reports: readonly TortureReport[], replay: Replay): Report {
  const ok = reports.every((report) => report.ok);
  return {
    code: ok ? EXIT.ok : EXIT.finding,
    names: reports.flatMap(({ effects }) => effects.filter(({ safe }) => !safe).map(({ name }) => name)),
    json: {
      ok,
      seed: reports[0]?.seed ?? null,
      job: reports.length === 1 ? reports[0]?.job : null,
      runs: sumOf(reports.map(({ runs }) => runs)),
      mishaps: mishapsOf(reports),
      effects: reports.flatMap(({ job, effects }) => effects.map((effect) => effectJson(job, effect, replay))),
      notes: notesOf(reports),
    },
    text: (width) => [
      ...table([['JOB', 'EFFECT', 'CALLS', 'VERDICT', 'WHY'], ...reports.flatMap((each) => rows(each, replay))], width),
      ...notesOf(reports).flatMap((note) => hanging(note, width)),
      ...hanging(ending(reports), width),
    ],
  };
}

function effectJson(job: string, { only, ...effect }: TorturedEffect, replay: Replay): object {
  return { job, ...effect, replay: effect.safe ? null : replay(job, only) };
}

function rows({ job, effects }: TortureReport, replay: Replay): string[][] {
  return effects.flatMap(({ name, calls, safe, reasons, mishap, only }) => [
    ...reasons.map((reason, n) =>
      n === 0 ? [job, name, `${calls}`, toned(safe ? 'safe' : 'UNSAFE'), reason] : ['', '', '', '', reason],
    ),
    ...(mishap === null ? [] : [['', '', '', '', `Worst: ${mishap}.`]]),
    ...(safe ? [] : [['', '', '', '', replay(job, only)]]),
  ]);
}

/** Each once, and before it the jobs it is about, where that is not all of them. */
function notesOf(reports: readonly TortureReport[]): string[] {
  const notes = [...new Set(reports.flatMap((report) => report.notes))];
  return notes.map((note) => {
    const of = reports.filter((report) => report.notes.includes(note)).map(({ job }) => job);
    return of.length === reports.length ? note : `${of.join(', ')}: ${note}`;
  });
}

function mishapsOf(reports: readonly TortureReport[]): Record<string, number> {
  const kinds = Object.keys(reports[0]?.mishaps ?? {});
  const counted = (kind: string) =>
    reports.map(({ mishaps }) => Object.entries(mishaps).find(([one]) => one === kind)?.[1] ?? 0);
  return Object.fromEntries(kinds.map((kind) => [kind, sumOf(counted(kind))]));
}

function ending(reports: readonly TortureReport[]): string {
  const runs = sumOf(reports.map((report) => report.runs));
  const mishaps = sumOf(Object.values(mishapsOf(reports)));
  const unsafe = reports.flatMap(({ effects }) => effects).filter(({ safe }) => !safe).length;
  const found =
    unsafe === 0 ? 'no effect was found unsafe' : `${unsafe} ${unsafe === 1 ? 'effect is' : 'effects are'} NOT safe`;
  return `${runs} runs with ${mishaps} mishaps, seed ${reports[0]?.seed}: ${found}.`;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
