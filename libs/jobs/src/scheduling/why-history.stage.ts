import { randomUUID } from 'node:crypto';
import { parseFence } from '@fencepost/lease';
import { ManualClock } from '@fencepost/lease/testing';
import * as fc from 'fast-check';
import type { Generation } from '@fencepost/ledger/catalog';
import { MemoryAuditTrail, MemoryLedger } from '@fencepost/ledger/memory';
import { ExplainService } from '@fencepost/operations';
import type { DstRule } from '@fencepost/schedule';
import { parseSchedule } from '@fencepost/schedule';
import { planOccurrence } from './misfire.js';
import { CRON, definitionOf, entryOf } from '../../../../test/support/audit-history.js';
import { anyExpression, byTheMinute, fixedAround } from '../../../../test/schedule/random-expression.js';
import type { Told } from '../../../../test/schedule/wall-oracle.js';
import { changeNear, shownAt } from '../../../../test/truth/intl-clocks.js';

const HOUR = 3_600_000;

export const cronArbitrary = fc.record({
  told: fc.oneof(
    ...[fixedAround(1), fixedAround(2), fixedAround(3), fixedAround(0), byTheMinute, anyExpression],
    fc.constant<Told>({
      text: '*/20 * * * *',
      fixed: false,
      says: ({ minute, second }) => minute % 20 === 0 && second === 0,
    }),
  ),
  state: fc.constantFrom('active' as const, 'active' as const, 'active' as const, 'disabled' as const),
  spreadMs: fc.constantFrom(0, 0, 15_000),
  misfire: fc.constantFrom('fire-once' as const, 'fire-all' as const, 'skip' as const),
  overlap: fc.constantFrom('skip' as const, 'allow' as const, 'queue-one' as const),
  lastsMs: fc.integer({ min: 2_000, max: 40 * HOUR }),
});

export const actArbitrary = fc.record({
  waitMs: fc.oneof(fc.integer({ min: 1, max: 90 * 60_000 }), fc.integer({ min: HOUR, max: 30 * HOUR })),
  fate: fc.constantFrom('run', 'run', 'fail', 'leave', 'begin', 'pause', 'resume', 'trigger', 'forget', 'nobody'),
});

type Cron = typeof cronArbitrary extends fc.Arbitrary<infer T> ? T : never;
type Act = typeof actArbitrary extends fc.Arbitrary<infer T> ? T : never;

export interface ToldHistory {
  readonly timeZone: string;
  readonly near: number;
  readonly rule: DstRule;
  readonly crons: readonly Cron[];
  readonly acts: readonly Act[];
  /** How far the store's clock goes back in the end. */
  readonly backMs: number;
}

export interface Query {
  readonly about: 'instant' | 'change' | 'now' | 'birth' | 'cursor' | 'anywhere';
  readonly offsetMs: number;
  readonly pick: number;
  readonly as: 'number' | 'iso' | 'local';
}

/** A cron with its definitions, played on the ledger in memory by the planner of the schedulers. */
export class WhyHistory {
  readonly cron = CRON;
  readonly ledger: MemoryLedger;
  readonly trail: MemoryAuditTrail;
  readonly service: ExplainService;
  readonly generations: readonly Generation[];
  /** What each generation says, told by whoever made it up. */
  readonly told: readonly Told[];
  readonly change: number;
  readonly timeZone: string;
  readonly #clock: ManualClock;
  readonly #term = randomUUID();

