import { formatFence, parseFence, type Fence } from '@fencepost/lease';
import { ownerPrefix } from '@fencepost/lease/internal';
import { Command, InvalidArgumentError } from 'commander';
import { EXIT, UsageError } from '../exit.js';
import {
  holderSeemsAlive,
  LeaseMovedError,
  presentLease,
  type ClearedLease,
  type CronLease,
  type WatchReport,
} from '../jobs.js';
import { duration, words } from '../option-values.js';
import { iso, type Report } from '../report.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore, type Store } from '../store/store.js';
import { hanging } from '../table.js';
import type { Setting, World } from '../world.js';
import { placeOf, ROLE } from './audited.js';
import { asker, withBy, withJson, type OrderFlags } from './orders.js';

interface Flags extends StoreFlags, OrderFlags {
  readonly reason: string;
  readonly yes?: boolean;
  readonly fence?: Fence;
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
  return withJson(withStoreOptions(withBy(command))).action(async (cron: string, own: Flags) => {
    // What stands before "clear", such as where the store is, is meant as well.
    const flags: Flags = { ...command.parent?.opts(), ...own };
    answer(await withStore(flags, world, (store) => clear(cron, flags, { store, world })), flags);
  });
}

async function clear(cron: string, flags: Flags, { store, world }: Around): Promise<Report> {
  const seen = await store.leases.look(cron);
  if (seen === null) return nothingHeld(cron);
  if (flags.fence !== undefined && flags.fence !== seen.fence)
    return moved(new LeaseMovedError(cron, flags.fence, seen));
  if (!(await agreed(seen, flags, world))) return notCleared(seen);
  const { reason } = flags;
  const order = { fence: seen.fence, by: asker(flags, world), reason, role: ROLE, from: placeOf(world) };
  let cleared: ClearedLease;
  try {
    cleared = await store.leases.clear(cron, order);
  } catch (error) {
    if (error instanceof LeaseMovedError) return moved(error);
    throw error;
  }
  return clearedReport(cleared, flags.watch === 0 ? null : await watched(cleared, flags, { store, world }));
}

interface Around {
  readonly store: Store;
  readonly world: World;
}

/** @throws {UsageError} where nobody can be asked, and nobody has said --yes */
async function agreed(seen: CronLease, { yes = false }: Flags, { ask, err }: World): Promise<boolean> {
  const about = warning(seen);
  err(`${about}\n`);
  if (yes) return true;
  if (!ask) throw new UsageError('Without a terminal, --yes is required. Nothing was changed.');
  return /^y(es)?$/i.test((await ask(`Clear the lease of ${seen.cron} with fence ${seen.fence}? [y/N] `)).trim());
}

function warning(seen: CronLease): string {
  const { cron, holder, fence: issued, remainingMs, holderSilentMs } = seen;
  const who = `${ownerPrefix(holder)} holds ${cron} with fence ${formatFence(issued)}, for ${(remainingMs / 1_000).toFixed(1)} s more`;
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

async function watched(cleared: ClearedLease, { watch }: Flags, { store, world }: Around): Promise<WatchReport> {
  const { cron, marker } = cleared;
  world.err(`The lease of ${cron} is cleared. Watching for duplicates for ${watch / 1_000} s; Ctrl-C stops early.\n`);
  return store.leases.watchDuplicates(cron, watch, { marker, signal: world.interrupted() });
}

function nothingHeld(cron: string): Report {
  const text = `The lease of ${cron} has no holder, so there is nothing to clear. A pod will acquire it.`;
  return { code: EXIT.ok, json: { cron, verdict: 'free' }, text: (width) => hanging(text, width) };
}

function notCleared({ cron }: CronLease): Report {
  const text = `The lease of ${cron} was not changed.`;
  return { code: EXIT.finding, json: { cron, verdict: 'declined' }, text: (width) => hanging(text, width) };
}

function moved({ cron, message, found }: LeaseMovedError): Report {
  const lease = found && presentLease({ cron, ...found });
  return {
    code: EXIT.finding,
    json: { cron, verdict: 'moved', found: lease },
    text: (width) => hanging(message, width),
  };
}

function clearedReport({ cron, cleared, next }: ClearedLease, watch: WatchReport | null): Report {
  const holding = watch ? watch.holding : next;
  const now = holding
    ? `${ownerPrefix(holding.holder)} holds it now, with fence ${formatFence(holding.fence)}`
    : 'it has no holder yet';
  const lines = [
    `The lease of ${cron} with fence ${formatFence(cleared.fence)}, of ${ownerPrefix(cleared.holder)}, is cleared; ${now}.`,
    ...(watch?.observations ?? []).map(({ level, text }) => `${level.toUpperCase()}: ${text}`),
    ...(watch?.verdict === 'clean' ? ['No duplicate was seen.'] : []),
    ...(watch?.verdict === 'free'
      ? ['No duplicate was seen, but no pod has acquired the lease: check "fencepost pods".']
      : []),
  ];
  const present = (one: ClearedLease['next']) => one && presentLease({ cron, ...one });
  const shown = watch && { ...watch, from: iso(watch.from), holding: present(watch.holding) };
  return {
    code: watch === null || watch.verdict === 'clean' ? EXIT.ok : EXIT.finding,
    json: { cron, verdict: 'cleared', cleared: present(cleared), next: present(next), watch: shown },
    text: (width) => lines.flatMap((line) => hanging(line, width)),
  };
}

function fence(text: string): Fence {
  try {
    return parseFence(text);
  } catch {
    throw new InvalidArgumentError('Give the fence as "fencepost leases" shows it.');
  }
}
