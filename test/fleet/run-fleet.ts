import { parseArgs } from 'node:util';
import { isBound } from '@fencepost/jobs/internal/scheduling';
import { MEASURED, POD_BASE_MB, type Costs } from './costs.js';
import { Day, type DayResult } from './day.js';
import { PlayedFleet, WAVES, ZONES, type PlayedResult } from './played-fleet.js';
import { Schedules } from './schedules.js';

const HELP = `npm run sim:fleet -- [--schedules 1000000] [--pods 100] [--hours 24] [--seed 1] [--measure] [--json]

Plans past the machine: a day of so many schedules on so many pods, on virtual time.

Played   scheduler pods as they are, with their membership, assignment, leases, takeover and claims, on stores in memory. They boot,
         are idle, are replaced in a rolling deploy, and lose a zone with a third of them just before a minute begins. Of the
         schedules a sample is played: some crons that are due at each minute, others that are idle, each standing for a group. From
         here come boot, idle commands, hand-overs, and how long a schedule has no holder.
Passed   all instants of the day, with a midnight in the middle, through the slices of the pods, and the pod of each schedule by
through  rendezvous hashing. Each schedule without a holder waits as long as a played one did. From here come lateness and commands.
Computed what a call costs: a server that does one thing at a time, for as long as was measured for such a call. Memory is the bytes
         of a schedule times their number, and a change of members costs a pod what its scores cost.

--measure  measures the costs first, on a private Redis, instead of taking those of test/fleet/costs.ts, and prints them;
           the memory of a pod is not measured

The last line with --json: ok · options · figures · claims. Exit code 1 when a claim fails. The same options give the same line,
without --measure.`;

interface Options {
  readonly schedules: number;
  readonly pods: number;
  readonly hours: number;
  readonly seed: number;
}

interface Flags {
  readonly measure: boolean;
  readonly json: boolean;
  readonly help: boolean;
}

function readOptions(args: string[]): Options & Flags {
  const number = (text: string) => ({ type: 'string' as const, default: text });
  const flag = { type: 'boolean' as const, default: false };
  const numbers = { schedules: number('1000000'), pods: number('100'), hours: number('24'), seed: number('1') };
  const options = { ...numbers, measure: flag, json: flag, help: flag };
  const { values } = parseArgs({ args, options });
  const { measure, json, help } = values;
  return {
    ...{
      schedules: whole('schedules', values.schedules, 1_000),
      pods: whole('pods', values.pods, 4),
      hours: whole('hours', values.hours, 2),
    },
    ...{ seed: whole('seed', values.seed, 0), measure, json, help },
  };
}

function whole(name: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least && text.trim() !== '') return value;
  throw new Error(`Expected a whole number from ${least} for --${name}, got "${text}".`);
}

/** Whether what was found is what is promised. */
export interface FleetReport {
  readonly ok: boolean;
  readonly options: Options;
  readonly figures: Readonly<Record<string, number>>;
  readonly claims: readonly Claim[];
}

interface Claim {
  readonly name: string;
  readonly measured: number;
  readonly atMost: number;
  readonly holds: boolean;
}

export async function simulateFleet(options: Options, costs: Costs = MEASURED): Promise<FleetReport> {
  const schedules = new Schedules(options.schedules, options.seed);
  const instantsPerSecond = schedules.instantsPerDay / 86_400;
  const played = await new PlayedFleet({ ...options, costs, instantsPerSecond, played: playedOf(options) }).play();
  const day = new Day({ ...options, schedules, costs, played }).run();
  const figures = figuresOf(options, costs, { played, day });
  const claims = claimsOf(figures, options, costs);
  return { ok: claims.every(({ holds }) => holds), options, figures, claims };
}

/** The fewest that are assigned by the same rule as all schedules, however many pods live: with fewer for each pod, crons are bound. */
function playedOf({ schedules, pods }: Options): number {
  const fewest = pods - Math.ceil(pods / ZONES);
  const views = Array.from({ length: pods + Math.ceil(pods / WAVES) - fewest + 1 }, (_, n) => fewest + n);
  let played = Math.min(schedules, 20 * pods);
  while (played < schedules && views.some((live) => isBound(played, live))) played += 1;
  return played;
}

