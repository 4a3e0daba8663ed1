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
  readonly source?: string;
  readonly buildSeq?: number;
}

const DAY_MS = 86_400_000;

const ABOUT =
  'Shows what a build would change when deployed: new, changed and removed crons, and the instants of ' +
  'the next days that would be added or dropped. Changes nothing. Fails (1) if the build would define nothing or refuse ' +
  'to start.';

export function planCommand({ world, answer }: Setting): Command {
  const command = new Command('plan')
    .summary('what a build would change, before it is deployed')
    .description(ABOUT)
    .argument('<declarations>', 'JSON file with the declarations of the build; - reads stdin')
    .option('--days <n>', 'how far to look', wholeNumber(1, 366), 7)
    .option('--source <program>', 'program of the build (default: from the file, or the only one)', words)
    .option('--build-seq <n>', 'its buildSeq (default: from the file, or the next one)', wholeNumber(0, 1e15));
  return withOutput(withStoreOptions(command)).action(async (file: string, flags: Flags) => {
    refuseConsole('plan', flags, world);
    const where = file === '-' ? 'stdin' : file;
    const read = readDeclarations(await world.read(file), where, world.now());
    const build = { ...read, source: flags.source ?? read.source, buildSeq: flags.buildSeq ?? read.buildSeq };
    const { entries: live, readAt: from } = await withStore(flags, world, ({ view }) => view.read());
    const span = { from, to: from + flags.days * DAY_MS };
    answer(planReport(plan({ live, build, ...span }), span), flags);
  });
}
