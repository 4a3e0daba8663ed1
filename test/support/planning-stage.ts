import { parseFence, type Lease } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { ManualClock } from '@fencepost/lease/testing';
import { EFFECTIVE_AFTER_MS, type CatalogEntry, type CronDefinition, type CronState } from '@fencepost/ledger/catalog';
import type { Delivery } from '@fencepost/ledger';
import { MemoryLedger } from '@fencepost/ledger/memory';
import { Dispatcher, holdCron, type HeldCron } from '@fencepost/jobs/internal/scheduling';
import { Schedules } from '@fencepost/jobs/internal';
import { Telemetry } from '@fencepost/jobs';
import { MemoryRunQueue } from '@fencepost/testing';
import { flaky } from './flaky.js';
import { recordedEvents } from './recorded.js';
import { recount, type Tally } from './recount.js';

export interface PlanningStageOptions {
  readonly startsAt?: number;
  /** How long each run takes; left out, nobody carries any out. */
  readonly runForMs?: number;
  /** How far the pod's clock runs ahead of the store's. */
  readonly podAheadMs?: number;
}

/** Store and pod are never asked for more than this in one test: a loop that spins fails instead of hanging. */
const MAX_LOOKS = 200_000;

/** Below the engine: held crons, a dispatcher over a memory ledger, and a clock that jumps from one look to the next. */
export class PlanningStage {
  readonly start: number;
  /** The store's. */
  readonly clock: ManualClock;
  readonly memoryLedger: MemoryLedger;
  readonly ledger;
  readonly queue;
  readonly telemetry = new Telemetry();
  readonly events = recordedEvents(this.telemetry);
  readonly dispatcher: Dispatcher;
  readonly held = new Map<string, HeldCron>();
  /** Read by the dispatcher: what was heard `lagMs` ago, or nothing since `heardAt`. */
  readonly freshness = { heardAt: null as number | null, lagMs: 0, knownAt: 0 };
  podAheadMs: number;
  looks = 0;
  readonly #entries = new Map<string, CatalogEntry>();
  readonly #lookAt = new Map<string, number | null>();
  #fence = 0;

