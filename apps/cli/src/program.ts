import { Command } from 'commander';
import { auditCommand } from './commands/audit.js';
import { backfillCommand } from './commands/backfill.js';
import { cancelCommand } from './commands/cancel.js';
import { lintCommand } from './commands/lint.js';
import { listCommand } from './commands/list.js';
import { migrateCommand } from './commands/migrate.js';
import { nextCommand } from './commands/next.js';
import { pauseCommand } from './commands/pause.js';
import { planCommand } from './commands/plan.js';
import { removeCommand } from './commands/remove.js';
import { resolveCommand } from './commands/resolve.js';
import { resumeCommand } from './commands/resume.js';
import { setCommand } from './commands/set.js';
import { tortureCommand } from './commands/torture.js';
import { triggerCommand } from './commands/trigger.js';
import { uncertainCommand } from './commands/uncertain.js';
import type { Setting } from './world.js';

const ABOUT =
  'Looks at the crons of a deployment, and tells them what to do. Each command explains itself with --help.';

const CODES = `
Every command takes --json: then the last line on stdout is one line of JSON.

Exit codes:
  0  done, and nothing found
  1  what was claimed does not hold, or something was found
  2  the command line, a file or a name is wrong; nothing was changed
  3  the store can not be reached
 70  a fault of this program`;

export function program(setting: Setting): Command {
  const { out, err } = setting.world;
  const whole = new Command('fencepost').description(ABOUT).addHelpText('after', CODES);
  const commands = [
    ...[nextCommand, lintCommand, planCommand],
    ...[listCommand, auditCommand, setCommand, removeCommand],
    ...[pauseCommand, resumeCommand, triggerCommand, cancelCommand, backfillCommand],
    ...[uncertainCommand, resolveCommand, migrateCommand, tortureCommand],
  ];
  for (const make of commands) whole.addCommand(make(setting));
  for (const command of [whole, ...whole.commands]) {
    // One has no subcommand to inherit from: each is made on its own.
    command.configureOutput({ writeOut: out, writeErr: err }).exitOverride().allowExcessArguments(false);
    command.showHelpAfterError(
      `Type "fencepost ${command === whole ? '' : `${command.name()} `}--help" for what it takes.`,
    );
  }
  return whole;
}
