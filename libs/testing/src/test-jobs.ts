import { randomUUID } from 'node:crypto';
import { parseDuration } from '@fencepost/lease/internal/options';
import { ManualClock } from '@fencepost/lease/testing';
import { MemoryCatalog, MemoryLedger } from '@fencepost/ledger/memory';
import type { Answer } from '@fencepost/ledger/run';
import { Jobs, Telemetry, type EnqueueOptions } from '@fencepost/jobs';
import type { FoundCron, QueuedDelivery } from '@fencepost/jobs/internal';
import { MemoryMembership } from '@fencepost/jobs/internal/scheduling';
import { CronOperator } from '@fencepost/operations';
import type { Fault, Marker, Write, FailPoints, Mishap } from './fail-points.js';
import { foundCrons } from './found-crons.js';
import { TestQueue } from './test-queue.js';
import { readTestRun, type TestRun } from './test-run.js';
import { TestScheduler } from './test-scheduler.js';
import { TestWorkers } from './test-workers.js';

export interface TestJobsOptions {
  /** Instances of classes with `@SingletonCron` or `@JobHandler`, and Nest applications or compiled testing modules. */
  readonly crons?: readonly object[];
  /** Where the clock stands first; midnight of 1 January 2030, UTC, by default. */
  readonly startsAt?: Date | number | string;
  /** After which a killed worker's run is taken over; default `'30s'`. */
  readonly runLease?: string | number;
  /**
   * How long, in milliseconds of the real clock, a handler may be busy with something real before the test's clock goes on
   * without it; default 200. One that waits for the test's clock itself is waited for no longer than that either.
   */
  readonly patienceMs?: number;
}

/** What a tool around the kit may put in its way. */
export interface TestHooks {
  /** Of the crons that were found those that are carried out, and how. */
  readonly through?: (found: ReadonlyMap<string, FoundCron>) => ReadonlyMap<string, FoundCron>;
  /** Made anew for each question; resolves when handlers are not to be waited for now. */
  readonly held?: () => Promise<void>;
  readonly ledgerOn?: (clock: ManualClock) => MemoryLedger;
}

/** BullMQ brings a job of a worker that is gone again after two of its checks. */
const STALLED_MS = 30_000;

/** A test that waits for more has a loop in it. */
const MAX_STEPS = 100_000;

/** A scheduler, workers and their stores in memory, whose time stands still until a test turns it. */
export class TestJobs {
  readonly clock: ManualClock;
  readonly ledger: MemoryLedger;
  readonly catalog: MemoryCatalog;
  readonly queue: TestQueue;
  readonly membership: MemoryMembership;
  readonly telemetry = new Telemetry();
  /** What code under test asks for runs with: to be provided as `Jobs`. What it asks for waits for {@link drain}. */
  readonly jobs: Jobs;
  /** What people do: trigger, pause, cancel, backfill. */
  readonly operator: CronOperator;
  /** The next worker that gets there is killed, as by SIGKILL: its lease runs out, and another one takes the run over. */
  readonly crash: Injector;
  /** The next worker that gets there stands still, and goes on with {@link Fault.thaw}. */
  readonly freeze: Injector;
  readonly #scheduler: TestScheduler;
  readonly #workers: TestWorkers;
  readonly #patienceMs: number;
  readonly #sources: object[] = [];
  #crons: ReadonlyMap<string, FoundCron> = new Map();
  #revision = 0;

