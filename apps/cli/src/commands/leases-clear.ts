import { formatFence, parseFence } from '@fencepost/lease';
import { Command, InvalidArgumentError } from 'commander';
import type { Answers, ClearedLease, Deployment, MovedLease, Watched } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT, UsageError } from '../exit.js';
import { holderSeemsAlive } from '../jobs.js';
import { duration, words } from '../option-values.js';
import type { Report } from '../report.js';
import { hanging } from '../table.js';
import type { Setting, World } from '../world.js';
import { withBy, withJson, type OrderFlags } from './orders.js';

interface Flags extends DeploymentFlags, OrderFlags {
  readonly reason: string;
  readonly yes?: boolean;
  readonly fence?: string;
  readonly watch: number;
}

const ABOUT =
  'Clears the lease of a cron whose holder is dead, so that another pod acquires it at once, and writes an audit record. Then ' +
  'watches the cron for duplicate runs, stale claims and repeated attempts. Asks for confirmation at a ' +
  'terminal. Fails (1) if the lease had changed, or the watch saw a duplicate.';

export function clearCommand({ world, answer }: Setting): Command {
  const command = new Command('clear')
    .summary('clear the lease of a dead holder')
    .description(ABOUT)
    .argument('<cron>', 'its name')
    .requiredOption('--reason <words>', 'reason, kept in the audit trail', words)
    .option('--yes', 'skip the confirmation; required without a terminal')
    .option('--fence <number>', 'only while the lease has this fence ("fencepost leases")', fence)
    .option('--watch <duration>', 'how long to watch for duplicates afterwards; 0s: not at all', duration, 30_000);
  return withJson(withDeploymentOptions(withBy(command))).action(async (cron: string, own: Flags) => {
    // What stands before "clear", such as where the store is, is meant as well.
    const flags: Flags = { ...command.parent?.opts(), ...own };
    answer(await withDeployment(flags, world, (deployment) => clear(cron, flags, { deployment, world })), flags);
  });
}

async function clear(cron: string, flags: Flags, around: Around): Promise<Report> {
  const { deployment, world } = around;
  const { held } = await deployment.leases({ cron });
  const seen = held.find((lease) => lease.cron === cron);
  // An unknown name is refused here.
  if (!seen) return deployment.cron(cron).then(() => nothingHeld(cron));
  const { reason, fence: expected = seen.fence } = flags;
  if (expected === seen.fence && !(await agreed(seen, flags, world))) return notCleared(seen);
  const reply = await deployment.clearLease(cron, { reason, fence: expected });
  if (!('cleared' in reply)) return movedReport(cron, reply);
  return clearedReport(reply, await watched(reply, flags, world));
}

interface Around {
  readonly deployment: Deployment;
  readonly world: World;
}

/** @throws {UsageError} where nobody can be asked, and nobody has said --yes */
async function agreed(seen: Answers['HeldLease'], { yes = false }: Flags, { ask, err }: World): Promise<boolean> {
  const about = warning(seen);
  err(`${about}\n`);
  if (yes) return true;
  if (!ask) throw new UsageError('Without a terminal, --yes is required. Nothing was changed.');
  return /^y(es)?$/i.test((await ask(`Clear the lease of ${seen.cron} with fence ${seen.fence}? [y/N] `)).trim());
}

function warning(seen: Answers['HeldLease']): string {
  const { cron, holder, fence: issued, remainingMs, holderSilentMs } = seen;
  const who = `${holder} holds ${cron} with fence ${issued}, for ${(remainingMs / 1_000).toFixed(1)} s more`;
  if (holderSeemsAlive(seen)) {
    return (
      `${who}, and IS ALIVE: its last heartbeat was ${((holderSilentMs ?? 0) / 1_000).toFixed(1)} s ago. If you clear the lease, its next ` +
      'renewal is refused, after a third of the ttl, and it stops acting for the cron; then a pod acquires the lease with a ' +
      'larger fence, and writes with the old fence are refused. This only helps if that pod is stuck.'
    );
  }
  const heard =
    holderSilentMs === null
      ? 'it is not a live pod'
      : `its last heartbeat was ${(holderSilentMs / 1_000).toFixed(1)} s ago`;
  return `${who}; ${heard}. If you clear the lease, another pod acquires it at once, with a larger fence.`;
}

async function watched(reply: ClearedLease, { watch: ms }: Flags, world: World): Promise<Watched | null> {
  if (ms === 0) return null;
  const { cron } = reply.cleared;
  world.err(`The lease of ${cron} is cleared. Watching for duplicates for ${ms / 1_000} s; Ctrl-C stops early.\n`);
  return reply.watch(ms, world.interrupted());
}

function nothingHeld(cron: string): Report {
  const text = `The lease of ${cron} has no holder, so there is nothing to clear. A pod will acquire it.`;
  return { code: EXIT.ok, json: { cron, verdict: 'free' }, text: (width) => hanging(text, width) };
}

function notCleared({ cron }: Answers['Lease']): Report {
  const text = `The lease of ${cron} was not changed.`;
  return { code: EXIT.finding, json: { cron, verdict: 'declined' }, text: (width) => hanging(text, width) };
}

function movedReport(cron: string, { message, found }: MovedLease): Report {
  return {
    code: EXIT.finding,
    json: { cron, verdict: 'moved', found },
    text: (width) => hanging(message, width),
  };
}

function clearedReport({ cleared, next }: ClearedLease, watch: Watched | null): Report {
  const { cron } = cleared;
  const holding = watch ? watch.holding : next;
  const now = holding ? `${holding.holder} holds it now, with fence ${holding.fence}` : 'it has no holder yet';
  const lines = [
    `The lease of ${cron} with fence ${cleared.fence}, of ${cleared.holder}, is cleared; ${now}.`,
    ...(watch?.observations ?? []).map(({ level, text }) => `${level.toUpperCase()}: ${text}`),
    ...(watch?.verdict === 'clean' ? ['No duplicate was seen.'] : []),
    ...(watch?.verdict === 'free'
      ? ['No duplicate was seen, but no pod has acquired the lease: check "fencepost pods".']
      : []),
  ];
  return {
    code: watch === null || watch.verdict === 'clean' ? EXIT.ok : EXIT.finding,
    json: { cron, verdict: 'cleared', cleared, next, watch },
    text: (width) => lines.flatMap((line) => hanging(line, width)),
  };
}

function fence(text: string): string {
  try {
    return formatFence(parseFence(text));
  } catch {
    throw new InvalidArgumentError('Give the fence as "fencepost leases" shows it.');
  }
}
