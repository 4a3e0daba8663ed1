import { seededRandom } from '../support/seeded-random.js';
import { privateRedis } from '../support/redis.js';
import { databaseServer, type DatabaseServer } from './database.js';
import { openFormerBuild } from './former-build.js';
import { finalAfter } from './programs.js';
import { faultsOf, FULL, type Form, type StruckStage } from './forms.js';
import { unleash, type Strike } from './nemesis.js';
import type { LeaseSystemName } from './leases/lease-system.js';
import { sometimesOf } from './observations.js';
import { openStage, type Stage } from './stage.js';
import { Truth } from './truth.js';
import { closingLine, type ChaosVerdict, type EpisodeVerdict } from './verdict.js';

export interface ChaosOptions {
  /** How long the nemesis strikes, over all episodes. */
  readonly seconds: number;
  readonly ledger: 'redis' | 'postgres';
  /** Where the leases of crons are, when that is not the Redis of the rest. */
  readonly leases?: LeaseSystemName;
  /** Whether Redis is wiped again and again, in every topology; with the ledger in PostgreSQL only. */
  readonly wipeRedis?: boolean;
  readonly seed: number;
  /** How much there is of everything; default all of it. */
  readonly form?: Form;
  /** How many processes are hurt at the same time, of twice as many: half of them schedulers, half workers. Default 3. */
  readonly pace?: number;
  /** Ends it early, as Ctrl-C does: what was struck is mended, and nothing is left running. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (line: string) => void;
  /** Whether workers are deployed, rolled back, configured otherwise and scaled down beside all faults. */
  readonly deploys?: boolean;
  /** Whether pods of the format before take turns with those of this one; with the ledger in Redis only. */
  readonly mixed?: boolean;
  /** A folder for what was recorded; by default it is deleted. */
  readonly keepIn?: string;
}

const PACE = 3;
/** Longer than for other faults: what was in the queue has to be delivered again before, or no worker comes to do anything. */
const WIPE_PAUSE_MS = { least: 3_000, most: 10_000 };
/** Between the end of one deployment and the beginning of the next. */
const DEPLOY_PAUSE_MS = { least: 500, most: 6_000 };
const DATABASE_PAUSE_MS = { least: 300, most: 1_200 };
/** Times the time it was given: how long it may take until each kind has struck. */
const LONGER = 3;
const LOOK_MS = 100;

interface Struck {
  readonly faults: Readonly<Record<string, number>>;
  readonly processFaults: number;
  /** How long it took. */
  readonly seconds: number;
}

export interface ChaosResult extends ChaosVerdict {
  readonly form: Form['name'];
  readonly leases: 'redis' | LeaseSystemName;
  /** Processes that ended although nobody had hurt them. */
  readonly fallen: readonly string[];
  readonly processesStarted: number;
  /** With `mixed`: how many processes were of the format before, and how often the last of them had gone. */
  readonly formats?: Formats;
  /** For how long it struck. */
  readonly seconds: number;
}

interface Formats {
  readonly formerStarted: number;
  readonly risen: number;
}

/** Several schedulers and workers on real stores, a nemesis, and an oracle that compares what should be with what is. */
export async function chaos(options: ChaosOptions): Promise<ChaosResult> {
  const { seconds, ledger, seed, signal = new AbortController().signal, onProgress = () => {} } = options;
  const { form = FULL, pace = PACE, wipeRedis = false, deploys = false, keepIn, leases, mixed = false } = options;
  const kept = { ...(keepIn === undefined ? {} : { keepIn }), ...(mixed ? { former: openFormerBuild() } : {}) };
  const sink = await privateRedis();
  let database: DatabaseServer | undefined;
  const done: Awaited<ReturnType<typeof play>>[] = [];
  try {
    database = ledger === 'postgres' ? await databaseServer() : undefined;
    for (const [n, { topology, share }] of form.parts.entries()) {
      if (signal.aborted) break;
      const on = await openStage({
        topology,
        pace,
        wipeRedis,
        deploys,
        sinkUrl: sink.url,
        ...(database ? { database } : {}),
        ...(leases ? { leases } : {}),
        ...kept,
      });
      const random = seededRandom(seed + n);
      const ms = (1_000 * seconds * share) / form.parts.reduce((sum, part) => sum + part.share, 0);
      onProgress(`${topology}: ${Math.round(ms / 1_000)} s`);
      try {
        done.push(await play(on, { random, ms, form, pace, deploys, signal, onProgress }));
      } finally {
        await on.close();
      }
    }
  } finally {
    await sink.stop();
    await database?.stop();
  }
  return told(options, done);
}

interface Play {
  readonly random: () => number;
  readonly ms: number;
  readonly pace: number;
  readonly deploys: boolean;
  readonly form: Form;
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
}

interface Played extends Struck {
  readonly formats: Formats;
  readonly verdict: EpisodeVerdict;
  readonly fallen: readonly string[];
  readonly processesStarted: number;
}

async function play(stage: Stage, given: Play): Promise<Played> {
  const { fleet, episode } = stage;
  const truth = await Truth.watch(episode);
  try {
    const { struck, disorderly } = await hurt(stage, truth, given);
    given.onProgress(`${stage.episode.topology}: all pods have ended`);
    const verdict = await truth.verdict();
    given.onProgress(`${stage.episode.topology}: judged`);
    const fallen = [...fleet.fallen.map(({ name, how }) => `${name}: ${how}`), ...disorderly];
    const formats = { formerStarted: fleet.formerLaunches, risen: fleet.said('format_risen') };
    return { ...struck, verdict, fallen, formats, processesStarted: fleet.launches };
  } catch (error) {
    // What it has opened is closed by its verdict, which nobody wants any more.
    await truth.verdict().catch(() => {});
    throw error;
  }
}

