import { Command } from 'commander';
import type * as testing from '@fencepost/testing';
import type { ExportedJobs, TortureReport } from '@fencepost/testing';
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
  'Executes jobs repeatedly in this process, with stores in memory, while their workers are killed, frozen and ' +
  'disconnected at every fail point. Reports unsafe effects with the reason. Effects are really ' +
  'executed, many times: use a module with fake providers. Fails (1) if an effect is not safe.';

export function tortureCommand({ answer }: Setting): Command {
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
  return withJson(command).action(async (flags: Flags) => {
    const kit = await testingKit();
    const app = await loadApp(kit, flags.app);
    const names = flags.job === undefined ? app.names : [flags.job];
    const reports: TortureReport[] = [];
    for (const name of names)
      reports.push(await torture(kit, app, { ...flags, job: name, seconds: flags.seconds / names.length }));
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
