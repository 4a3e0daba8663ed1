import { Command, Option } from 'commander';
import type { Answers, Deployment, Leases, OwnKind } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { wholeNumber, words } from '../option-values.js';
import type { Report } from '../report.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { clearCommand } from './leases-clear.js';
import { type OutputFlags, withOutput } from '../output.js';

type Kind = 'cron' | OwnKind;

interface Flags extends DeploymentFlags, OutputFlags {
  readonly cron?: string;
  readonly tag?: string;
  readonly resource?: string;
  readonly kind?: Kind;
  readonly holder?: string;
  readonly limit: number;
  readonly after?: string;
}

/** All that was asked for; `next`: where the rest of the own ones begins. */
interface Listing extends Leases {
  readonly own: readonly Answers['OwnLease'][];
  readonly next: string | null;
  /** The servers of the quorum that the leases of crons are on, and which pods leave each out; none where that is no quorum. */
  readonly nodes: readonly { readonly node: string; readonly leftOutBy: readonly string[] }[];
}

const KINDS: readonly Kind[] = ['cron', 'lease', 'semaphore', 'election', 'flight'];
const MAX = 10_000;
const PAGE = 500;
const NO_CRONS: Leases = { held: [], free: [] };
const NO_OWN = { own: [], next: null };
const ABOUT =
  'Lists what is held: the leases of crons, those of the application itself, each place of a semaphore, and the roles of ' +
  'elections; with holder, fence, remaining time without renewal, and since when it is held. "fencepost leases clear" ends ' +
  'the lease of a dead holder.';

export function leasesCommand(setting: Setting): Command {
  const { world, answer } = setting;
  const command = new Command('leases')
    .summary('what is held; "clear" ends the lease of a dead holder')
    .description(ABOUT)
    // Else what stands after "clear" would be taken for options of this one.
    .enablePositionalOptions()
    .option('--cron <text>', 'only crons whose name contains this', words)
    .option('--tag <tag>', 'only crons with this tag', words)
    .option('--resource <text>', 'only leases of the application whose name contains this', words)
    .addOption(new Option('--kind <kind>', 'only these').choices(KINDS))
    .option('--holder <text>', 'only leases whose holder contains this', words)
    .option('--limit <n>', 'about how many leases of the application', wholeNumber(1, MAX), PAGE)
    .option('--after <cursor>', 'only leases of the application after the last listing', words)
    .addCommand(clearCommand(setting));
  return withOutput(withDeploymentOptions(command)).action(async (flags: Flags) => {
    const listing = await withDeployment(flags, world, (deployment) => list(flags, deployment));
    answer(reportOf(listing), flags);
  });
}

async function list(flags: Flags, deployment: Deployment): Promise<Listing> {
  const { cron, tag, resource, kind, holder, after } = flags;
  const isOnlyOwn = resource !== undefined || after !== undefined || (kind !== undefined && kind !== 'cron');
  const isOnlyCrons = cron !== undefined || tag !== undefined || kind === 'cron';
  const named = { ...(cron !== undefined && { cron }), ...(tag !== undefined && { tag }) };
  const crons = isOnlyOwn ? NO_CRONS : await deployment.leases({ ...named, ...(holder !== undefined && { holder }) });
  const nodes = isOnlyOwn ? [] : nodesIn((await deployment.pods()).items);
  return { ...crons, nodes, ...(isOnlyCrons ? NO_OWN : await ownOnes(flags, deployment)) };
}

function nodesIn(pods: readonly Answers['Pod'][]): Listing['nodes'] {
  const seen = pods.flatMap(({ pod, leaseNodes }) => leaseNodes.map((one) => ({ ...one, pod })));
  const names = [...new Set(seen.map(({ node }) => node))].toSorted();
  const leftOutBy = (name: string) =>
    seen.filter(({ node, healthy }) => node === name && !healthy).map(({ pod }) => pod);
  return names.map((node) => ({ node, leftOutBy: leftOutBy(node) }));
}

/** Page after page until there are as many as were asked for: an empty page doesn't mean that nothing follows. */
async function ownOnes({ resource, kind, holder, limit, after }: Flags, deployment: Deployment) {
  const filter = {
    ...(resource !== undefined && { resource }),
    ...(holder !== undefined && { holder }),
    ...(kind !== undefined && kind !== 'cron' && { kind }),
  };
  const found = new Map<string, Answers['OwnLease']>();
  let next = after ?? null;
  do {
    const page = { limit: Math.min(limit - found.size, PAGE), ...(next !== null && { after: next }) };
    const { items, next: following } = await deployment.ownLeases(filter, page);
    // A store may show one twice.
    for (const item of items) found.set(`${item.kind} ${item.resource} ${item.fence}`, item);
    next = following;
  } while (next !== null && found.size < limit);
  return { own: [...found.values()], next };
}

function reportOf({ held, free, own, next, nodes }: Listing): Report {
  const cronHead = ['CRON', 'HOLDER', 'FENCE', 'LEFT', 'HELD SINCE', 'HOLDER HEARD'];
  const ownHead = ['LEASE', 'KIND', 'HOLDER', 'FENCE', 'LEFT', 'HELD SINCE', 'HOLDER'];
  const more = `There are more: "fencepost leases --after ${JSON.stringify(next)}" goes on.`;
  return {
    code: EXIT.ok,
    json: { held, free, own, next, nodes },
    names: [...held.map(({ cron }) => cron), ...own.map(({ resource }) => resource)],
    text: (width) => [
      ...(held.length + own.length === 0 ? ['No lease is held.'] : []),
      ...(held.length === 0 ? [] : table([cronHead, ...held.map(row)], width)),
      ...(held.length > 0 && own.length > 0 ? [''] : []),
      ...(own.length === 0 ? [] : table([ownHead, ...own.map(ownRow)], width)),
      ...(free.length === 0 ? [] : hanging(`Active crons without a holder: ${free.join(', ')}`, width)),
      ...(nodes.length === 0 ? [] : ['', ...table([['QUORUM NODE', 'STATE'], ...nodes.map(nodeRow)], width)]),
      ...(next === null ? [] : hanging(more, width)),
    ],
  };
}

function nodeRow({ node, leftOutBy }: Listing['nodes'][number]): string[] {
  return [node, leftOutBy.length === 0 ? 'asked by all' : `left out by ${leftOutBy.join(', ')}`];
}

function row(lease: Answers['HeldLease']): string[] {
  const { cron, holder, fence, remainingMs, heldSince } = lease;
  return [cron, holder, fence, seconds(remainingMs), since(heldSince), heard(lease)];
}

function ownRow({ resource, kind, holder, fence, remainingMs, heldSince, holderIsPod }: Answers['OwnLease']): string[] {
  const alive = holderIsPod ? 'a live pod' : 'unknown';
  return [resource, kind, holder, fence, seconds(remainingMs), since(heldSince), alive];
}

function seconds(remainingMs: number): string {
  return `${(remainingMs / 1_000).toFixed(1)} s`;
}

/** To the second, in UTC. */
function since(at: string | null): string {
  return at === null ? 'unknown' : `${at.slice(0, 19)}Z`;
}

function heard({ holderState, holderSilentMs }: Answers['HeldLease']): string {
  if (holderSilentMs === null) return holderState === 'gone' ? 'not for 15 s' : 'unknown';
  const ago = `${(holderSilentMs / 1_000).toFixed(1)} s ago`;
  return holderState === 'live' ? ago : `${ago}, silent`;
}
