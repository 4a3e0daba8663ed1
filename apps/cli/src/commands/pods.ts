import { Command } from 'commander';
import type { Answers, Deployment } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import { shortIso, type Report } from '../report.js';
import { hanging, table } from '../table.js';
import { unreportedText } from '../jobs.js';
import type { Setting } from '../world.js';
import { type OutputFlags, withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OutputFlags {}

const ABOUT =
  'Lists pods that reported within 15 s: role, version, app and revision, clock skew against the store, ' +
  'event loop lag (p99), and load.';

const HEAD = [
  'POD',
  'ROLES',
  'VERSION',
  'ZONES',
  'APP',
  'REVISION',
  'CLOCK',
  'STORE',
  'LAG',
  'CRONS',
  'RUNS',
  'SINCE (UTC)',
];

const MORE = ['HOST', 'PID', 'LEDGER', 'LEASES', 'HEARD (UTC)'];

export function podsCommand({ world, answer }: Setting): Command {
  const command = new Command('pods').summary('live pods and their state').description(ABOUT);
  return withOutput(withDeploymentOptions(command)).action(async (flags: Flags) => {
    answer(await withDeployment(flags, world, list), flags);
  });
}

async function list(deployment: Deployment): Promise<Report> {
  const { items: pods, unreported } = await deployment.pods();
  const notes = [
    ...(pods.length === 0 ? [await nothing(deployment)] : []),
    ...(unreported?.length ? [unreportedText(unreported)] : []),
    ...(unreported === null
      ? ['Whether other processes are live is unknown: their heartbeats could not be read.']
      : []),
  ];
  const below = (width: number) => notes.flatMap((note) => hanging(note, width));
  return {
    code: EXIT.ok,
    json: pods,
    text: (width) => [...table(under(HEAD, pods.map(row)), width), ...below(width)],
    wide: (width) => [...table(under([...HEAD, ...MORE], pods.map(wideRow)), width), ...below(width)],
  };
}

function under(head: string[], rows: string[][]): string[][] {
  return rows.length === 0 ? [] : [head, ...rows];
}

async function nothing(deployment: Deployment): Promise<string> {
  const { prefix, tenant } = await deployment.place();
  return `No pods under the prefix "${prefix}" and the tenant "${tenant}": none has reported within 15 s.`;
}

function row(card: Answers['Pod']): string[] {
  const { pod, roles, version, zoneData, app, revision, clockSkewMs, rttMs, lagMs, startedAt } = card;
  const crons = card.assigned === null ? '-' : `${card.held} of ${card.assigned}${behind(card)}`;
  const runs = card.concurrency === null ? '-' : `${card.running} of ${card.concurrency}`;
  return [
    ...[pod, roles.join('+'), version, zoneData, app ?? '-', revision === null ? '-' : `${revision}`],
    ...[clockSkewMs === null ? '-' : `${clockSkewMs < 0 ? '' : '+'}${Math.round(clockSkewMs)} ms`, tenths(rttMs)],
    ...[tenths(lagMs), crons, runs, shortIso(startedAt)],
  ];
}

/** A burst is no news while it drains within a second. */
const BEHIND_MS = 1_000;

function behind({ lateMs }: Answers['Pod']): string {
  return lateMs === null || lateMs <= BEHIND_MS ? '' : `, ${Math.round(lateMs / 1_000)} s behind`;
}

function wideRow(card: Answers['Pod']): string[] {
  const { host, pid, ledger, leases, seenAt } = card;
  return [...row(card), host, `${pid}`, ledger, leases ?? '-', shortIso(seenAt)];
}

function tenths(ms: number | null): string {
  return ms === null ? '-' : `${ms.toFixed(1)} ms`;
}
