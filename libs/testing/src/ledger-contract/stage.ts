import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { parseFence, type Fence } from '@fencepost/lease';
import type {
  AttemptRef,
  BeginEffectReply,
  BeginRequest,
  ClaimedOccurrence,
  ClaimRequest,
  Delivery,
  EffectRequest,
  FinishEffectReply,
  Ledger,
  ResolveRequest,
  TriggerRequest,
  LedgerTiming,
  OverdueRuns,
} from '@fencepost/ledger';
import type { Answer, UnresolvedEffect, Run, SkipRange, SkipReason } from '@fencepost/ledger/run';

/** What a ledger's spec has to offer, so that the contract can drive it. */
export interface LedgerHarness {
  readonly ledger: Ledger;
  /** A cron the ledger has never seen. */
  readonly cron: string;
  /** The store's clock, epoch milliseconds. */
  now(): Promise<number>;
  /** Comes back when the store's clock stands at least `ms` further: asked for, never assumed. */
  advance(ms: number): Promise<void>;
  /** Makes the store's clock go back by `ms`, as far as the lease and the fence of this run are concerned. */
  clockGoesBack(runId: string, ms: number): Promise<void>;
}

export type MakeLedgerHarness = (timing?: Partial<LedgerTiming>) => Promise<LedgerHarness>;

/** Nothing expires by itself within a test; where something has to, the test makes it short at that very moment. */
export const LONG_MS = 60_000;
const DAY_MS = 24 * 3_600_000;

export function fence(value: number): Fence {
  return parseFence(value.toFixed(0));
}

/** One cron whose instants 1, 2, 3 … all lie in the past, a scheduler that holds it, and workers. */
export class Stage {
  private constructor(
    readonly harness: LedgerHarness,
    private readonly startsAt: number,
  ) {}

  static async of(makeHarness: MakeLedgerHarness, timing: Partial<LedgerTiming> = {}): Promise<Stage> {
    const harness = await makeHarness(timing);
    return new Stage(harness, (await harness.now()) - DAY_MS);
  }

  get ledger(): Ledger {
    return this.harness.ledger;
  }

  get cron(): string {
    return this.harness.cron;
  }

  instant(n: number): number {
    return this.startsAt + n * 1_000;
  }

  idOf(n: number): string {
    return `${this.cron}@${this.instant(n)}`;
  }

  occurrence(n: number, over: Partial<ClaimedOccurrence> = {}): ClaimedOccurrence {
    const scheduledAt = this.instant(n);
    return { scheduledAt, dueAt: scheduledAt, reason: 'schedule', missed: null, ...over };
  }

  /** A claim of the n-th instant that nothing speaks against. */
  async request(n: number, over: Partial<ClaimRequest> = {}): Promise<ClaimRequest> {
    return {
      cron: this.cron,
      fence: fence(1_000),
      term: 'term',
      holder: 'scheduler/1',
      generation: 1,
      nonce: randomUUID(),
      cursor: (await this.ledger.readCron(this.cron)).cursor,
      skips: [],
      occurrence: this.occurrence(n),
      overlap: 'allow',
      ...over,
    };
  }

  async claimed(n: number, over: Partial<ClaimRequest> = {}): Promise<string> {
    const reply = await this.ledger.claim(await this.request(n, over));
    expect(reply).toMatchObject({ verdict: 'claimed', runId: this.idOf(n) });
    return this.idOf(n);
  }

  /** A run that somebody asks for, now. */
  order(over: Partial<TriggerRequest> = {}): TriggerRequest {
    return {
      runId: `${this.cron}@manual-${randomUUID()}`,
      nonce: randomUUID(),
      scheduledAt: null,
      reason: 'manual',
      generation: 1,
      by: 'ada',
      payload: null,
      handler: null,
      missed: null,
      overlap: 'allow',
      ...over,
    };
  }

  /** Somebody asks for the n-th instant. */
  backfill(n: number, over: Partial<TriggerRequest> = {}): TriggerRequest {
    return this.order({ runId: this.idOf(n), scheduledAt: this.instant(n), reason: 'backfill', ...over });
  }

  /** All in `(after, through]`. */
  range(after: number, through: number, reason: SkipReason = 'misfire'): SkipRange {
    return { after: this.instant(after), through: this.instant(through), reason };
  }

  async succeeded(n: number, over: Partial<ClaimRequest> = {}): Promise<string> {
    const attempt = await this.begun(await this.claimed(n, over));
    await this.ledger.finish(attempt, { kind: 'succeeded' });
    return attempt.runId;
  }

  async enqueued(n: number, over: Partial<ClaimRequest> = {}): Promise<string> {
    const runId = await this.claimed(n, over);
    await this.ledger.confirm([runId]);
    return runId;
  }

