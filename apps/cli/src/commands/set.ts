import { Command } from 'commander';
import { Audited, definedAs, definitionOf } from '../deployment/audited.js';
import { refuseConsole } from '../deployment/console-address.js';
import { EXIT } from '../exit.js';
import { CatalogMovedError, type CatalogEntry } from '../jobs.js';
import { generationOrNone, words } from '../option-values.js';
import { iso, shortIso, type Report } from '../report.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore } from '../store/store.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { settingsOf, withCronOptions, type CronFlags } from './cron-options.js';
import { movedReport } from './moved-report.js';
import { withBy, type OrderFlags } from './orders.js';
import { withOutput } from '../output.js';

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
  return withOutput(withStoreOptions(withBy(command))).action(async (cron: string, flags: Flags) => {
    const { expected, reason } = flags;
    refuseConsole('set', flags, world);
    const settings = settingsOf(flags);
    const order = {
      ...(expected !== undefined && { expected: expected === 'none' ? null : expected }),
      ...(reason !== undefined && { reason }),
    };
    const report = await withStore(flags, world, async (store) => {
      const audited = new Audited(store.audit, world, flags.by);
      const before = await definedAs(store, cron);
      const about = { action: 'set', cron, reason: reason ?? null, before, after: definitionOf };
      return audited
        .order(about, (by) => store.crons.set(cron, settings, { by, ...order }))
        .then(setReport, (error: unknown) => movedOr(error, cron));
    });
    answer(report, flags);
  });
}

function movedOr(error: unknown, cron: string): Report {
  if (error instanceof CatalogMovedError) return movedReport(cron, error);
  throw error;
}

function setReport({ definition, generation, state, since, by, reason }: CatalogEntry): Report {
  const { name, handler = name } = definition;
  const lines = [
    `${name} is set: generation ${generation}, effective from ${shortIso(since)}, by ${by}${reason === null ? '' : `: ${reason}`}`,
    state === 'active'
      ? `Its runs go to the workers that have the handler "${handler}", and wait where there is none.`
      : 'It is disabled: it does not fire.',
  ];
  return {
    code: EXIT.ok,
    json: { cron: name, verdict: 'set', generation, state, since: iso(since), by, reason, definition },
    text: (width) => lines.flatMap((line) => hanging(line, width)),
  };
}
