import { systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { seededRandom } from '../support/seeded-random.js';
import { processFaults } from '../chaos/faults/process-faults.js';
import type { Fault } from '../chaos/fault.js';
import { unleash, type Strike } from '../chaos/nemesis.js';
import { freshPrefix, privateRedis } from '../support/redis.js';
import { countDamage, missing, spanBetween, writtenUntil, type Damage, type SinkEntry, type Span } from './counting.js';
import { Crew } from './crew.js';
import { CADENCE_MS, EXPRESSION, LOCK_MS, WORK_MS, type Peer } from './peers.js';
import type { Sink, SinkAddress } from './sink.js';
import type { Store } from './store.js';
import { workFaults } from './work-faults.js';

export interface Torture {
  readonly seed: number;
  readonly seconds: number;
  /** How long nothing strikes at first, as a control; default 5. */
  readonly calmSeconds?: number;
  /** The kinds that strike; default all. */
  readonly only?: readonly string[];
  readonly signal?: AbortSignal;
  readonly onStrike?: (strike: Strike) => void;
}

export interface Outcome extends Damage {
  readonly name: string;
  readonly version: string;
  /** What went wrong before anything was struck: that is the machine's doing, or the settings'. */
  readonly calm: Damage;
  /** Writes that the sink refused; `null` where it refuses none. */
  readonly refused: number | null;
  readonly faults: Readonly<Record<string, number>>;
}

/** What every peer can meet, whatever it is made of. */
const ANYBODYS = ['sigkill', 'sigstop'];
/** Time to recover between two outages of the store, so that it is there for most of the time. */
const PAUSE_MS = { store: { least: 2_000, most: 5_000 } };
/** The peers may be slow to come back to what is left over; who makes no progress for so long is done. */
const PATIENCE_MS = 15_000;
/** Whoever lost a lock in the middle of its work has been followed by somebody else after this. */
const TAKEN_OVER_MS = 3 * LOCK_MS;
const CALM_SECONDS = 5;
const MAX_START_MS = 60_000;
const LOOK_MS = 250;

/** Starts servers and processes of its own, strikes them for so many seconds, heals, waits, stops, and counts. */
export async function torturePeer(peer: Peer, torture: Torture): Promise<Outcome> {
  const setup = await setUp(peer);
  try {
    return await play(peer, { setup, torture });
  } finally {
    await setup.close();
  }
}

async function play({ name, version }: Peer, { setup, torture }: { setup: Setup; torture: Torture }): Promise<Outcome> {
  const { crew, sink } = setup;
  const signal = AbortSignal.any([AbortSignal.timeout(MAX_START_MS), ...(torture.signal ? [torture.signal] : [])]);
  await crew.start(signal);
  if (signal.aborted) throw new Error(`Expected the processes of ${name} to start.\n${crew.lastLines()}`);
  const calm = await watchCalm(sink, torture);
  const begin = Date.now();
  const faults = await strike(setup, torture);
  const span = spanBetween(begin, Date.now(), CADENCE_MS);
  await crew.untilUp(AbortSignal.timeout(MAX_START_MS));
  await settle(sink, span);
  await crew.stop();
  const [log, refused] = [await sink.log(), await sink.refused()];
  return { name, version, ...countDamage(log, span), calm: damageIn(calm, log), refused, faults };
}

interface Setup {
  readonly crew: Crew;
  readonly sink: Sink;
  readonly store: Store;
  readonly close: () => Promise<void>;
}

async function setUp(peer: Peer): Promise<Setup> {
  const server = await privateRedis();
  const store = await peer.store();
  const prefix = freshPrefix();
  const address = { url: server.url, log: `${prefix}-sink` };
  const env = { ...environment(address, prefix), ...store.env };
  const crew = new Crew(peer.members.map((member) => ({ ...member, env })));
  const sink = peer.sink(address);
  const close = async () => {
    await crew.stop();
    sink.close();
    await store.stop();
    await server.stop();
  };
  return { crew, sink, store, close };
}

/** Fencepost's own names beside those of the peers; nobody reads what is not for them. */
function environment({ url, log }: SinkAddress, prefix: string): Record<string, string> {
  return {
    ...{ SINK_REDIS_URL: url, SINK_LOG: log },
    ...{ PEER_PREFIX: prefix, PEER_EXPRESSION: EXPRESSION, PEER_CADENCE_MS: `${CADENCE_MS}` },
    ...{ PEER_LOCK_MS: `${LOCK_MS}`, PEER_WORK_MS: `${WORK_MS}` },
    ...{ FENCEPOST_PREFIX: prefix, FENCEPOST_LEASE_TTL: `${LOCK_MS}ms`, FENCEPOST_RUN_LEASE: `${LOCK_MS}ms` },
    ...{ FENCEPOST_SWEEP_EVERY: `${LOCK_MS / 2}ms`, FENCEPOST_APP: 'torture' },
  };
}

interface Calm {
  readonly span: Span;
  readonly log: readonly SinkEntry[];
}

/** From the first write on: before it the schedule may not stand yet. */
async function watchCalm(sink: Sink, { calmSeconds = CALM_SECONDS, signal }: Torture): Promise<Calm> {
  const longest = performance.now() + MAX_START_MS;
  while (performance.now() < longest && !(await sink.log()).some(({ kind }) => kind === 'written')) {
    await sleep(systemClock, LOOK_MS, signal);
    if (signal?.aborted) break;
  }
  const begin = Date.now();
  await sleep(systemClock, calmSeconds * 1_000, signal);
  return { span: spanBetween(begin, Date.now(), CADENCE_MS), log: await sink.log() };
}

/** What came late is not missed. */
function damageIn(calm: Calm, log: readonly SinkEntry[]): Damage {
  return { ...countDamage(calm.log, calm.span), missed: missing(log, calm.span).length };
}

async function strike(setup: Setup, torture: Torture): Promise<Readonly<Record<string, number>>> {
  const { seed, seconds, only, onStrike } = torture;
  const over = AbortSignal.timeout(seconds * 1_000);
  const signal = AbortSignal.any([over, ...(torture.signal ? [torture.signal] : [])]);
  const faults = faultsOf(setup).filter(({ kind }) => only?.includes(kind) ?? true);
  const random = seededRandom(seed);
  const counts = await unleash({ faults, random, signal, pauseMs: PAUSE_MS, ...(onStrike ? { onStrike } : {}) });
  // The nemesis may be done before the time is over when there is nothing it can do.
  await sleep(systemClock, seconds * 1_000, signal);
  return counts;
}

function faultsOf({ crew, sink, store }: Setup): Fault[] {
  const anybodys = processFaults({ herd: crew, leaseMs: LOCK_MS }).filter(({ kind }) => ANYBODYS.includes(kind));
  return [...anybodys, ...workFaults({ crew, sink, lockMs: LOCK_MS }), ...store.faults];
}

/**
 * Until every instant is written, or nothing more comes; and as long as somebody may do again what was done. What lay there
 * before counts as progress too: who works off a queue in its order comes to the span last.
 */
async function settle(sink: Sink, span: Span): Promise<void> {
  const begin = performance.now();
  let most = 0;
  let progress = begin;
  while (performance.now() - progress < PATIENCE_MS) {
    const log = await sink.log();
    const done = writtenUntil(log, span.to);
    if (done > most) progress = performance.now();
    if (missing(log, span).length === 0 && performance.now() - begin > TAKEN_OVER_MS) return;
    most = Math.max(most, done);
    await sleep(systemClock, LOOK_MS);
  }
}
