import { Command } from 'commander';
import type { Answers, Leases } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { holderSeemsAlive } from '../jobs.js';
import { words } from '../option-values.js';
import type { Report } from '../report.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { clearCommand } from './leases-clear.js';
import { withJson, type JsonFlags } from './orders.js';

interface Flags extends DeploymentFlags, JsonFlags {
  readonly cron?: string;
  readonly holder?: string;
}

const ABOUT =
  'Lists the leases of crons: holder, remaining time without renewal, fence, and the last heartbeat ' +
  'of the holder. "fencepost leases clear" ends the lease of a dead holder.';

export function leasesCommand(setting: Setting): Command {
  const { world, answer } = setting;
  const command = new Command('leases')
    .summary('leases of crons; "clear" ends the lease of a dead holder')
    .description(ABOUT)
    // Else what stands after "clear" would be taken for options of this one.
    .enablePositionalOptions()
    .option('--cron <text>', 'only crons whose name contains this', words)
    .option('--holder <text>', 'only leases whose holder contains this', words)
    .addCommand(clearCommand(setting));
  return withJson(withDeploymentOptions(command)).action(async (flags: Flags) => {
    const { cron, holder } = flags;
    const filter = { ...(cron !== undefined && { cron }), ...(holder !== undefined && { holder }) };
    const list = await withDeployment(flags, world, (deployment) => deployment.leases(filter));
    answer(reportOf(list), flags);
  });
}

function reportOf({ held, free }: Leases): Report {
  const head = ['CRON', 'HOLDER', 'FENCE', 'LEFT', 'HOLDER HEARD'];
  return {
    code: EXIT.ok,
    json: { held, free },
    text: (width) => [
      ...(held.length === 0 ? ['No lease is held.'] : table([head, ...held.map(row)], width)),
      ...(free.length === 0 ? [] : hanging(`Firing crons without a holder: ${free.join(', ')}`, width)),
    ],
  };
}

function row(lease: Answers['HeldLease']): string[] {
  const { cron, holder, fence, remainingMs } = lease;
  return [cron, holder, fence, `${(remainingMs / 1_000).toFixed(1)} s`, heard(lease)];
}

function heard(lease: Answers['HeldLease']): string {
  if (lease.holderSilentMs === null) return 'not a live pod';
  const ago = `${(lease.holderSilentMs / 1_000).toFixed(1)} s ago`;
  return holderSeemsAlive(lease) ? ago : `${ago}, silent`;
}
