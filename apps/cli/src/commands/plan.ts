import { Command } from 'commander';
import { refuseConsole } from '../deployment/console-address.js';
import { wholeNumber, words } from '../option-values.js';
import { planReport } from '../plan/plan-report.js';
import { plan } from '../plan/plan.js';
import { readDeclarations } from '../plan/read-declarations.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore } from '../store/store.js';
import type { Setting } from '../world.js';
import { type OutputFlags, withOutput } from '../output.js';

interface Flags extends StoreFlags, OutputFlags {
  readonly days: number;
  readonly app?: string;
}

const DAY_MS = 86_400_000;

const ABOUT =
  'Shows what a deploy would change: new, changed and removed crons, and the instants of the next days that would be ' +
  'added or dropped. Changes nothing. Fails (1) if it declares a cron of another app.';

export function planCommand({ world, answer }: Setting): Command {
  const command = new Command('plan')
    .summary('what a deploy would change')
    .description(ABOUT)
    .argument('<declarations>', 'JSON file with the declarations of the app; - reads stdin')
    .option('--days <n>', 'how far to look', wholeNumber(1, 366), 7)
    .option('--app <name>', 'app that is deployed (default: from the file, or the only one)', words);
  return withOutput(withStoreOptions(command)).action(async (file: string, flags: Flags) => {
    refuseConsole('plan', flags, world);
    const where = file === '-' ? 'stdin' : file;
    const read = readDeclarations(await world.read(file), where, world.now());
    const deploy = { ...read, app: flags.app ?? read.app };
    const { entries: live, readAt: from } = await withStore(flags, world, ({ view }) => view.read());
    const span = { from, to: from + flags.days * DAY_MS };
    answer(planReport(plan({ live, deploy, ...span }), span), flags);
  });
}
