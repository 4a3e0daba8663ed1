import { ownerPrefix } from '@fencepost/lease/internal';
import { Command } from 'commander';
import { EXIT } from '../exit.js';
import { presentPod, type PodCard } from '../jobs.js';
import { shortIso, type Report } from '../report.js';
import { withStoreOptions, type StoreFlags } from '../store/store-options.js';
import { withStore, type Store } from '../store/store.js';
import { hanging, table } from '../table.js';
import type { Setting } from '../world.js';
import { withJson, type JsonFlags } from './orders.js';

interface Flags extends StoreFlags, JsonFlags {}

const ABOUT =
  'Lists pods that reported within 15 s: role, version and program, clock skew against the store, ' +
  'event loop lag (p99), and load.';

const HEAD = ['POD', 'ROLES', 'VERSION', 'ZONES', 'BUILD', 'CLOCK', 'STORE', 'LAG', 'CRONS', 'RUNS', 'SINCE (UTC)'];

export function podsCommand({ world, answer }: Setting): Command {
  const command = new Command('pods').summary('live pods and their state').description(ABOUT);
  return withJson(withStoreOptions(command)).action(async (flags: Flags) => {
    answer(await withStore(flags, world, list), flags);
  });
}

async function list({ pods, prefix, tenant }: Store): Promise<Report> {
  const cards = await pods.list();
  const nobody = `No pods under the prefix "${prefix}" and the tenant "${tenant}": none has reported recently.`;
  return {
    code: EXIT.ok,
    json: cards.map(presentPod),
    text: (width) => (cards.length === 0 ? hanging(nobody, width) : table([HEAD, ...cards.map(row)], width)),
  };
}

function row(card: PodCard): string[] {
  const { pod, roles, version, zoneData, buildSeq, clockSkewMs, rttMs, lagMs, startedAt } = card;
  const crons = card.assigned === null ? '-' : `${card.held} of ${card.assigned}`;
  const runs = card.concurrency === null ? '-' : `${card.running} of ${card.concurrency}`;
  return [
    ...[ownerPrefix(pod), roles.join('+'), version, zoneData, buildSeq === null ? '-' : `${buildSeq}`],
    ...[`${clockSkewMs < 0 ? '' : '+'}${Math.round(clockSkewMs)} ms`, `${rttMs.toFixed(1)} ms`],
    ...[`${lagMs.toFixed(1)} ms`, crons, runs, shortIso(startedAt)],
  ];
}
