import { Command, Option } from 'commander';
import type { Answers, MuteTarget } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT, UsageError } from '../exit.js';
import { instant, positiveDuration, words } from '../option-values.js';
import { shortIso } from '../report.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { withOutput, type OutputFlags } from '../output.js';
import { withBy, type OrderFlags } from './orders.js';

interface Flags extends DeploymentFlags, OrderFlags {
  readonly tag?: string;
  readonly reason: string;
  readonly for?: number;
  readonly until?: number;
}

const ABOUT =
  'Mutes the alarms of a cron, or of all crons with a tag: they are still raised, and webhooks and pings do not go out. ' +
  'A mute ends by itself; an alarm that is still open then is sent.';

export function muteCommand({ world, answer }: Setting): Command {
  const command = new Command('mute')
    .summary('mute the alarms of a cron or a tag')
    .description(ABOUT)
    .argument('[cron]', 'its name')
    .option('--tag <tag>', 'all crons with this tag', words)
    .requiredOption('--reason <words>', 'reason, kept in the audit trail', words)
    .addOption(new Option('--for <duration>', 'duration, such as 2h').argParser(positiveDuration).conflicts('until'))
    .option('--until <instant>', 'until when', instant);
  return withOutput(withDeploymentOptions(withBy(command))).action(async (cron: string | undefined, flags: Flags) => {
    const target = targetOf(cron, flags.tag);
    const { reason, until, for: forMs } = flags;
    if (until === undefined && forMs === undefined) throw new UsageError('Expected --for or --until: a mute ends.');
    const order = { reason, ...(until !== undefined && { until }), ...(forMs !== undefined && { forMs }) };
    const mute = await withDeployment(flags, world, (deployment) => deployment.mute(target, order));
    const line = `${nameOf(mute)} is muted until ${shortIso(mute.until)}, by ${mute.by}: ${mute.reason}`;
    answer({ code: EXIT.ok, json: mute, text: (width) => hanging(line, width) }, flags);
  });
}

export function unmuteCommand({ world, answer }: Setting): Command {
  const command = new Command('unmute')
    .summary('end a mute')
    .description('Ends the mute of a cron or of a tag. An alarm that was raised meanwhile and is still open is sent.')
    .argument('[cron]', 'its name')
    .option('--tag <tag>', 'the tag that is muted', words)
    .requiredOption('--reason <words>', 'reason, kept in the audit trail', words);
  return withOutput(withDeploymentOptions(withBy(command))).action(async (cron: string | undefined, flags: Flags) => {
    const target = targetOf(cron, flags.tag);
    const { ended } = await withDeployment(flags, world, (deployment) => deployment.unmute(target, flags));
    const name = 'cron' in target ? target.cron : `tag ${target.tag}`;
    const line = ended ? `${nameOf(ended)} is not muted any more.` : `${name} was not muted.`;
    answer({ code: EXIT.ok, json: { ended }, text: (width) => hanging(line, width) }, flags);
  });
}

const HEAD = ['MUTED', 'UNTIL (UTC)', 'BY', 'REASON'];

export function mutesCommand({ world, answer }: Setting): Command {
  const command = new Command('mutes')
    .summary('muted crons and tags')
    .description('Lists the crons and tags whose alarms are muted, the mute that ends first at the top.');
  return withOutput(withDeploymentOptions(command)).action(async (flags: DeploymentFlags & OutputFlags) => {
    const mutes = await withDeployment(flags, world, (deployment) => deployment.mutes());
    const rows = mutes.map((mute) => [nameOf(mute), shortIso(mute.until), mute.by, mute.reason]);
    const text = (width: number) =>
      rows.length === 0 ? hanging('Nothing is muted.', width) : table([HEAD, ...rows], width);
    answer({ code: EXIT.ok, json: mutes, text }, flags);
  });
}

function targetOf(cron: string | undefined, tag: string | undefined): MuteTarget {
  if (cron !== undefined && tag === undefined) return { cron };
  if (tag !== undefined && cron === undefined) return { tag };
  throw new UsageError('Expected the name of a cron or --tag, and not both.');
}

function nameOf({ cron, tag }: Pick<Answers['Mute'], 'cron' | 'tag'>): string {
  return cron ?? `tag ${tag}`;
}
