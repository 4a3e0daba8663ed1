import type { Clock } from '@fencepost/lease';
import type { Ledger } from '../../libs/ledger/src/base/ledger.js';
import type { Run } from '../../libs/ledger/src/base/run.js';
import type { Sometimes } from '../support/sometimes.js';
import type { LedgerBranch } from './rules/branches.js';
import { partsOf, type Part } from './rules/calls.js';
import { cutBack, whatIsLeft } from './rules/cut-back.js';
import { newCron, type KnownCron } from './rules/known.js';
import { followStep } from './rules/states.js';
import { Violation } from './rules/violation.js';
import { settle, type Settled, type World } from './settle.js';

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
