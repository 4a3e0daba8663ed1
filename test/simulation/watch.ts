import type { Clock } from '@fencepost/lease';
import type { Ledger, CronRecord, ItemRecord } from '@fencepost/ledger';
import type { Run, EffectRecord } from '@fencepost/ledger/run';
import { isTerminal } from '@fencepost/ledger/run';
import type { Sometimes } from '../support/seeded-random.js';
import type { LedgerBranch } from './rules/branches.js';
import { partsOf, type Part } from './rules/calls.js';
import { newCron, type KnownCron, newRun, type KnownEffect, type KnownRun } from './rules/known.js';
import { followStep } from './rules/states.js';
import { Violation } from './rules/violation.js';
import { settle, type Settled, type World } from './settle.js';

const ALL = Number.MAX_SAFE_INTEGER;

/** What a ledger still has of a cron. */
interface Left {
  readonly record: CronRecord;
  readonly runs: readonly LeftRun[];
}

interface LeftRun {
  readonly run: Run;
  readonly effects: readonly EffectRecord[];
  readonly items: readonly (readonly [effect: string, items: readonly ItemRecord[]])[];
}

type Reads = Pick<Ledger, 'readCron' | 'runs' | 'effects' | 'items'>;

/** Reads all that is left. Which items there are only somebody knows who saw them begin. */
async function whatIsLeft(ledger: Reads, cron: KnownCron): Promise<Left> {
  const [record, runs] = await Promise.all([ledger.readCron(cron.name), ledger.runs(cron.name, ALL)]);
  return { record, runs: await Promise.all(runs.map((run) => leftOf(ledger, cron, run))) };
}

async function leftOf(ledger: Reads, cron: KnownCron, run: Run): Promise<LeftRun> {
  const names = [...(cron.runs.get(run.id)?.items.keys() ?? [])];
  const items = names.map(async (name) => [name, await ledger.items(run.id, name)] as const);
  return { run, effects: await ledger.effects(run.id), items: await Promise.all(items) };
}

/**
 * Promises nothing any more that the ledger has lost. The fences of attempts are not cut back: sinks have seen them, and the
 * time in them keeps them growing.
 */
function cutBack(cron: KnownCron, { record, runs }: Left): void {
  const { fence, cursor, generation, paused } = record;
  // Of which term the fence was is lost: the next claim shows it.
  Object.assign(cron, { fence, cursor, generation, paused, term: null });
  const before = new Map(cron.runs);
  cron.runs.clear();
  cron.open.clear();
  for (const left of runs) {
    cron.runs.set(left.run.id, recalled(left, before.get(left.run.id)));
    if (!isTerminal(left.run.state)) cron.open.add(left.run.id);
  }
}

function recalled({ run, effects, items }: LeftRun, before: KnownRun | undefined): KnownRun {
  const known = newRun(run.id, run.state);
  const { attempt, fence, delivery, unresolvedEffect } = run;
  const nonce = before?.attempts.get(fence ?? 0) ?? null;
  // Until when its lease goes, and how many answers are left, only the ledger knows.
  Object.assign(known, { attempt, fence, delivery, unresolvedEffect, nonce, leaseUntil: null });
  Object.assign(known, {
    capacity: before?.capacity ?? Infinity,
    answers: before?.answers ?? 0,
    cancelUntil: run.cancel?.until ?? Infinity,
  });
  for (const [at, name] of before?.attempts ?? []) known.attempts.set(at, name);
  for (const [at, state] of before?.finished ?? []) known.finished.set(at, state);
  for (const word of [...(before?.allowed ?? []), ...(before?.perhaps ?? [])]) known.perhaps.add(word);
  for (const effect of effects)
    known.effects.set(effect.name, recalledEffect(effect, before?.effects.get(effect.name)));
  for (const [name, all] of items) known.items.set(name, new Map(all.map((item) => recalledItem(item, name, before))));
  return known;
}

function recalledEffect({ state, fence, result }: EffectRecord, before: KnownEffect | undefined): KnownEffect {
  return { state, result, first: state === 'begun' ? fence : (before?.first ?? fence) };
}

function recalledItem({ key, state }: ItemRecord, name: string, before: KnownRun | undefined): [string, KnownEffect] {
  return [key, { state, result: null, first: before?.items.get(name)?.get(key)?.first ?? 0 }];
}

export { Violation } from './rules/violation.js';
export { attend, BRANCHES } from './rules/branches.js';

export interface WatchOptions {
  /** The store's clock: the same as the ledger's. */
  readonly clock: Pick<Clock, 'now'>;
  readonly sometimes: Pick<Sometimes<LedgerBranch>, 'saw'>;
  /** Within this of being due an instant is not late by the clock of the holder; by default nothing is demanded of it. */
  readonly graceOf?: (cron: string, holder: string) => number;
  /** Whether the ledger keeps whatever it has acknowledged. */
  readonly durable: boolean;
}

type Records = ReadonlyMap<string, Run | null>;

/**
 * Stands in front of a ledger and holds each answer against the invariants of the protocols. It knows what was promised from
 * the answers before, and reads what a call may have touched in the same turn of the event loop in which the call is made:
 * a ledger whose calls don't happen at once can't be watched so closely.
 *
 * What is broken is kept for `check`: the process that made the call would take an error for one of the store's.
 */
