import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { EXIT, UsageError } from '../exit.js';
import { readManifest } from '../init/manifest.js';
import { planInit, type InitChange } from '../init/plan-init.js';
import type { Report } from '../report.js';
import { diffOf } from '../rewriting/edits.js';
import { compilerOfProject } from '../rewriting/project.js';
import { writeAll } from '../rewriting/write-all.js';
import { table } from '../table.js';
import type { Setting } from '../world.js';
import { type OutputFlags, withOutput } from '../output.js';

interface Flags extends OutputFlags {
  readonly console: boolean;
  readonly dryRun?: boolean;
  readonly install?: boolean;
}

const ABOUT =
  'Sets Fencepost up in the Nest application of this folder: JobsModule and ConsoleModule in its module, shutdown hooks in ' +
  'main.ts, an example cron, and dependencies in package.json. All or nothing: it refuses an application that it does not ' +
  'understand, and says what to add by hand. Running it again changes nothing. Needs the package typescript.';

export function initCommand({ answer }: Setting): Command {
  const command = new Command('init')
    .summary('set Fencepost up in a Nest application')
    .description(ABOUT)
    .option('--dry-run', 'show a diff, without changes')
    .option('--no-console', 'without the page and the HTTP API')
    .option('--install', 'also install the dependencies');
  return withOutput(command).action(async ({ console, dryRun = false, install = false, json }: Flags) => {
    // First: outside of an application there is no compiler either, and that is not what is wrong.
    readManifest(textOf('package.json'));
    const changes = planInit({ ts: await compilerOfProject(), console, read: textOf });
    if (!dryRun) writeAll(changes);
    const how = installation();
    if (install && !dryRun) await installed(how);
    answer(initReport(changes, { dryRun, how: install ? null : how, console }), {
      ...(json !== undefined && { json }),
    });
  });
}

function textOf(file: string): string | null {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

const LOCKS = { 'pnpm-lock.yaml': 'pnpm', 'yarn.lock': 'yarn', 'bun.lock': 'bun', 'bun.lockb': 'bun' };

function installation(): string {
  const [, manager = 'npm'] = Object.entries(LOCKS).find(([lock]) => existsSync(lock)) ?? [];
  return `${manager} install`;
}

/** What it says goes to stderr: stdout is for the report. */
async function installed(how: string): Promise<void> {
  const [command = 'npm', ...args] = how.split(' ');
  const child = spawn(command, args, { stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0)
    throw new UsageError(`"${how}" failed; it says above why. The files of the application were changed.`);
}

interface Done {
  readonly dryRun: boolean;
  /** What installs the dependencies; `null` where that was done. */
  readonly how: string | null;
  readonly console: boolean;
}

function initReport(changes: readonly InitChange[], { dryRun, how, console }: Done): Report {
  const files = changes.map(({ file, isNew }) => ({ file, change: isNew ? 'created' : 'changed' }));
  const diffs = changes.map((change) => ({ file: change.file, diff: diffOf(change) }));
  return {
    code: EXIT.ok,
    json: { written: !dryRun, files, install: how, ...(dryRun && { diffs }) },
    text: () => {
      if (changes.length === 0) return ['Fencepost is set up already; nothing was changed.'];
      if (!dryRun) return [...files.map(({ file, change }) => `${change}  ${file}`), '', ...nextSteps(how, console)];
      const shown = diffs.flatMap(({ diff }) => diff.trimEnd().split('\n'));
      return [...shown, '', `Would change ${changes.length} files; nothing is changed with --dry-run.`];
    },
  };
}

type Step = readonly [command: string, what: string];

function nextSteps(how: string | null, console: boolean): string[] {
  const install: Step[] = how === null ? [] : [[how, 'the dependencies']];
  const token: Step[] = [['npx fencepost token me --role admin', 'a token, and the line for FENCEPOST_TOKENS']];
  const steps: Step[] = [
    ...install,
    ...(console ? token : []),
    ['npm run start', 'with REDIS_URL, if Redis is not at localhost:6379'],
    ['npx fencepost list', 'the cron of the example'],
  ];
  return [
    'Next:',
    ...table(
      steps.map(([command, what]) => [`  ${command}`, `# ${what}`]),
      Infinity,
    ),
  ];
}
