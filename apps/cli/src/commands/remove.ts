import { Command } from 'commander';
import { EXIT } from '../exit.js';
import { MAX_GENERATIONS, wholeNumber, words } from '../option-values.js';
import type { Report } from '../report.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore } from '../store/store.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { audited, definedAs, movedReport } from './audited.js';
import { asker, withBy, withJson, type OrderFlags } from './orders.js';

interface Flags extends StoreFlags, OrderFlags {
  readonly reason: string;
  readonly expected?: number;
}

const ABOUT =
  'Removes a cron: it no longer fires; open runs continue, and its history is kept. A declared cron stays removed until a higher ' +
  'build declares it differently from the build before; "fencepost set" restores it. Fails (1) if it was ' +
  'changed since --expected; then nothing is changed.';

export function removeCommand({ world, answer }: Setting): Command {
  const command = new Command('remove')
    .summary('remove a cron')
    .description(ABOUT)
    .argument('<cron>', 'its name')
    .requiredOption('--reason <words>', 'reason, kept in the audit trail', words)
    .option(
      '--expected <generation>',
      'only while this is its newest generation ("fencepost list --json")',
      wholeNumber(1, MAX_GENERATIONS),
    );
  return withJson(withStoreOptions(withBy(command))).action(async (cron: string, flags: Flags) => {
    const { expected, reason } = flags;
    const order = { by: asker(flags, world), reason, ...(expected !== undefined && { expected }) };
    const report = await withStore(flags, world, async (store) => {
      const about = { by: order.by, reason, action: 'remove', cron, before: await definedAs(store, cron) };
      return audited({ store, world }, { ...about, after: removedAfter }, () => store.crons.remove(cron, order)).then(
        () => removedReport(cron, order),
        (error: unknown) => movedReport(cron, error),
      );
    });
    answer(report, flags);
  });
}

function removedAfter(): object {
  return { state: 'removed' };
}

function removedReport(cron: string, { by, reason }: { readonly by: string; readonly reason: string }): Report {
  const line = `${cron} is removed, by ${by}: ${reason}`;
  return {
    code: EXIT.ok,
    json: { cron, verdict: 'removed', by, reason },
    text: (width) => hanging(line, width),
  };
}
