import { Command } from 'commander';
import { Audited, definitionOf } from '../deployment/audited.js';
import { refuseConsole } from '../deployment/console-address.js';
import { EXIT, UsageError } from '../exit.js';
import { CatalogMovedError, type CatalogEntry, type CronChanges } from '../jobs.js';
import { generationOrNone, words } from '../option-values.js';
import { iso, shortIso, type Report } from '../report.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore, type Store } from '../store/store.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { changesOf, withCronOptions, type CronFlags } from './cron-options.js';
import { movedReport } from './moved-report.js';
import { withBy, type OrderFlags } from './orders.js';
import { withOutput } from '../output.js';

interface Flags extends StoreFlags, OrderFlags, CronFlags {
  readonly expected?: number | 'none';
  readonly reason?: string;
}

const ABOUT =
  'Creates a cron, or changes the options you name: the others keep their values, and --reset returns options to their ' +
  'defaults. A removed cron is restored with its last definition and the options you name. Its runs need a worker with ' +
  'a handler of its name, or --handler with the name of a declared cron whose handler executes them; they wait until ' +
  'there is one. A change to a declared cron lasts until its code declares something new. ' +
  'Fails (1) if it was changed since --expected; then nothing is changed.';

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
    refuseConsole('set', flags, world);
    const changes = changesOf(flags);
    const report = await withStore(flags, world, (store) =>
      changed(store, { cron, changes, flags }, new Audited(store.audit, world, flags.by)),
    );
    answer(report, flags);
  });
}

interface Asked {
  readonly cron: string;
  readonly changes: CronChanges;
  readonly flags: Flags;
}

async function changed({ crons }: Store, { cron, changes, flags }: Asked, audited: Audited): Promise<Report> {
  const { expected, reason } = flags;
  const before = await crons.get(cron);
  checkChanges(cron, before, changes);
  const order = {
    ...(expected !== undefined && { expected: expected === 'none' ? null : expected }),
    ...(reason !== undefined && { reason }),
  };
  const shown = { before: before && definitionOf(before), after: definitionOf };
  const about = { action: 'set', cron, reason: reason ?? null, ...shown };
  try {
    return setReport(await audited.order(about, (by) => crons.set(cron, changes, { by, ...order })), before);
  } catch (error) {
    if (error instanceof CatalogMovedError) return movedReport(cron, error);
    throw error;
  }
}

/** @throws {UsageError} for a new cron without a schedule, and for an order that changes nothing */
function checkChanges(cron: string, before: CatalogEntry | null, changes: CronChanges): void {
  if (before === null && changes.expression === undefined && changes.every === undefined) {
    throw new UsageError(`Expected --expression or --every: there is no cron "${cron}" to keep a schedule from.`);
  }
  if (before !== null && before.state !== 'removed' && Object.keys(changes).length === 0) {
    throw new UsageError('Expected an option to change, or --reset. Nothing was changed.');
  }
}

function setReport(entry: CatalogEntry, before: CatalogEntry | null): Report {
  const { definition, generation, state, since, by, reason } = entry;
  const { name, handler = name } = definition;
  const restored = before?.state === 'removed';
  const lines = [
    `${name} is ${restored ? 'restored' : 'set'}: generation ${generation}, effective from ${shortIso(since)}, by ${by}${reason === null ? '' : `: ${reason}`}`,
    state === 'active'
      ? `Its runs go to the workers that have the handler "${handler}", and wait where there is none.`
      : 'It is disabled: it does not fire.',
  ];
  return {
    code: EXIT.ok,
    json: { cron: name, verdict: 'set', restored, generation, state, since: iso(since), by, reason, definition },
    text: (width) => lines.flatMap((line) => hanging(line, width)),
  };
}
