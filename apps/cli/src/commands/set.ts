import { Command } from 'commander';
import { EXIT } from '../exit.js';
import type { CatalogEntry } from '../jobs.js';
import { generationOrNone, words } from '../option-values.js';
import { iso, shortIso, type Report } from '../report.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore } from '../store/store.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { audited, definedAs, definitionOf, movedReport } from './audited.js';
import { settingsOf, withCronOptions, type CronFlags } from './cron-options.js';
import { asker, withBy, withJson, type OrderFlags } from './orders.js';

interface Flags extends StoreFlags, OrderFlags, CronFlags {
  readonly expected?: number | 'none';
  readonly reason?: string;
}

const ABOUT =
  'Creates a cron, or replaces its definition: omitted options return to their defaults. Its runs need a worker with ' +
  'a handler of its name, or --handler with the name of a declared cron whose handler executes them; they wait until ' +
  'there is one. A change to a declared cron lasts until a higher build declares it differently from the ' +
  'build before. Fails (1) if it was changed since --expected; then nothing is changed.';

export function setCommand({ world, answer }: Setting): Command {
  const command = new Command('set')
    .summary('create or change a cron')
    .description(ABOUT)
    .argument('<cron>', 'its name');
  withCronOptions(command)
    .option(
      '--expected <generation>',
      'change it only while this is its newest generation ("fencepost list --json"); none: only make it',
      generationOrNone,
    )
    .option('--reason <words>', 'reason, kept in the audit trail', words);
  return withJson(withStoreOptions(withBy(command))).action(async (cron: string, flags: Flags) => {
    const { expected, reason } = flags;
    const settings = settingsOf(flags);
    const order = {
      by: asker(flags, world),
      ...(expected !== undefined && { expected: expected === 'none' ? null : expected }),
      ...(reason !== undefined && { reason }),
    };
    const report = await withStore(flags, world, async (store) => {
      const about = { by: order.by, reason: reason ?? null, action: 'set', cron, before: await definedAs(store, cron) };
      const set = () => store.crons.set(cron, settings, order);
      return audited({ store, world }, { ...about, after: definitionOf }, set).then(setReport, (error: unknown) =>
        movedReport(cron, error),
      );
    });
    answer(report, flags);
  });
}

function setReport({ definition, generation, state, since, by, reason }: CatalogEntry): Report {
  const { name, handler = name } = definition;
  const lines = [
    `${name} is set: generation ${generation}, effective from ${shortIso(since)}, by ${by}${reason === null ? '' : `: ${reason}`}`,
    state === 'firing'
      ? `Its runs go to the workers that have the handler "${handler}", and wait where there is none.`
      : 'It is disabled: it does not fire.',
  ];
  return {
    code: EXIT.ok,
    json: { cron: name, verdict: 'set', generation, state, since: iso(since), by, reason, definition },
    text: (width) => lines.flatMap((line) => hanging(line, width)),
  };
}
