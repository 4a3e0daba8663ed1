import { Command, Option } from 'commander';
import { EXIT } from '../exit.js';
import type { Pause } from '../jobs.js';
import { words } from '../option-values.js';
import { shortIso } from '../report.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore } from '../store/store.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { audited } from './audited.js';
import { asker, pauseJson, withBy, withJson, type OrderFlags } from './orders.js';

interface Flags extends StoreFlags, OrderFlags {
  readonly reason: string;
  readonly missed: 'skip' | 'fire-once';
}

export function resumeCommand({ world, answer }: Setting): Command {
  const missed = new Option('--missed <what>', 'instants of the pause: skip them, or cover them with one run');
  const command = new Command('resume')
    .summary('end a pause')
    .description('Ends the pause of a cron. Does nothing if the cron is not paused.')
    .argument('<cron>', 'its name')
    .requiredOption('--reason <words>', 'reason, kept in the audit trail', words)
    .addOption(missed.choices(['skip', 'fire-once']).default('skip'));
  return withJson(withStoreOptions(withBy(command))).action(async (cron: string, flags: Flags) => {
    const order = { by: asker(flags, world), reason: flags.reason, missed: flags.missed };
    const { ended, runId } = await withStore(flags, world, async (store) => {
      const { by, reason } = order;
      const { paused } = await store.ledger.readCron(cron);
      const about = { by, reason, action: 'resume', cron, before: paused && pauseJson(paused), after: resumedAfter };
      return audited({ store, world }, { ...about, changed: hasEnded }, () => store.operator.resume(cron, order));
    });
    const lines = sentences(cron, { ended, runId }, flags);
    const json = { cron, ended: ended && pauseJson(ended), runId };
    answer({ code: EXIT.ok, json, text: (width) => lines.flatMap((line) => hanging(line, width)) }, flags);
  });
}

interface Resumed {
  readonly ended: Pause | null;
  readonly runId: string | null;
}

function hasEnded({ ended }: Resumed): boolean {
  return ended !== null;
}

function resumedAfter({ runId }: Resumed): object {
  return { paused: null, runId };
}

function sentences(cron: string, { ended, runId }: Resumed, { missed }: Flags): string[] {
  if (ended === null) return [`${cron} was not paused.`];
  const since = `${cron} fires again; it was paused since ${shortIso(ended.since)}, by ${ended.by}: ${ended.reason}`;
  if (runId !== null) return [since, `One run for the missed instants: ${runId}`];
  return missed === 'skip'
    ? [since]
    : [since, 'No run for missed instants: there were none, or the maximum of open runs is reached.'];
}
