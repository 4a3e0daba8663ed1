import { Command, Option } from 'commander';
import { EXIT } from '../exit.js';
import { instant, positiveDuration, words } from '../option-values.js';
import { shortIso } from '../report.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore } from '../store/store.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { audited } from './audited.js';
import { asker, pauseJson, withBy, withJson, type OrderFlags } from './orders.js';

interface Flags extends StoreFlags, OrderFlags {
  readonly reason: string;
  readonly for?: number;
  readonly until?: number;
}

const ABOUT =
  'Stops a cron from firing until it is resumed, or for some time. Open runs continue; its instants are recorded ' +
  'as skipped. Deployments do not end a pause.';

export function pauseCommand({ world, answer }: Setting): Command {
  const command = new Command('pause')
    .summary('pause a cron')
    .description(ABOUT)
    .argument('<cron>', 'its name')
    .requiredOption('--reason <words>', 'reason, kept in the audit trail', words)
    .addOption(new Option('--for <duration>', 'duration, such as 2h').argParser(positiveDuration).conflicts('until'))
    .option('--until <instant>', 'until when', instant);
  return withJson(withStoreOptions(withBy(command))).action(async (cron: string, flags: Flags) => {
    const order = { by: asker(flags, world), reason: flags.reason };
    const pause = await withStore(flags, world, async (store) => {
      const { operator, catalog, ledger } = store;
      // By the store's clock, as everything that is about crons.
      const until = flags.for === undefined ? flags.until : (await catalog.read()).readAt + flags.for;
      const { paused } = await ledger.readCron(cron);
      const about = { ...order, action: 'pause', cron, before: paused && pauseJson(paused), after: pauseJson };
      return audited({ store, world }, about, () => operator.pause(cron, { ...order, until: until ?? null }));
    });
    const end = pause.until === null ? 'until it is resumed' : `until ${shortIso(pause.until)}`;
    const line = `${cron} is paused ${end}, by ${pause.by}: ${pause.reason}`;
    answer({ code: EXIT.ok, json: { cron, ...pauseJson(pause) }, text: (width) => hanging(line, width) }, flags);
  });
}