export class Watch {
  readonly #crons = new Map<string, KnownCron>();
  #ledger: Ledger | null = null;
  #violation: Error | null = null;
  #learning: Promise<void> | null = null;
  #lastJudged: Promise<unknown> = Promise.resolve();
  #losses = 0;

  constructor(private readonly options: WatchOptions) {}

  over(ledger: Ledger): Ledger {
    this.#ledger = ledger;
    return new Proxy(ledger, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => this.#through(String(name), args, () => Reflect.apply(value, target, args));
      },
    });
  }

  /** The first thing that was broken. */
  get violation(): Error | null {
    return this.#violation;
  }

  /** @throws {Violation} cheap enough for every step */
  check(): void {
    if (this.#violation) throw this.#violation;
  }

  /** The ledger went back to an earlier state: what it has lost is not promised any more. */
  onHistoryLost(): void {
    if (this.options.durable) this.#violation ??= new Violation('I2', 'a durable ledger lost its history');
    this.#losses += 1;
    const ledger = this.#ledger;
    if (ledger === null) return;
    const crons = [...this.#crons.values()];
    const learning = Promise.all(crons.map(async (cron) => cutBack(cron, await whatIsLeft(ledger, cron))));
    this.#learning = learning.then(
      () => void (this.#learning = null),
      (error: unknown) => void (this.#violation ??= error as Error),
    );
  }

  /**
   * Once everything is healed and has had its time.
   * @throws {Violation} for an instant that nobody accounted for, and for what is still open or overdue
   */
  async settle(world: Omit<World, 'ledger'>): Promise<Settled> {
    await this.#learning;
    this.check();
    if (this.#ledger === null) throw new Error('Expected a ledger to be watched.');
    return settle({ ...world, ledger: this.#ledger }, [...this.#crons.values()]);
  }

  async #through(call: string, args: readonly unknown[], ask: () => unknown): Promise<unknown> {
    const parts = partsOf(call, args);
    if (parts === null) return ask();
    const [now, losses] = [this.options.clock.now(), this.#losses];
    const answer = Promise.resolve(ask());
    const ids = [...new Set(parts.flatMap((part) => this.#touched(part)))];
    const reads = ids.map((id) => this.#ledger?.readRun(id) ?? Promise.resolve(null));
    return this.#inTurn(async (earlier) => {
      const [reply, ...records] = await Promise.allSettled([answer, ...reads]);
      await earlier;
      if (this.#learning) await this.#learning;
      if (reply.status === 'rejected') throw reply.reason;
      // Whatever it was told just before the loss is among what is left, or lost.
      if (losses !== this.#losses) return reply.value;
      const found = new Map(ids.map((id, n) => [id, valueOf(records[n]) as Run | null]));
      this.#note(() => this.#judge(parts, reply.value, { now, records: found }));
      return reply.value;
    });
  }

  /** Judged in the order in which the ledger did them: of two calls of one moment the later may be answered first. */
  #inTurn(judge: (earlier: Promise<unknown>) => Promise<unknown>): Promise<unknown> {
    const judged = judge(this.#lastJudged);
    this.#lastJudged = judged.catch(() => {});
    return judged;
  }

  /** What the call is about, and for one that may step on others, all of them that are not over. */
  #touched({ cron, run, steps }: Part): string[] {
    if (run === null) return [];
    const known = this.#cron(cron);
    return steps.others.length > 0 ? [run, ...known.open] : [run];
  }

  #judge(parts: readonly Part[], reply: unknown, at: { readonly now: number; readonly records: Records }): void {
    const saw = (branch: LedgerBranch) => this.options.sometimes.saw(branch);
    parts.forEach((part, n) => {
      const cron = this.#cron(part.cron);
      const answer = Array.isArray(reply) ? answerOf(reply[n]) : reply;
      if (answer === undefined && Array.isArray(reply)) return;
      const { holder } = part.request as { readonly holder?: string };
      const graceMs = holder === undefined ? -Infinity : (this.options.graceOf?.(part.cron, holder) ?? -Infinity);
      part.judge({ ...at, cron, request: part.request, reply: answer, graceMs, saw } as never);
      this.#follow(cron, part, at.records);
    });
  }

  #follow(cron: KnownCron, { run: own, steps }: Part, records: Records): void {
    for (const id of this.#touched({ cron: cron.name, run: own, steps } as Part)) {
      const [run, record] = [cron.runs.get(id), records.get(id)];
      if (!run || record === undefined) continue;
      const branch = followStep({
        cron,
        run,
        record,
        events: id === own ? [...steps.own, ...steps.others] : steps.others,
      });
      if (branch) this.options.sometimes.saw(branch);
    }
  }

  #cron(name: string): KnownCron {
    const known = this.#crons.get(name) ?? newCron(name);
    this.#crons.set(name, known);
    return known;
  }

  #note(act: () => unknown): void {
    try {
      act();
    } catch (error) {
      this.#violation ??= error as Error;
    }
  }
}

function valueOf(settled: PromiseSettledResult<unknown> | undefined): unknown {
  return settled?.status === 'fulfilled' ? settled.value : undefined;
}

/** Of a call for many: each has an outcome of its own, where it can fail. */
function answerOf(one: unknown): unknown {
  const settled = one as PromiseSettledResult<unknown>;
  return settled?.status === undefined ? one : valueOf(settled);
}