  constructor({ startsAt = Date.UTC(2030, 0, 1), runForMs, podAheadMs = 0 }: PlanningStageOptions = {}) {
    this.start = startsAt;
    this.podAheadMs = podAheadMs;
    const clock = (this.clock = new ManualClock(startsAt));
    this.memoryLedger = new MemoryLedger(clock);
    this.ledger = flaky(this.memoryLedger);
    const work = runForMs === undefined ? {} : { work: (delivery: Delivery) => this.#deliver(delivery, runForMs) };
    this.queue = flaky(new MemoryRunQueue({ clock, ...work }));
    const { freshness, telemetry } = this;
    Object.defineProperty(freshness, 'knownAt', { get: () => freshness.heardAt ?? clock.now() - freshness.lagMs });
    const podClock = {
      now: () => clock.now() + this.podAheadMs,
      monotonic: () => clock.monotonic(),
      after: (delayMs: number, task: () => void) => clock.after(delayMs, task),
    };
    const schedules = new Schedules({ clock: podClock, telemetry });
    const [ledger, queue] = [this.ledger.port, this.queue.port];
    this.dispatcher = new Dispatcher({ ledger, queue, telemetry, schedules, freshness, clock: podClock });
  }

  /** A new cron, effective at once. */
  declare(over: Partial<CronDefinition> = {}, state: CronState = 'active'): CatalogEntry {
    const definition = definitionOf(over);
    const first = { definition, state, generation: 1, since: this.clock.now(), by: 'me', reason: null };
    return this.#put({ ...first, past: [], app: null, revision: null, zoneData: 'x' });
  }

  /** The next generation, which is effective a moment later; the holder hears of it at once. */
  redefine(over: Partial<CronDefinition>, state: CronState = 'active', since?: number): CatalogEntry {
    const entry = this.entry(definitionOf(over).name);
    const { past, app, revision, zoneData, ...last } = entry;
    const definition = { ...last.definition, ...over };
    return this.#put({
      ...{
        ...last,
        definition,
        state,
        generation: last.generation + 1,
        past: [...past, last],
        app,
        revision,
        zoneData,
      },
      since: since ?? this.clock.now() + EFFECTIVE_AFTER_MS,
    });
  }

  entry(name: string = CRON): CatalogEntry {
    const entry = this.#entries.get(name);
    if (!entry) throw new Error(`Expected a cron that was declared, got "${name}".`);
    return entry;
  }

  /** A new term for every cron there is, as after a takeover: each goes on from the ledger's cursor. */
  async take(names: readonly string[] = [...this.#entries.keys()]): Promise<void> {
    this.#fence += 1;
    for (const name of names) {
      const held = holdCron(this.entry(name), leaseOf(name, this.#fence));
      held.cursor = (await this.memoryLedger.readCron(name)).cursor;
      held.known = true;
      this.held.set(name, held);
      this.#lookAt.set(name, this.clock.now() + this.podAheadMs);
    }
  }

  /** Nobody is there for so long. */
  async outage(ms: number): Promise<void> {
    this.held.clear();
    await this.clock.advance(ms);
    await this.take();
  }

  /** Serves what is held for so long. */
  async serve(ms: number): Promise<void> {
    const end = this.clock.now() + ms;
    for (let at = this.#next(); at <= end; at = this.#next()) {
      if (at > this.clock.now()) await this.clock.advance(at - this.clock.now());
      await this.look();
    }
    await this.clock.advance(end - this.clock.now());
  }

  /** One dispatch of all that is due. */
  async look(): ReturnType<Dispatcher['dispatch']> {
    this.looks += 1;
    if (this.looks > MAX_LOOKS) throw new Error(`Expected a pod that waits between its looks, not ${MAX_LOOKS} looks.`);
    const now = this.clock.now() + this.podAheadMs;
    const due = [...this.held].filter(([name]) => (this.#lookAt.get(name) ?? Infinity) <= now);
    const dispatched = await this.dispatcher.dispatch(due.map(([, held]) => held));
    due.forEach(([name], n) => {
      const one = dispatched[n];
      this.#lookAt.set(name, one && 'lookAt' in one ? one.lookAt : null);
    });
    return dispatched;
  }

  #next(): number {
    let least = Infinity;
    for (const name of this.held.keys()) least = Math.min(least, this.#lookAt.get(name) ?? Infinity);
    return least - this.podAheadMs;
  }

  #put(entry: CatalogEntry): CatalogEntry {
    const { name } = entry.definition;
    this.#entries.set(name, entry);
    const held = this.held.get(name);
    if (held) {
      held.entry = entry;
      this.#lookAt.set(name, this.clock.now() + this.podAheadMs);
    }
    return entry;
  }

  async #deliver({ runId }: Delivery, runForMs: number) {
    const nonce = `attempt at ${this.clock.monotonic()}`;
    const reply = await this.memoryLedger.begin({
      runId,
      nonce,
      worker: 'w/1',
      ttlMs: runForMs + 60_000,
      maxAttempts: 3,
    });
    if (reply.verdict === 'busy' || reply.verdict === 'not-due')
      return { kind: 'later', waitMs: reply.waitMs } as const;
    if (reply.verdict !== 'begun') return { kind: 'settled' } as const;
    await sleep(this.clock, runForMs);
    await this.memoryLedger.finish({ runId, nonce, fence: reply.fence }, { kind: 'succeeded' });
    return { kind: 'settled' } as const;
  }
}

export const CRON = 'every-second';

function definitionOf(over: Partial<CronDefinition>): CronDefinition {
  return {
    ...{ name: CRON, expression: '* * * * * *', timeZone: 'UTC' },
    ...{ misfire: 'fire-once', overlap: 'allow', graceMs: 60_000, catchUpWindowMs: null, ...over },
  };
}

/** As if it had been acquired, and without an end. */
export function leaseOf(resource: string, fence: number): Lease {
  return {
    ...{
      resource,
      nonce: `term ${fence}`,
      holder: 'pod/1',
      ttlMs: 9_000,
      trustedUntil: Infinity,
      acquiredAt: new Date(0),
    },
    fence: parseFence(fence.toFixed(0)),
    signal: new AbortController().signal,
    release: async () => true,
    extend: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

/** A cron in its first second, held. */
export async function oneCron(over: Partial<CronDefinition> = {}, options: PlanningStageOptions = {}) {
  const stage = new PlanningStage(options);
  stage.declare(over);
  await stage.take();
  await stage.clock.advance(1_000);
  const held = heldIn(stage);
  const at = (second: number) => stage.start + second * 1_000;
  const dispatch = (...crons: HeldCron[]): ReturnType<Dispatcher['dispatch']> =>
    stage.dispatcher.dispatch(crons.length === 0 ? [held] : crons);
  return { stage, held, at, dispatch, idOf: (second: number) => `${CRON}@${at(second)}` };
}

function heldIn(stage: PlanningStage, name = CRON): HeldCron {
  const held = stage.held.get(name);
  if (!held) throw new Error(`Expected ${name} to be held.`);
  return held;
}

/** Another cron, as if it were held by the same pod since the start of the stage. */
export function another(stage: PlanningStage, over: Partial<CronDefinition> = {}): HeldCron {
  const entry = stage.declare({ name: 'other', ...over });
  const held = holdCron({ ...entry, since: stage.start }, leaseOf('other', 1));
  held.known = true;
  return held;
}

/** Seconds since the start of every run of the cron, oldest first. */
export async function ran(stage: PlanningStage, cron = CRON): Promise<number[]> {
  const runs = await stage.memoryLedger.runs(cron, 100_000);
  return runs.map(({ scheduledAt }) => (scheduledAt - stage.start) / 1_000).toReversed();
}

/** What the ledger of a stage tells of one cron, up to now. */
export async function told(stage: PlanningStage): Promise<Tally> {
  return recount(stage.memoryLedger, stage.entry(), stage.clock.now());
}

/** Three seconds of a cron that fires each second, and half of one. */
export async function begun(over: Partial<CronDefinition>): Promise<PlanningStage> {
  const stage = new PlanningStage();
  stage.declare(over);
  await stage.take();
  await stage.serve(3_500);
  return stage;
}
