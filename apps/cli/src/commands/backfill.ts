import { Command } from 'commander';
import { EXIT } from '../exit.js';
import type { BackfillReport } from '../jobs.js';
import { instant, words } from '../option-values.js';
import { iso, shortIso, type Report } from '../report.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore } from '../store/store.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { audited } from './audited.js';
import { asker, withBy, withJson, type OrderFlags } from './orders.js';

interface Flags extends StoreFlags, OrderFlags {
  readonly from: number;
  readonly to: number;
  readonly dryRun?: boolean;
  readonly reason: string;
}

const ABOUT =
  'Runs the instants of a past range that did not run, behind everything else that waits. One that ran is left alone, so ' +
  'that it may be stopped (Ctrl-C) and asked for again.';

export function backfillCommand({ world, answer }: Setting): Command {
  const command = new Command('backfill')
    .summary('run past instants that did not run')
    .description(ABOUT)
    .argument('<cron>', 'its name')
    .requiredOption('--from <instant>', 'the first instant that counts', instant)
    .requiredOption('--to <instant>', 'the first one that does not', instant)
    .requiredOption('--reason <words>', 'why, for whoever asks later', words)
    .option('--dry-run', 'change nothing, and say what would be done');
  return withJson(withStoreOptions(withBy(command))).action(async (cron: string, flags: Flags) => {
    const { from, to, reason, dryRun = false } = flags;
    const order = { from, to, dryRun, reason, by: asker(flags, world), signal: world.interrupted() };
    const done = await withStore(flags, world, (store) => {
      const about = {
        by: order.by,
        reason,
        action: 'backfill',
        cron,
        changed: () => !dryRun,
        after: backfilled(from, to),
      };
      return audited({ store, world }, about, () => store.operator.backfill(cron, order));
    });
    answer(reportOf(done, from, to), flags);
  });
}

function backfilled(from: number, to: number): (done: BackfillReport) => object {
  return ({ accepted, left, aborted }) => ({ from: iso(from), to: iso(to), accepted, left, aborted });
}

function reportOf(done: BackfillReport, from: number, to: number): Report {
  const { cron, dryRun, instants, accepted, left, aborted } = done;
  const rows = Object.entries(left).map(([state, count]) => ['', `${count}`, `left alone: ${state}`]);
  const verb = dryRun ? 'would run' : 'on their way';
  return {
    code: aborted ? EXIT.finding : EXIT.ok,
    json: { ...done, from: iso(from), to: iso(to) },
    text: (width) => [
      ...hanging(`${cron} has ${instants} instants from ${shortIso(from)} to ${shortIso(to)}.`, width),
      ...table([['', `${accepted}`, verb], ...rows], width),
      ...(aborted ? hanging('Stopped before the end; ask again to go on.', width) : []),
    ],
  };
}
