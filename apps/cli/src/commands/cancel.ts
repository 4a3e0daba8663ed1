import { Command } from 'commander';
import { EXIT, UsageError } from '../exit.js';
import type { CancelReply } from '../jobs.js';
import { positiveDuration, words } from '../option-values.js';
import { iso, shortIso } from '../report.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore } from '../store/store.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { audited, cronIn, runIn } from './audited.js';
import { asker, withBy, withJson, type OrderFlags } from './orders.js';

interface Flags extends StoreFlags, OrderFlags {
  readonly reason: string;
  readonly grace?: number;
}

const ABOUT =
  'Cancels one run. A waiting run ends at once; a running one is signalled, and its writes are refused after the grace period.';

export function cancelCommand({ world, answer }: Setting): Command {
  const command = new Command('cancel')
    .summary('cancel one run')
    .description(ABOUT)
    .argument('<run-id>', 'such as nightly-report@1763607600000')
    .requiredOption('--reason <words>', 'reason, kept in the audit trail', words)
    .option('--grace <duration>', 'grace period (default: that of its cron)', positiveDuration);
  return withJson(withStoreOptions(withBy(command))).action(async (runId: string, flags: Flags) => {
    const { reason, grace } = flags;
    const order = { by: asker(flags, world), reason, ...(grace !== undefined && { graceMs: grace }) };
    const reply = await withStore(flags, world, async (store) => {
      const { state } = (await runIn(store, runId)) ?? { state: null };
      const about = { by: order.by, reason, action: 'cancel', cron: cronIn(runId), runId, before: { state } };
      return audited({ store, world }, { ...about, changed: isChange }, () => store.operator.cancel(runId, order));
    });
    if (reply.verdict === 'missing') throw new UsageError(missing(runId));
    const until = reply.verdict === 'cancelling' ? { until: iso(reply.until) } : {};
    const code = reply.verdict === 'terminal' ? EXIT.finding : EXIT.ok;
    const json = { runId, ...reply, ...until };
    answer({ code, json, text: (width) => hanging(sentence(runId, reply), width) }, flags);
  });
}

function isChange({ verdict }: CancelReply): boolean {
  return verdict === 'cancelled' || verdict === 'cancelling';
}

function missing(runId: string): string {
  return `There is no run "${runId}". "fencepost list --json" shows the latest run of each cron.`;
}

function sentence(runId: string, reply: Exclude<CancelReply, { verdict: 'missing' }>): string {
  switch (reply.verdict) {
    case 'cancelled':
      return `${runId} is cancelled.`;
    case 'cancelling':
      return `${runId} is being cancelled; its writes are refused from ${shortIso(reply.until)}.`;
    case 'terminal':
      return `${runId} had already ended: ${reply.state}.`;
  }
}
