import { nearNames } from '@fencepost/lease/internal/options';
import type { Run } from '@fencepost/ledger/run';
import { isManual } from '@fencepost/schedule';
import type { FoundCron } from '@fencepost/jobs/internal';
import { UnknownCronError } from '@fencepost/jobs/errors';
import { TestJobs } from '../test-jobs.js';
import type { TortureMishap } from './mishap.js';
import { Play } from './play.js';
import { Recorder } from './recorder.js';
import { seededRandom } from './scenarios.js';
import type { Observations } from './observations.js';
import type { SqlConnection, SqlResult } from '@fencepost/lease/postgres';
import type { StopWatching } from '@fencepost/lease/store';
import type {
  AttemptRef,
  TriggerReply,
  TransactionalLedger,
  TransactionReply,
  TransactionRequest,
} from '@fencepost/ledger';
import { MemoryLedger } from '@fencepost/ledger/memory';

export interface JobUnderTorture {
  readonly crons: () => readonly object[] | Promise<readonly object[]>;
  readonly job: string;
  readonly payload: unknown;
  readonly seed: number;
  readonly close?: () => Promise<void> | void;
}

interface PlayedOnce {
  readonly run: Run | null;
  readonly seen: Observations;
  /** The mishaps that happened: a handler need not come to where one was planned. */
  readonly struck: readonly TortureMishap[];
}

/** Each run begins at the same instant, so that names and keys made from it are the same in all of them. */
const STARTS_AT = Date.UTC(2030, 0, 1);

/** After its timeout a handler has a grace of at most 5 s. */
const GRACE_MS = 5_000;

/** A worker that has lost a message waits for the test's clock before it asks again: in vain, as long as nobody turns it. */
function patienceFor(mishaps: readonly TortureMishap[]): number {
  return mishaps.some(({ kind }) => kind === 'lose') ? 25 : 200;
}

function startOfAll(): number {
  return STARTS_AT;
}

/** One run of a job with fresh stores, and these mishaps. */
export async function playOnce(of: JobUnderTorture, mishaps: readonly TortureMishap[]): Promise<PlayedOnce> {
  let now = startOfAll;
  const restore = fakeGlobals(() => now(), seededRandom(of.seed));
  try {
    const crons = await of.crons();
    const play = new Play();
    const stage = new Stage(of.job, { play, patienceMs: patienceFor(mishaps) });
    const { kit } = stage;
    now = () => kit.clock.now();
    await kit.add(...crons);
    const { found, recorder } = stage.known();
    play.plan(kit, recorder, { mishaps, slowMs: (found.timeoutMs ?? 0) * 2 + GRACE_MS });
    const runId = await begin(kit, found, of);
    const run = await play.live(runId);
    return { run, seen: recorder, struck: play.struck };
  } finally {
    await of.close?.();
    restore();
  }
}

/** The kit with one job in it, whose handler is watched. */
class Stage {
  readonly kit: TestJobs;
  #known: { readonly found: FoundCron; readonly recorder: Recorder } | null = null;

  constructor(job: string, { play, patienceMs }: { readonly play: Play; readonly patienceMs: number }) {
    this.kit = new TestJobs(
      { startsAt: STARTS_AT, patienceMs },
      {
        held: () => play.hold.held(),
        ledgerOn: (clock) => new TransactionLedger(clock),
        through: (all) => new Map([[job, this.#watched(job, play, all)]]),
      },
    );
  }

  known() {
    if (!this.#known) throw new Error('Expected a job that was added.');
    return this.#known;
  }

  #watched(job: string, play: Play, all: ReadonlyMap<string, FoundCron>): FoundCron {
    const found = all.get(job);
    if (!found) throw UnknownCronError.of(job, nearNames(job, [...all.keys()]));
    const recorder = new Recorder(play, found.criticality ?? 'efficiency');
    this.#known = { found, recorder };
    return { ...found, handle: (run) => recorder.handle(run, found.handle) };
  }
}

/** @returns the id of the run, whose first attempt may be over */
async function begin(kit: TestJobs, { declaration }: FoundCron, { job, payload }: JobUnderTorture): Promise<string> {
  if (isManual(declaration.definition.expression)) return (await kit.enqueue(job, payload)).id;
  const { id } = await kit.fire(job);
  // One run is enough: its own instants would go on while the clock is turned to the end of leases.
  const order = { by: 'torture', reason: 'one run is looked at' };
  await kit.operator.pause(job, order);
  await kit.catalog.remove(job, { ...order, expected: 1 });
  return id;
}

/** Restores what was replaced. */
type Restore = () => void;

/**
 * Lets `Date` tell the time of a test's clock, and `Math.random` follow from a seed: what a handler makes of them is
 * another value in another attempt, as it would be, and the same one in another torture. For the whole process.
 */
function fakeGlobals(now: () => number, random: () => number): Restore {
  const [RealDate, realRandom] = [globalThis.Date, Math.random];
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args: unknown[], newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as Date,
    apply: () => new RealDate(now()).toString(),
    get: (target, property) => (property === 'now' ? now : (Reflect.get(target, property) as unknown)),
  });
  Math.random = random;
  return () => {
    globalThis.Date = RealDate;
    Math.random = realRandom;
  };
}

/**
 * The memory ledger with transactions in which there is no database: rows and record commit together, as far as there are
 * rows. Each query answers that it found none.
 */
class TransactionLedger extends MemoryLedger implements TransactionalLedger {
  async transaction(
    attempt: AttemptRef,
    { name, payloadHash = null }: TransactionRequest,
    work: (tx: SqlConnection) => Promise<string>,
  ): Promise<TransactionReply> {
    const begun = await this.beginEffect(attempt, { name, payloadHash, ifUnknown: 'go' });
    if (begun.verdict === 'stale') return { verdict: 'stale' };
    if (begun.verdict === 'done') return { verdict: 'done', result: begun.result, payloadHash: begun.payloadHash };
    const result = await work(NO_DATABASE).catch(async (error: unknown) => {
      await this.finishEffect(attempt, name, { kind: 'failed', error: 'rolled back' });
      throw error;
    });
    const reply = await this.finishEffect(attempt, name, { kind: 'done', result });
    return reply === 'recorded' ? { verdict: 'done', result, payloadHash } : { verdict: 'stale' };
  }

  async triggerIn(): Promise<TriggerReply> {
    throw new Error('Expected no run to be asked for in a transaction: a torture has no database.');
  }

  async watchTriggered(): Promise<StopWatching> {
    return async () => undefined;
  }

  async waitingCrons(): Promise<string[]> {
    return [];
  }
}

const NO_DATABASE: SqlConnection = {
  query: async (): Promise<SqlResult> => ({ rows: [], rowCount: 0 }),
  on: () => undefined,
  release: () => undefined,
};