function figuresOf(
  { schedules, pods }: Options,
  costs: Costs,
  { played, day }: { readonly played: PlayedResult; readonly day: DayResult },
): Record<string, number> {
  const { deploy, zoneLoss, idle } = played;
  const last = (gaps: readonly number[]) => gaps.at(-1) ?? 0;
  const podBytes = schedules * costs.knownBytes + (schedules / pods) * costs.heldBytes;
  const figures = {
    ...{ instants: day.instants, lost: day.lost, idleCommandsPerSecond: idle.commandsPerSecond },
    ...{ commandsPerSecond: day.commandsPerSecond.mean, commandsPerSecondBusiest: day.commandsPerSecond.busiestMinute },
    ...{ redisPercent: day.redisPercent.mean, redisPercentBusiest: day.redisPercent.busiestMinute },
    ...{ idleRedisPercent: idle.redisPercent, lateP50Ms: day.lateness.p50Ms, lateP99Ms: day.lateness.p99Ms },
    ...{ lateMaxMs: day.lateness.maxMs, othersP99Ms: day.others.p99Ms, othersMaxMs: day.others.maxMs },
    ...{ startedP50Ms: day.started.p50Ms, startedP99Ms: day.started.p99Ms, startedMaxMs: day.started.maxMs },
    ...{ zoneLossLateP99Ms: day.zoneLoss.p99Ms, zoneLossLateMaxMs: day.zoneLoss.maxMs },
    ...{ bootS: played.bootS, deployS: deploy.seconds, deployGapMaxMs: last(deploy.gapsMs) },
    ...{
      zoneLossDueS: last(zoneLoss.dueGapsMs) / 1_000,
      zoneLossS: last(zoneLoss.gapsMs) / 1_000,
      zoneLossPods: zoneLoss.dead,
    },
    handOversAgainstIdeal: (deploy.handOvers + zoneLoss.handOvers) / (deploy.ideal + zoneLoss.ideal),
    ...{ handOversOfDay: day.moved, mostAgainstMean: day.imbalance },
    ...{ redisMB: (schedules * costs.redisBytes) / 2 ** 20, podMB: POD_BASE_MB + podBytes / 2 ** 20 },
  };
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Number(value.toPrecision(4))]));
}

function claimsOf(figures: Readonly<Record<string, number>>, { schedules, pods }: Options, costs: Costs): Claim[] {
  const atMost = (name: string, figure: string, limit: number): Claim => {
    const measured = figures[figure] ?? NaN;
    return { name, measured, atMost: Number(limit.toPrecision(4)), holds: measured <= limit };
  };
  // Five seconds, and what one Redis needs to begin the terms, each with two readings of its record and its next due time.
  const termUs = costs.acquireUs + 2 * costs.readCronUs + costs.publishUs;
  const termsS = ((schedules * Math.ceil(pods / ZONES)) / pods) * (termUs / 1e6);
  return [
    atMost('instants lost', 'lost', 0),
    atMost('idle commands a second inside Redis', 'idleCommandsPerSecond', 4 * pods),
    atMost('hand-overs of deploy and zone loss against the ideal', 'handOversAgainstIdeal', 1.05),
    atMost('the most schedules of a pod against the mean', 'mostAgainstMean', 1.25),
    atMost('loss of a third of the pods until the last schedule is held, s', 'zoneLossS', 5 + termsS),
    atMost('p99 of the lateness, ms', 'lateP99Ms', 2_000),
    atMost('the latest of the others in a burst, ms', 'othersMaxMs', 500),
  ];
}

function told({ figures, claims }: FleetReport): string {
  const rows = Object.entries(figures).map(([name, value]) => `  ${name.padEnd(26)} ${value.toLocaleString('en')}`);
  const verdicts = claims.map(
    ({ name, measured, atMost, holds }) =>
      `  ${holds ? 'HOLDS' : 'FAILS'}  ${name}: ${measured}, claimed at most ${atMost}`,
  );
  return [...rows, ...verdicts].join('\n');
}

async function main(): Promise<void> {
  const { measure, json, help, ...options } = readOptions(process.argv.slice(3));
  if (help) return console.log(HELP);
  const costs = measure ? await (await import('./measure-costs.js')).measureCosts() : MEASURED;
  if (measure) console.error(`costs ${JSON.stringify(costs)}`);
  const report = await simulateFleet(options, costs);
  (json ? console.error : console.log)(told(report));
  if (json) console.log(JSON.stringify(report));
  if (!report.ok) process.exitCode = 1;
}

if (process.argv[1]?.endsWith('run-source.mjs')) await main();
