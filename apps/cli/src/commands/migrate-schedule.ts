import { Command } from 'commander';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { EXIT, UsageError } from '../exit.js';
import { words } from '../option-values.js';
import { migrateSource, type MigratedSource, type MigrateOptions } from '../migrate-schedule/migrate-source.js';
import { SCHEDULE } from '../migrate-schedule/read-source.js';
import type { Report } from '../report.js';
import { diffOf, type Change } from '../rewriting/edits.js';
import { compilerOfProject, fromProject } from '../rewriting/project.js';
import { writeAll } from '../rewriting/write-all.js';
import type { Setting } from '../world.js';
import { type OutputFlags, withOutput } from '../output.js';

interface Flags extends OutputFlags {
  readonly dryRun?: boolean;
  readonly tz: string;
}

type MigratedFile = MigratedSource & Change;

const ABOUT =
  'Translates the decorators of @nestjs/schedule to those of Fencepost, with names after class and method, and mends the ' +
  'imports. What a person has to decide stays as it is, below a comment that says what. Writes all files or none. Running it ' +
  'again changes nothing. Needs the package typescript. Fails (1) if something is left to decide.';

export function migrateScheduleCommand({ answer }: Setting): Command {
  const command = new Command('migrate-schedule')
    .summary('translate decorators of @nestjs/schedule')
    .description(ABOUT)
    .argument('[paths...]', 'files and folders', ['src'])
    .option('--dry-run', 'show a diff, without changes')
    .option('--tz <zone>', 'time zone of crons that name none, which ran in the zone of the machine', words, 'UTC');
  return withOutput(command).action(async (paths: string[], flags: Flags) => {
    const options = await migrateOptions(flags.tz);
    const files: MigratedFile[] = [];
    for (const file of (await Promise.all(paths.map(sourcesIn))).flat()) {
      const before = await readFile(file, 'utf8');
      const migrated = before.includes(SCHEDULE) ? migrateSource(file, before, options) : null;
      if (migrated === null) continue;
      files.push({ file, before, ...migrated });
    }
    const { dryRun = false } = flags;
    if (!dryRun) writeAll(files.filter(({ before, text }) => before !== text));
    answer(migrationReport(files, dryRun), flags);
  });
}

/** What the project itself has: its compiler reads its syntax, and its constants are those of its own version. */
async function migrateOptions(timeZone: string): Promise<MigrateOptions> {
  const ts = await compilerOfProject();
  const schedule = await fromProject<{ CronExpression?: Record<string, string> }>(SCHEDULE);
  const expressions = new Map(Object.entries(schedule?.CronExpression ?? {}));
  return { ts, expressions, timeZone, names: new Set() };
}

const SOURCE = /(?<!\.d)\.[cm]?tsx?$/;
const LEFT_OUT = /(^|[\\/])(node_modules|dist|\.git)([\\/]|$)/;

async function sourcesIn(path: string): Promise<string[]> {
  const found = await stat(resolve(path)).catch(() => null);
  if (found === null) throw new UsageError(`Expected a file or a folder, found nothing at "${path}".`);
  if (found.isFile()) return [path];
  const names = await readdir(path, { recursive: true });
  return names
    .filter((name) => SOURCE.test(name) && !LEFT_OUT.test(name))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((name) => join(path, name));
}

function migrationReport(files: readonly MigratedFile[], dryRun: boolean): Report {
  const crons = files.flatMap(({ file, crons: found }) => found.map((cron) => ({ file, ...cron })));
  const decide = files.flatMap(({ file, decide: left }) => left.map((one) => ({ file, ...one })));
  const diffs = files
    .filter(({ before, text }) => before !== text)
    .map((one) => ({ file: one.file, diff: diffOf(one) }));
  return {
    code: decide.length === 0 ? EXIT.ok : EXIT.finding,
    json: { written: !dryRun, crons, decide, diffs },
    text: () => [
      ...diffs.flatMap(({ file, diff }) => (dryRun ? diff.trimEnd().split('\n') : [`changed  ${file}`])),
      ...summary(crons.length, diffs.length, dryRun),
      ...decide.map(({ file, line, text }) => `${file}:${line}: ${text}`),
      ...(crons.length > 0 ? NEXT : []),
    ],
  };
}

const NEXT = [
  'Runs of one cron no longer overlap (overlap: "skip"), and one run stands for missed instants (misfire: "fire-once").',
  'Import JobsModule.forRoot in your module; ScheduleModule can go when nothing is left to it.',
];

function summary(crons: number, files: number, dryRun: boolean): string[] {
  if (files === 0) return ['Nothing to translate.'];
  const what = `${crons} ${crons === 1 ? 'cron' : 'crons'} in ${files} ${files === 1 ? 'file' : 'files'}`;
  return ['', dryRun ? `Would translate ${what}; nothing is changed with --dry-run.` : `Translated ${what}.`];
}
