import { Command } from 'commander';
import { auditCommand } from './commands/audit.js';
import { backfillCommand } from './commands/backfill.js';
import { cancelCommand } from './commands/cancel.js';
import { completionCommand } from './commands/completion.js';
import { doctorCommand } from './commands/doctor.js';
import { exportCommand } from './commands/export.js';
import { failedCommand } from './commands/failed.js';
import { historyCommand } from './commands/history.js';
import { importCommand } from './commands/import.js';
import { initCommand } from './commands/init.js';
import { leasesCommand } from './commands/leases.js';
import { lintCommand } from './commands/lint.js';
import { listCommand } from './commands/list.js';
import { migrateCommand } from './commands/migrate.js';
import { migrateScheduleCommand } from './commands/migrate-schedule.js';
import { muteCommand, mutesCommand, unmuteCommand } from './commands/mute.js';
import { nextCommand } from './commands/next.js';
import { pauseCommand } from './commands/pause.js';
import { planCommand } from './commands/plan.js';
import { podsCommand } from './commands/pods.js';
import { removeCommand } from './commands/remove.js';
import { resolveCommand } from './commands/resolve.js';
import { resumeCommand } from './commands/resume.js';
import { retryCommand } from './commands/retry.js';
import { runCommand } from './commands/run.js';
import { runsCommand } from './commands/runs.js';
import { setCommand } from './commands/set.js';
import { shadowCommand } from './commands/shadow.js';
import { showCommand } from './commands/show.js';
import { tailCommand } from './commands/tail.js';
import { tokenCommand } from './commands/token.js';
import { topCommand } from './commands/top.js';
import { tortureCommand } from './commands/torture.js';
import { triggerCommand } from './commands/trigger.js';
import { uncertainCommand } from './commands/uncertain.js';
import { whyCommand } from './commands/why.js';
import { withRefusedConsole } from './deployment/console-address.js';
import { libraryVersion } from './jobs.js';
import type { Setting } from './world.js';

const ABOUT =
  'Shows and operates the crons of a deployment: by way of its stores, or with --url of its console. Each command has --help.';

const CODES = `
Every command prints a table, also in a pipe. -o wide adds columns, -o json (or --json) prints one line of JSON as the last line, and
-o name prints one name per line. Colours need a terminal: NO_COLOR turns them off, FORCE_COLOR on everywhere.

Exit codes:
  0  success, no findings
  1  the check failed, or there are findings
  2  invalid command line, file or name; nothing was changed
  3  the store or the console cannot be reached
 70  a bug in this program`;

export function program(setting: Setting): Command {
  const { out, err } = setting.world;
  const whole = new Command('fencepost')
    .description(ABOUT)
    .version(libraryVersion(), '-V, --version', 'print the version')
    .addHelpText('after', CODES);
  const commands = [
    ...[initCommand, nextCommand, lintCommand, planCommand],
    ...[listCommand, showCommand, historyCommand, runsCommand, runCommand, whyCommand],
    ...[auditCommand, setCommand, removeCommand, importCommand, exportCommand],
    ...[pauseCommand, resumeCommand, triggerCommand, cancelCommand, backfillCommand],
    ...[topCommand, podsCommand, tailCommand, leasesCommand, doctorCommand, tokenCommand],
    ...[failedCommand, retryCommand],
    ...[muteCommand, unmuteCommand, mutesCommand],
    ...[uncertainCommand, resolveCommand, migrateCommand, tortureCommand],
    ...[migrateScheduleCommand, shadowCommand, completionCommand],
  ];
  for (const make of commands) whole.addCommand(make(setting));
  for (const [command, typed] of withSubcommands(whole, 'fencepost')) {
    if (command.commands.length === 0 || typed === 'fencepost leases') withRefusedConsole(command, typed);
    // One has no subcommand to inherit from: each is made on its own.
    const outputError = (said: string) => err(`${sentenceOf(said)} Run "${typed} --help".\n`);
    command.configureOutput({ writeOut: out, writeErr: err, outputError }).exitOverride().allowExcessArguments(false);
  }
  return whole;
}

/** What commander says of a command line, as all errors are said: one sentence, and what to do. */
function sentenceOf(said: string): string {
  const [first = '', suggestion] = said
    .trim()
    .replace(/^error: /, '')
    .split('\n');
  const parts = [first.charAt(0).toUpperCase() + first.slice(1), ...(suggestion ? [suggestion.slice(1, -1)] : [])];
  return parts.map((part) => (/[.?]$/.test(part) ? part : `${part}.`)).join(' ');
}

/** With what has to be typed for each. */
function withSubcommands(command: Command, typed: string): (readonly [Command, string])[] {
  return [[command, typed], ...command.commands.flatMap((each) => withSubcommands(each, `${typed} ${each.name()}`))];
}
