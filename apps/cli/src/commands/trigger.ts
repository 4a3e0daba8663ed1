import { Command } from 'commander';
import { EXIT } from '../exit.js';
import type { TriggerReply } from '../jobs.js';
import { json, words, type JsonValue } from '../option-values.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore } from '../store/store.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { audited } from './audited.js';
import { asker, withBy, withJson, type OrderFlags } from './orders.js';

interface Flags extends StoreFlags, OrderFlags {
  readonly payload?: JsonValue;
  readonly reason?: string;
  readonly force?: boolean;
}

export function triggerCommand({ world, answer }: Setting): Command {
  const command = new Command('trigger')
    .summary('run a cron once, now')
    .description('Runs a cron once, now, beside its schedule. A pause does not keep it from running.')
    .argument('<cron>', 'its name')
    .option('--payload <json>', 'what the handler gets (else what the definition says)', json)
    .option('--reason <words>', 'why, for whoever asks later', words)
    .option('--force', 'also while as many of its runs are going as may');
  return withJson(withStoreOptions(withBy(command))).action(async (cron: string, flags: Flags) => {
    const { payload, reason, force = false } = flags;
    const order = {
      by: asker(flags, world),
      force,
      ...(reason !== undefined && { reason }),
      ...(payload && { payload: payload.value }),
    };
    const reply = await withStore(flags, world, (store) => {
      const about = { by: order.by, reason: reason ?? null, action: 'trigger', cron, changed: isClaimed, runOf };
      return audited({ store, world }, about, () => store.operator.trigger(cron, order));
    });
    const code = reply.verdict === 'claimed' ? EXIT.ok : EXIT.finding;
    answer({ code, json: { cron, ...reply }, text: (width) => hanging(sentence(cron, reply), width) }, flags);
  });
}

function isClaimed({ verdict }: TriggerReply): boolean {
  return verdict === 'claimed';
}

function runOf(reply: TriggerReply): string | null {
  return reply.verdict === 'claimed' ? reply.runId : null;
}

function sentence(cron: string, reply: TriggerReply): string {
  switch (reply.verdict) {
    case 'claimed':
      return `Run ${reply.runId} is on its way.`;
    case 'skipped':
      return `${cron} was not run: as many of its runs are going as may. --force runs it beside them.`;
    case 'exists':
      return `${cron} was not run: the run is there already (${reply.state}).`;
    case 'ahead':
      return `${cron} was not run: its instant is ahead.`;
    case 'forgotten':
      return `${cron} was not run: the order arrived too late, or again after its run was over and forgotten. Give it again.`;
  }
}
