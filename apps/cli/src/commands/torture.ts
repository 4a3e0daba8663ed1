import { Command } from 'commander';
import { jobsIn, tortureJob, type ExportedJobs, type TortureReport } from '@fencepost/testing';
import { json, wholeNumber, words, type JsonValue } from '../option-values.js';
import { AppError } from '../torture/app-error.js';
import { tortureReport } from '../torture/torture-report.js';
import type { Setting } from '../world.js';
import { withJson } from './orders.js';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

interface Flags {
  readonly app: string;
  readonly job?: string;
  readonly payload?: JsonValue;
  readonly seconds: number;
  readonly rounds?: number;
  readonly seed: number;
  readonly only?: number;
  readonly harmless?: string[];
  readonly json?: boolean;
}

const ABOUT =
  'Carries jobs out again and again in this process, over stores in memory, and lets their workers be killed, frozen and ' +
  'cut off at each fail point there is. Says which effect is not safe, and why. The functions of effects are really ' +
  'called, many times: give it a module whose providers are not the real ones. Fails (1) when an effect is not safe.';

export function tortureCommand({ answer }: Setting): Command {
  const command = new Command('torture')
    .summary('which effects of a job are not safe, and why')
    .description(ABOUT)
    .requiredOption(
      '--app <file>',
      'module that exports classes with jobs, instances, or a Nest module that provides them',
      words,
    )
    .option('--job <name>', 'only this cron or job handler (default: all)', words)
    .option('--payload <json>', 'what a job handler is given', json)
    .option('--seconds <n>', 'for how long to look, over all jobs', wholeNumber(1, 86_400), 10)
    .option('--rounds <n>', 'at most so many runs with several mishaps at once', wholeNumber(0, 1e9))
    .option('--seed <n>', 'of what happens together', wholeNumber(0, 2 ** 32 - 1), 1)
    .option('--only <n>', 'of all runs only this one', wholeNumber(1, 1e12))
    .option('--harmless <effect...>', 'these change nothing, and may be repeated');
  return withJson(command).action(async (flags: Flags) => {
    const app = await loadApp(flags.app);
    const names = flags.job === undefined ? app.names : [flags.job];
    const reports: TortureReport[] = [];
    for (const name of names)
      reports.push(await torture(app, name, { ...flags, seconds: flags.seconds / names.length }));
    answer(
      tortureReport(reports, (job, only) => replayOf(flags, job, only)),
      flags,
    );
  });
}

function torture(app: ExportedJobs, job: string, flags: Flags): Promise<TortureReport> {
  const { payload, seconds, rounds, seed, only, harmless } = flags;
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
async function loadApp(file: string): Promise<ExportedJobs> {
  const named = JSON.stringify(file);
  const exports = await imported(file).catch((error: unknown) => {
    throw new AppError(`Expected a module that Node can import, got ${named}: ${sentence(error)}`);
  });
  return jobsIn(exports).catch((error: unknown) => {
    throw new AppError(`Of ${named} no jobs can be made: ${sentence(error)}`);
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
