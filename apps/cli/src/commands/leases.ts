import { ownerPrefix } from '@fencepost/lease/internal';
import { Command } from 'commander';
import { EXIT } from '../exit.js';
import { holderSeemsAlive, presentLease, type CronLease, type LeaseList } from '../jobs.js';
import { words } from '../option-values.js';
import type { Report } from '../report.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore } from '../store/store.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { clearCommand } from './leases-clear.js';
import { withJson, type JsonFlags } from './orders.js';

interface Flags extends StoreFlags, JsonFlags {
  readonly cron?: string;
  readonly holder?: string;
}

const ABOUT =
  'Shows who acts for each cron: the holder of its lease, how long the lease lasts if nobody renews it, its fence, and when ' +
  'the holder was last heard as a pod. "fencepost leases clear" takes one from a holder that is dead.';

export function leasesCommand(setting: Setting): Command {
  const { world, answer } = setting;
  const command = new Command('leases')
    .summary('who acts for which cron, and "clear" to take one from a dead holder')
    .description(ABOUT)
    // Else what stands after "clear" would be taken for options of this one.
    .enablePositionalOptions()
    .option('--cron <text>', 'only crons with this in their name', words)
    .option('--holder <text>', 'only those whose holder, as it is shown, has this in it', words)
    .addCommand(clearCommand(setting));
  return withJson(withStoreOptions(command)).action(async (flags: Flags) => {
    const { cron, holder } = flags;
    const filter = { ...(cron !== undefined && { cron }), ...(holder !== undefined && { holder }) };
    const list = await withStore(flags, world, ({ leases }) => leases.list(filter));
    answer(reportOf(list), flags);
  });
}

function reportOf({ held, free }: LeaseList): Report {
  const head = ['CRON', 'HOLDER', 'FENCE', 'LEFT', 'HOLDER HEARD'];
  return {
    code: EXIT.ok,
    json: { held: held.map((one) => ({ ...presentLease(one), holderSilentMs: one.holderSilentMs })), free },
    text: (width) => [
      ...(held.length === 0 ? ['Nobody holds a lease.'] : table([head, ...held.map(row)], width)),
      ...(free.length === 0 ? [] : hanging(`Fire, and nobody holds them now: ${free.join(', ')}`, width)),
    ],
  };
}

function row(lease: CronLease): string[] {
  const { cron, holder, fence, remainingMs } = lease;
  return [cron, ownerPrefix(holder), `${fence}`, `${(remainingMs / 1_000).toFixed(1)} s`, heard(lease)];
}

function heard(lease: CronLease): string {
  if (lease.holderSilentMs === null) return 'not among the pods';
  const ago = `${(lease.holderSilentMs / 1_000).toFixed(1)} s ago`;
  return holderSeemsAlive(lease) ? ago : `${ago}, silent`;
}