  private constructor({ timeZone, near, rule, crons }: ToldHistory) {
    this.timeZone = timeZone;
    this.change = changeNear(timeZone, near) ?? near;
    let since = this.change - 26 * HOUR + (near % 1_000);
    this.generations = crons.map(({ told, state, spreadMs, misfire, overlap, lastsMs }, index) => {
      const definition = definitionOf({ expression: told.text, timeZone, dst: rule, spreadMs, misfire, overlap });
      const generation = { generation: index + 1, state, definition, since, by: 'a test', reason: null };
      since += lastsMs;
      return generation;
    });
    this.told = crons.map(({ told }) => told);
    this.#clock = new ManualClock(this.generations[0]!.since);
    this.ledger = new MemoryLedger(this.#clock);
    const read = async () => ({ version: 1, readAt: this.now, entries: [entryOf(this.known)] });
    this.trail = new MemoryAuditTrail({ clock: this.#clock });
    this.service = new ExplainService({ catalog: { read }, ledger: this.ledger, trail: this.trail });
  }

  static async play(told: ToldHistory): Promise<WhyHistory> {
    const history = new WhyHistory(told);
    for (const act of told.acts) await history.#act(act);
    history.#latest = history.now;
    history.#clock.jumpWall(-told.backMs);
    return history;
  }

  /** The latest that the store's clock has shown. */
  #latest = -Infinity;

  get now(): number {
    return this.#clock.now();
  }

  /** Those that were accepted by now, wherever the clock has gone since. */
  get known(): readonly Generation[] {
    return this.generations.filter(({ since }, index) => index === 0 || since <= Math.max(this.now, this.#latest));
  }

  /** The generation that an instant belongs to. */
  ruling(at: number): Generation | undefined {
    return this.known.findLast(({ since }) => since < at);
  }

  phrase({ about, offsetMs, pick, as }: Query): number | string {
    const at = this.#place(about, pick) + offsetMs;
    if (as === 'number') return at;
    if (as === 'iso') return new Date(at).toISOString();
    return new Date(shownAt(this.timeZone, Math.floor(at / 1_000) * 1_000))
      .toISOString()
      .slice(0, 19)
      .replace('T', ' ');
  }

  #place(about: Query['about'], pick: number): number {
    const born = this.generations[0]!.since;
    const anywhere = born + (pick % Math.max(1, this.now - born + 40 * HOUR));
    switch (about) {
      case 'instant': {
        const generation = this.ruling(anywhere) ?? this.generations[0]!;
        return scheduleOf(generation).next(anywhere) ?? anywhere;
      }
      case 'change':
        return this.change;
      case 'now':
        return this.now;
      case 'birth':
        return this.generations[pick % this.generations.length]!.since;
      case 'cursor':
        return this.#cursor ?? anywhere;
      case 'anywhere':
        return anywhere;
    }
  }

  #cursor: number | null = null;

  async #act({ waitMs, fate }: Act): Promise<void> {
    this.#clock.jumpWall(waitMs);
    const { ledger, cron } = this;
    const order = { by: 'ann', reason: 'a flood' };
    if (fate === 'pause') await ledger.pause(cron, { ...order, until: null });
    if (fate === 'resume') await ledger.resume(cron);
    if (fate === 'pause' || fate === 'resume') {
      const about = { ...order, role: 'operator', from: 'a test', before: null, after: null };
      await this.trail.append({ ...about, action: fate, cron, runId: null });
    }
    if (fate === 'forget') await ledger.forgetAll([cron], 1);
    if (fate === 'trigger') await this.#trigger();
    if (fate !== 'nobody') await this.#claimDue(fate);
  }

  async #trigger(): Promise<void> {
    const runId = `${this.cron}@manual-${randomUUID()}`;
    const asked = { runId, nonce: randomUUID(), scheduledAt: null, reason: 'manual', by: 'ann' } as const;
    await this.ledger.trigger({
      ...asked,
      generation: 1,
      payload: null,
      handler: null,
      missed: null,
      overlap: 'allow',
    });
  }

  /** All that is due, as a scheduler does it that comes back. */
  async #claimDue(fate: Act['fate']): Promise<void> {
    for (const [index, generation] of this.known.entries()) {
      if (generation.state !== 'active') continue;
      const until = this.known[index + 1]?.since ?? Infinity;
      for (let step = 0; step < 30 && (await this.#claim(generation, until, fate)); step += 1);
    }
  }

  async #claim({ definition, generation, since }: Generation, until: number, fate: Act['fate']): Promise<boolean> {
    const schedule = parseSchedule({ ...definition, seed: definition.name }, since);
    const { cursor } = await this.ledger.readCron(this.cron);
    const { spreadMs } = schedule;
    const plan = planOccurrence({
      schedule,
      definition,
      spreadMs,
      cursor: Math.max(cursor ?? 0, since),
      until,
      now: this.now,
    });
    if (!plan) return false;
    const who = { fence: parseFence('1'), term: this.#term, holder: 'pod/1', nonce: randomUUID() };
    const policy = { overlap: definition.overlap, spreadMs };
    const reply = await this.ledger.claim({ cron: this.cron, generation, cursor, ...who, ...policy, ...plan });
    this.#cursor = (await this.ledger.readCron(this.cron)).cursor;
    if (reply.verdict === 'claimed') await this.#end(reply.runId, fate);
    return true;
  }

  async #end(runId: string, fate: Act['fate']): Promise<void> {
    if (fate === 'leave') return;
    const nonce = randomUUID();
    const begun = await this.ledger.begin({ runId, nonce, worker: 'worker/1', ttlMs: 60_000, maxAttempts: 1 });
    if (begun.verdict !== 'begun' || fate === 'begin') return;
    this.#clock.jumpWall(20);
    const outcome =
      fate === 'fail' ? ({ kind: 'failed', error: 'it broke' } as const) : ({ kind: 'succeeded' } as const);
    await this.ledger.finish({ runId, nonce, fence: begun.fence }, outcome);
  }
}

export function scheduleOf({ definition, since }: Generation) {
  return parseSchedule({ ...definition, seed: definition.name }, since);
}
