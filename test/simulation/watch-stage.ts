import { randomUUID } from 'node:crypto';
import { parseFence, type Fence } from '@fencepost/lease';
import { ManualClock } from '@fencepost/lease/testing';
import type { AttemptRef, BeginReply, BeginRequest, ClaimRequest, Ledger } from '@fencepost/ledger';
import { MemoryLedger } from '@fencepost/ledger/memory';
import { occurrenceId } from '@fencepost/ledger/run';
import { entryOf, generationsOf } from '../support/audit-history.js';
import { Sometimes } from '../support/seeded-random.js';
import { LEDGER_BRANCHES } from './rules/branches.js';
import { Sinks } from './sinks.js';
import { Violation, Watch } from './watch.js';

export const MINUTE = 60_000;
export const SUCCEEDED = { kind: 'succeeded' } as const;
/** An effect of which a person is asked when nobody knows. */
export const ASK = { name: 'ask-mail', ifUnknown: 'tell' } as const;
export const ORDER = { by: 'ada', reason: 'a test' };
const CRON = 'tick';
const TTL_MS = 5 * MINUTE;

/** A cron that fires each minute, over a ledger that can be made to lie, and a watch that has to notice. */
export class WatchStage {
  readonly clock = new ManualClock();
  readonly start = this.clock.now();
  readonly sometimes = new Sometimes(LEDGER_BRANCHES);
  readonly sinks = new Sinks();
  readonly watch: Watch;
  readonly ledger: Ledger;
  #memory = new MemoryLedger(this.clock);
  #lies: Partial<Ledger> = {};

  constructor({ durable = true, graceMs = 0 } = {}) {
    const graceOf = () => graceMs;
    this.watch = new Watch({ clock: this.clock, sometimes: this.sometimes, durable, graceOf });
    const liar = new Proxy({} as Ledger, {
      get: (_, name) => {
        const told: unknown = Reflect.get(this.#lies, name) ?? Reflect.get(this.#memory, name);
        return typeof told === 'function' ? told.bind(this.#memory) : told;
      },
    });
    this.ledger = this.watch.over(liar);
  }

  /** The first thing that the watch found, in words. */
  get broken(): string {
    const { violation } = this.watch;
    return violation instanceof Violation ? violation.message : `no violation: ${String(violation)}`;
  }

  /** From now on these calls are answered in this way. */
  lie(lies: Partial<Ledger>): void {
    this.#lies = { ...this.#lies, ...lies };
  }

  /** From now on every run begins, whatever the ledger thinks of it. */
  answerBegun(fence: number, attempt: number): void {
    const run = {} as never;
    this.lie({ begin: async (): Promise<BeginReply> => ({ verdict: 'begun', fence: fence as Fence, attempt, run }) });
  }

  /** The ledger has forgotten everything, or goes on with what it had when `keep` was called. */
  forgetAll(kept = new MemoryLedger(this.clock)): void {
    this.#memory = kept;
  }

  instant(n: number): number {
    return this.start + n * MINUTE;
  }

  idOf(n: number): string {
    return occurrenceId({ cron: CRON, scheduledAt: this.instant(n) });
  }

  /** The claim of the n-th instant by somebody who knows the one before. */
  request(n: number, over: Partial<ClaimRequest> = {}): ClaimRequest {
    const scheduledAt = this.instant(n);
    return {
      ...{ cron: CRON, fence: parseFence('7'), term: 'term 7', holder: 'pod/1', generation: 1, nonce: randomUUID() },
      ...{ cursor: n === 1 ? null : this.instant(n - 1), skips: [], overlap: 'allow' },
      occurrence: { scheduledAt, dueAt: scheduledAt, reason: 'schedule', missed: null },
      ...over,
    };
  }

  /** Claims the instants up to the n-th, each at its time. */
  async claim(n: number): Promise<string> {
    for (let each = 1; each <= n; each += 1) {
      await this.clock.advance(Math.max(0, this.instant(each) - this.clock.now()));
      await this.ledger.claim(this.request(each));
    }
    return this.idOf(n);
  }

  /** A worker begins the run. */
  async begin(runId: string, over: Partial<BeginRequest> = {}): Promise<AttemptRef> {
    const nonce = randomUUID();
    const request = { runId, nonce, worker: 'worker/1', ttlMs: TTL_MS, maxAttempts: 3, ...over };
    const reply = await this.ledger.begin(request);
    if (reply.verdict !== 'begun') throw new Error(`Expected the run to begin, got ${reply.verdict}.`);
    return { runId, fence: reply.fence, nonce: request.nonce };
  }

  /** A run that somebody carries out. */
  async running(): Promise<AttemptRef> {
    return this.begin(await this.claim(1));
  }

  /** Its worker falls silent, and another one takes over. */
  async takeOver({ runId }: AttemptRef): Promise<AttemptRef> {
    await this.clock.advance(TTL_MS + 1);
    return this.begin(runId);
  }

  async settle(): Promise<unknown> {
    const generations = generationsOf({ since: this.start, expression: '* * * * *' });
    return this.watch.settle({
      catalog: {
        read: async () => ({
          version: 1,
          readAt: this.clock.now(),
          bornAt: this.start,
          entries: [entryOf(generations)],
        }),
      },
      membership: { lastHeard: async () => this.clock.now() },
      clock: this.clock,
      sinks: this.sinks,
      patienceMs: MINUTE / 2,
    });
  }
}