/** The life of the pods: started, hurt, healed and stopped. */
async function hurt(stage: Stage, truth: Truth, { random, ms, pace, deploys, form, signal, onProgress }: Play) {
  const { fleet, episode } = stage;
  try {
    await fleet.start(signal);
    onProgress(`${episode.topology}: all pods are up`);
    if (!signal.aborted) await truth.order();
    const onStrike = ({ kind, phase }: Strike) => onProgress(`${episode.topology}: ${kind} ${phase}`);
    const struck = await strikeAll(faultsOf(stage, form), { random, ms, pace, signal, onStrike });
    await fleet.untilUp(signal);
    // What no worker has a handler for would wait for ever.
    if (deploys) await fleet.deploy(finalAfter(fleet.deployed), signal);
    fleet.calm();
    onProgress(`${episode.topology}: healed`);
    if (!signal.aborted) await truth.settle(deploys ? fleet.deployed : null);
    onProgress(`${episode.topology}: settled`);
    return { struck, disorderly: await fleet.stop() };
  } finally {
    await fleet.stop();
  }
}

interface Striking {
  readonly random: () => number;
  readonly ms: number;
  readonly pace: number;
  readonly signal: AbortSignal;
  readonly onStrike: (strike: Strike) => void;
}

/**
 * Side by side: processes, Redis and the network in front of it, and the database. It goes on for longer where a machine is
 * too slow for each kind to have struck in time.
 */
async function strikeAll(stage: StruckStage, { ms, pace, ...striking }: Striking): Promise<Struck> {
  const { processFaults, redisFaults, databaseFaults, wipes, leaseFaults, deployFaults, redisPauseMs } = stage;
  const kinds = [processFaults, redisFaults, databaseFaults, wipes, leaseFaults, deployFaults];
  const missing = new Set(kinds.flat().map(({ kind }) => kind));
  const over = new AbortController();
  const since = performance.now();
  const look = () => {
    const sinceMs = performance.now() - since;
    if (sinceMs > (missing.size === 0 ? ms : LONGER * ms)) over.abort();
  };
  const onStrike = (strike: Strike) => {
    striking.onStrike(strike);
    if (strike.phase === 'mended') missing.delete(strike.kind);
  };
  const looking = setInterval(look, LOOK_MS);
  const signal = AbortSignal.any([striking.signal, over.signal]);
  const pauses = new Map([
    [redisFaults, redisPauseMs],
    [wipes, WIPE_PAUSE_MS],
  ] as const);
  const all = kinds.map((faults) => {
    const store = pauses.get(faults) ?? DATABASE_PAUSE_MS;
    const isDeploying = faults === deployFaults;
    const how = isDeploying
      ? { pauseMs: { process: DEPLOY_PAUSE_MS } }
      : { atOnce: { process: pace }, pauseMs: { store } };
    const nemesis = { ...striking, ...how, faults, signal, onStrike };
    return unleash(nemesis).catch((error: unknown) => {
      over.abort();
      throw error;
    });
  });
  await Promise.allSettled(all);
  clearInterval(looking);
  const counts = await Promise.all(all);
  const ofProcesses = Object.values(counts[0] ?? {}).reduce((sum, count) => sum + count, 0);
  const seconds = (performance.now() - since) / 1_000;
  return { faults: Object.assign({}, ...counts) as Record<string, number>, processFaults: ofProcesses, seconds };
}

function told({ seed, ledger, leases, mixed, form = FULL }: ChaosOptions, done: readonly Played[]): ChaosResult {
  const faults: Record<string, number> = {};
  for (const [kind, count] of done.flatMap((one) => Object.entries(one.faults))) {
    faults[kind] = (faults[kind] ?? 0) + count;
  }
  const processFaults = done.reduce((sum, one) => sum + one.processFaults, 0);
  const { name, observations, maxStallMs } = form;
  const verdict = closingLine({
    ...{ seed, ledger, faults, processFaults, maxStallMs },
    observations: leases ? [...(observations ?? sometimesOf(ledger)), 'claimed.minority-away'] : observations,
    episodes: done.map((one) => one.verdict),
  });
  const fallen = done.flatMap((one) => one.fallen);
  const processesStarted = done.reduce((sum, one) => sum + one.processesStarted, 0);
  const seconds = Math.round(done.reduce((sum, one) => sum + one.seconds, 0));
  const formats = sumOf(done.map((one) => one.formats));
  const isMixed = Object.values(formats).every((count) => count > 0);
  return {
    ...verdict,
    ok: verdict.ok && fallen.length === 0 && (!mixed || isMixed),
    ...(mixed ? { formats } : {}),
    form: name,
    leases: leases ?? 'redis',
    fallen,
    processesStarted,
    seconds,
  };
}

function sumOf(all: readonly Formats[]): Formats {
  const sum = (of: (one: Formats) => number) => all.reduce((total, one) => total + of(one), 0);
  return {
    formerStarted: sum((one) => one.formerStarted),
    risen: sum((one) => one.risen),
  };
}