  /** Use {@link testJobs}. */
  constructor(
    { startsAt = Date.UTC(2030, 0, 1), runLease = '30s', patienceMs = 200 }: TestJobsOptions,
    private readonly hooks: TestHooks = {},
  ) {
    this.#patienceMs = patienceMs;
    const clock = (this.clock = new ManualClock(instantOf(startsAt)));
    const ledger = (this.ledger = hooks.ledgerOn?.(clock) ?? new MemoryLedger(clock));
    const catalog = (this.catalog = new MemoryCatalog(clock));
    const queue = (this.queue = new TestQueue(clock));
    const { telemetry } = this;
    const membership = (this.membership = new MemoryMembership({ clock, version: () => this.catalog.version }));
    const ports = { catalog, ledger, queue, membership, clock };
    this.operator = new CronOperator(ports);
    this.jobs = new Jobs({ ...ports, readerOf: (job) => this.#crons.get(job)?.readPayload });
    this.#scheduler = new TestScheduler({ ledger, catalog, queue, clock, telemetry });
    const handlerOf = (cron: string) => this.#crons.get(cron);
    this.#workers = new TestWorkers({ ledger, clock, telemetry, runLeaseMs: parseDuration(runLease), handlerOf });
    this.crash = injectorOf(this.#workers.points, 'crash');
    this.freeze = injectorOf(this.#workers.points, 'freeze');
  }

  /**
   * More crons and jobs, as a new revision of the program has them.
   * @throws {CronDeclarationError} as at the start of a worker
   */
  async add(...sources: readonly object[]): Promise<void> {
    this.#sources.push(...sources);
    const found = foundCrons(this.#sources, this.clock);
    this.#crons = this.hooks.through?.(found) ?? found;
    this.#revision += 1;
    const declarations = [...this.#crons.values()].map(({ declaration }) => declaration);
    if (declarations.length > 0) await this.catalog.declare(declarations, { app: 'test', revision: this.#revision });
  }

  /**
   * Turns the clock to an instant of this cron, claims it, and carries the run out once. By default the instant that comes
   * next. Instants of the same cron before it are written off; all other crons fire as they would.
   * @returns the run as it is then: it may wait for another attempt, or for a person
   * @throws {UnknownCronError}
   */
  async fire(cron: string, at?: Date | number | string): Promise<TestRun> {
    const instant = at === undefined ? await this.#scheduler.next(cron) : instantOf(at);
    if (instant === null) throw new RangeError(`Expected a cron with instants, got "${cron}": trigger it instead.`);
    const dueAt = await this.#scheduler.dueAt(cron, instant);
    await this.#scheduler.without(cron, () => this.#turnTo(dueAt - 1));
    await this.clock.advance(Math.max(0, dueAt - this.clock.now()));
    const runId = await this.#scheduler.claim(cron, instant);
    await this.#work();
    return this.run(runId);
  }

  /**
   * Asks for a run of a job, and carries it out once if it may begin now.
   * @returns the run as it is then, also one that an idempotency key had asked for before
   */
  async enqueue(job: string, payload?: unknown, options: EnqueueOptions = {}): Promise<TestRun> {
    const { runId } = await this.jobs.enqueue(job, payload, options);
    await this.#work();
    return this.run(runId);
  }

  /** Turns the clock by `'2h'`, or milliseconds, and lets everything happen that is due meanwhile. */
  async advance(by: string | number): Promise<void> {
    await this.#turnTo(this.clock.now() + parseDuration(by));
  }

  /** Carries out all that waits, and turns the clock as far as that takes: to retries, and to the end of leases. */
  async drain(): Promise<void> {
    await this.#work();
    for (let step = 0; this.queue.nextAt < Infinity; step += 1) {
      if (step > MAX_STEPS) throw new Error(`Expected runs that end, still had one after ${MAX_STEPS} attempts.`);
      await this.#turnTo(Math.max(this.queue.nextAt, this.clock.now()));
    }
  }

  /** @throws {RangeError} for a run that isn't there */
  run(run: string | Pick<TestRun, 'id'>): Promise<TestRun> {
    const runId = typeof run === 'string' ? run : run.id;
    return readTestRun(this.ledger, runId, this.#workers.log(runId));
  }

  /** The newest first, skipped occurrences included. */
  async runs(cron: string): Promise<TestRun[]> {
    const runs = await this.ledger.runs(cron, 10_000);
    return Promise.all(runs.map(({ id }) => this.run(id)));
  }

  /** The next time this is written, the worker never gets the answer, as when a connection breaks. */
  loseReply(write: Write, effect?: string): Fault {
    return this.#workers.points.plan({ mishap: 'lose', when: 'after', write, effect });
  }

  /** The next time this is to be written, the ledger never hears of it. */
  loseRequest(write: Write, effect?: string): Fault {
    return this.#workers.points.plan({ mishap: 'lose', when: 'before', write, effect });
  }

  /** Whoever has written this last can be frozen later. */
  markAfter(write: Write, effect?: string): Marker {
    return this.#workers.points.mark({ when: 'after', write, effect });
  }

  /**
   * Answers the question of an uncertain run as a person does, and carries it out once more unless it is given up.
   * @param result of the effect, for an answer that it is done; anything JSON
   */
  async resolve(
    run: string | Pick<TestRun, 'id'>,
    verdict: Answer['verdict'],
    result: unknown = null,
  ): Promise<TestRun> {
    const runId = typeof run === 'string' ? run : run.id;
    const answer: Answer = verdict === 'done' ? { verdict, result: JSON.stringify(result) } : { verdict };
    const { state, attempt, unresolvedEffect } = await this.run(runId);
    if (!unresolvedEffect) throw new RangeError(`Expected an uncertain run, got one that is ${state}.`);
    const order = {
      by: 'test',
      reason: 'the test says so',
      nonce: randomUUID(),
      unresolvedEffect: { ...unresolvedEffect, attempt },
    };
    const reply = await this.ledger.resolve(runId, { ...order, answer });
    if (reply.verdict !== 'resolved') throw new RangeError(`Expected "${runId}" to wait for it, got ${reply.verdict}.`);
    if (reply.delivery) await this.queue.enqueue([reply.delivery]);
    await this.#work();
    return this.run(runId);
  }

  async #turnTo(end: number): Promise<void> {
    await this.#step();
    for (let next = this.#nextAt(); next <= end; next = this.#nextAt()) {
      await this.clock.advance(Math.max(0, next - this.clock.now()));
      await this.#step();
    }
    await this.clock.advance(Math.max(0, end - this.clock.now()));
  }

  #nextAt(): number {
    return Math.min(this.#scheduler.nextAt, this.queue.nextAt);
  }

  async #step(): Promise<void> {
    await this.#scheduler.dispatch();
    await this.#work();
  }

  /** All that is due, at once, as workers with room enough do. */
  async #work(): Promise<void> {
    const due = this.queue.take();
    await Promise.all(due.map((delivery) => this.#patiently(this.#deliver(delivery))));
  }

  async #deliver(delivery: QueuedDelivery): Promise<void> {
    const outcome = await this.#workers.deliver(delivery.runId);
    if (outcome.kind === 'later') this.queue.later(delivery, this.clock.now() + outcome.waitMs);
    else if (outcome.kind === 'gone') this.queue.later(delivery, this.clock.now() + STALLED_MS);
    else this.queue.done(delivery);
  }

  async #patiently(work: Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, this.#patienceMs)));
    await Promise.race([work, patience, ...(this.hooks.held ? [this.hooks.held()] : [])]);
    clearTimeout(timer);
  }
}

/**
 * Crons and jobs under test, without a server and without Nest: `await testJobs({ crons: [new Orders(payments)] })`.
 * @throws {CronDeclarationError} as at the start of a worker
 */
export async function testJobs(options: TestJobsOptions = {}): Promise<TestJobs> {
  const jobs = new TestJobs(options);
  await jobs.add(...(options.crons ?? []));
  return jobs;
}

function instantOf(at: Date | number | string): number {
  const instant = new Date(at).getTime();
  if (!Number.isFinite(instant))
    throw new RangeError(`Expected an instant such as "2030-01-01T03:00Z", got "${String(at)}".`);
  return instant;
}

/** Where the next worker that gets there comes to harm. Writes are those of the ledger. */
export interface Injector {
  /** Before this is written. `effect`: of which one; of any by default. */
  before(write: Write, effect?: string): Fault;
  /** After it was written, and before the worker hears of it. */
  after(write: Write, effect?: string): Fault;
  /** The run is begun, and its handler is not called. */
  afterBegin(): Fault;
  /** The effect is begun, and what it does is not called. */
  beforeEffect(effect: string): Fault;
  /** It has happened, and nobody has written that down. */
  afterEffect(effect: string): Fault;
  /** The handler has returned, and the run doesn't know. */
  beforeFinish(): Fault;
}

function injectorOf(points: FailPoints, mishap: Extract<Mishap, 'crash' | 'freeze'>): Injector {
  const before = (write: Write, effect?: string) => points.plan({ mishap, when: 'before', write, effect });
  const after = (write: Write, effect?: string) => points.plan({ mishap, when: 'after', write, effect });
  return {
    before,
    after,
    afterBegin: () => after('begin'),
    beforeEffect: (effect) => after('beginEffect', effect),
    afterEffect: (effect) => before('finishEffect', effect),
    beforeFinish: () => before('finish'),
  };
}