  attempt(runId: string, over: Partial<BeginRequest> = {}): BeginRequest {
    return { runId, nonce: randomUUID(), worker: 'worker/1', ttlMs: LONG_MS, maxAttempts: 3, ...over };
  }

  async begun(runId: string, over: Partial<BeginRequest> = {}): Promise<AttemptRef> {
    const request = this.attempt(runId, over);
    const reply = await this.ledger.begin(request);
    if (reply.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${JSON.stringify(reply)}.`);
    return { runId, fence: reply.fence, nonce: request.nonce };
  }

  beginEffect(attempt: AttemptRef, name: string, over: Partial<EffectRequest> = {}): Promise<BeginEffectReply> {
    return this.ledger.beginEffect(attempt, { name, ifUnknown: 'go', ...over });
  }

  /** Done, with its result as JSON. */
  finishEffect(attempt: AttemptRef, name: string, result: string): Promise<FinishEffectReply> {
    return this.ledger.finishEffect(attempt, name, { kind: 'done', result });
  }

  failEffect(attempt: AttemptRef, name: string, error = 'it broke'): Promise<FinishEffectReply> {
    return this.ledger.finishEffect(attempt, name, { kind: 'failed', error });
  }

  /** The worker is gone, another one has taken over. */
  async takeover(from: AttemptRef): Promise<AttemptRef> {
    await this.lapse(from);
    return this.begun(from.runId, { maxAttempts: 99 });
  }

  /** A run that waits for an answer about an effect that was begun and never ended. */
  async uncertain(n: number, over: Partial<UnresolvedEffect> = {}): Promise<AttemptRef> {
    const attempt = await this.begun(await this.enqueued(n));
    await this.leaveUncertain(attempt, over);
    return attempt;
  }

  /** The attempt begins an effect, nobody knows how it ended, and the run waits for an answer. */
  async leaveUncertain(attempt: AttemptRef, over: Partial<UnresolvedEffect> = {}): Promise<UnresolvedEffect> {
    const unresolvedEffect: UnresolvedEffect = {
      effect: 'charge',
      item: null,
      unknownReason: 'lost',
      since: this.instant(0),
      ...over,
    };
    if (unresolvedEffect.item === null) await this.beginEffect(attempt, unresolvedEffect.effect);
    else
      await this.ledger.advanceItems(attempt, unresolvedEffect.effect, {
        finished: [],
        begun: [unresolvedEffect.item],
      });
    const outcome = { kind: 'uncertain', error: 'nobody knows', unresolvedEffect } as const;
    expect(await this.ledger.finish(attempt, outcome)).toBe('uncertain');
    return unresolvedEffect;
  }

  /** A person's answer to the question that the run asks now, or would. */
  async answer(runId: string, verdict: Answer['verdict'], over: Partial<ResolveRequest> = {}): Promise<ResolveRequest> {
    const answer: Answer = verdict === 'done' ? { verdict, result: '"by hand"' } : { verdict };
    const run = await this.ledger.readRun(runId);
    const { effect, item, since } = run?.unresolvedEffect ?? { effect: 'charge', item: null, since: this.instant(0) };
    const unresolvedEffect = { attempt: run?.attempt || 1, effect, item, since };
    return { answer, unresolvedEffect, by: 'ada', reason: 'asked the bank', nonce: randomUUID(), ...over };
  }

  /** The worker goes silent and its lease runs out; nobody has noticed yet. */
  async lapse(attempt: AttemptRef): Promise<void> {
    expect(await this.ledger.heartbeat(attempt, 1)).not.toBe('stale');
    await this.harness.advance(2);
  }

  /** The worker goes silent and the sweep has found out. */
  async orphan(attempt: AttemptRef): Promise<Delivery> {
    await this.lapse(attempt);
    const delivery = await this.ledger.redeliver(await this.delivery(attempt.runId), randomUUID());
    if (!delivery) throw new Error(`Expected ${attempt.runId} to be orphaned.`);
    return delivery;
  }

  async run(runId: string): Promise<Run> {
    const run = await this.ledger.readRun(runId);
    if (!run) throw new Error(`Expected a run ${runId}.`);
    return run;
  }

  async delivery(runId: string): Promise<Delivery> {
    return { runId, delivery: (await this.run(runId)).delivery };
  }

  /** What is overdue of the cron alone. */
  async overdue(againMs: number, keep = 1_000): Promise<OverdueRuns> {
    const [found] = await this.ledger.overdueAll([this.cron], { againMs, keep });
    if (found?.status !== 'fulfilled') throw found?.reason;
    return found.value;
  }

  /** How many runs of the cron alone are forgotten. */
  async forget(keep: number): Promise<number> {
    const [forgotten] = await this.ledger.forgetAll([this.cron], keep);
    if (forgotten?.status !== 'fulfilled') throw forgotten?.reason;
    return forgotten.value;
  }

  async refusals(): Promise<number> {
    return (await this.ledger.readCron(this.cron)).refusals;
  }
}
