import { randomUUID } from 'node:crypto';
import type { Clock } from '@fencepost/lease';
import type { ClaimReply, Delivery, Ledger } from '../ledger/ledger.js';
import { cronOfRun } from '../schedule/occurrence.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { accountedUntil, type HeldCron } from './held-cron.js';
import { planOccurrence, type Plan } from './misfire.js';
import type { RunQueue } from './run-queue.js';

export interface DispatcherDeps {
  readonly ledger: Ledger;
  readonly queue: RunQueue;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/**
 * What became of a cron that was due: when to look again, or that this pod may not act for it any more, or that nobody
 * knows, because store or queue did not answer.
 */
export type Dispatched = { readonly lookAt: number | null } | { readonly stale: true } | { readonly failed: true };

interface Claimed {
  readonly dispatched: Dispatched;
  readonly delivery: Delivery | null;
}

/** One occurrence's way through a scheduler pod: claim (ledger) → enqueue (queue) → confirm (ledger). */
export class Dispatcher {
  constructor(private readonly deps: DispatcherDeps) {}

  /**
   * Claims for all crons that are due together and enqueues what was claimed in one bulk. In the order given.
   *
   * Never rejects: a claim that failed is its own cron's trouble, the others that are due go on.
   */
  async dispatch(due: readonly HeldCron[]): Promise<Dispatched[]> {
    const claimed = await Promise.all(due.map((held) => this.#tryClaim(held)));
    const delivered = await this.#tryDeliver(claimed.flatMap(({ delivery }) => (delivery === null ? [] : [delivery])));
    return claimed.map(({ dispatched, delivery }) => (delivery === null || delivered ? dispatched : { failed: true }));
  }

  /** Hands runs to the queue, then tells the ledger. A crash in between is mended by the next holder. */
  async deliver(deliveries: readonly Delivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const { queue, ledger, telemetry } = this.deps;
    await queue.enqueue(deliveries);
    for (const delivery of deliveries) telemetry.emit('run.enqueued', { ...delivery, cron: cronOfRun(delivery.runId) });
    await ledger.confirm(deliveries.map(({ runId }) => runId));
    for (const delivery of deliveries) {
      telemetry.emit('run.confirmed', { runId: delivery.runId, cron: cronOfRun(delivery.runId) });
    }
  }

  async #tryClaim(held: HeldCron): Promise<Claimed> {
    try {
      return await this.#claim(held);
    } catch (error) {
      this.#trouble(`claim of ${held.entry.definition.name}`, error);
      return { dispatched: { failed: true }, delivery: null };
    }
  }

  async #tryDeliver(deliveries: readonly Delivery[]): Promise<boolean> {
    try {
      await this.deliver(deliveries);
      return true;
    } catch (error) {
      this.#trouble('enqueue and confirm', error);
      return false;
    }
  }

  async #claim(held: HeldCron): Promise<Claimed> {
    const now = this.deps.clock.now() - held.aheadMs;
    const { schedule, entry } = held;
    const cursor = accountedUntil(held);
    const plan = planOccurrence({ schedule, definition: entry.definition, cursor, now });
    if (plan === null)
      return { dispatched: { lookAt: nextLook(held, Math.max(cursor, now - schedule.spreadMs)) }, delivery: null };
    const cron = entry.definition.name;
    const scheduledAt = plan.occurrence?.scheduledAt ?? null;
    this.deps.telemetry.emit('occurrence.claiming', { cron, scheduledAt, fence: held.lease.fence });
    // The signal is a filter that saves a round trip; the ledger's comparison is the defence.
    if (held.lease.signal.aborted) return { dispatched: { stale: true }, delivery: null };
    const reply = await this.deps.ledger.claim({
      cron,
      fence: held.lease.fence,
      term: held.lease.nonce,
      holder: held.lease.holder,
      generation: entry.generation,
      nonce: randomUUID(),
      cursor: held.cursor,
      skips: plan.skips,
      spreadMs: schedule.spreadMs,
      occurrence: plan.occurrence,
      overlap: entry.definition.overlap,
    });
    return this.#follow(held, plan, reply);
  }

  #follow(held: HeldCron, plan: Plan, reply: ClaimReply): Claimed {
    const through = plan.occurrence?.scheduledAt ?? plan.skips.at(-1)?.through ?? accountedUntil(held);
    switch (reply.verdict) {
      case 'claimed':
      case 'skipped':
      case 'recorded':
        held.cursor = through;
        // Measured anew, so that a clock that was set right is trusted again.
        held.aheadMs = 0;
        this.#report(held, plan, reply);
        return {
          dispatched: { lookAt: nextLook(held, through) },
          delivery: reply.verdict === 'claimed' ? { runId: reply.runId, delivery: 1 } : null,
        };
      case 'early':
        held.aheadMs = this.deps.clock.now() - (through + held.schedule.spreadMs - reply.waitMs);
        return { dispatched: { lookAt: this.deps.clock.now() }, delivery: null };
      case 'moved':
        held.cursor = reply.cursor;
        return { dispatched: { lookAt: this.deps.clock.now() }, delivery: null };
      case 'stale':
      case 'stale-definition':
        this.#report(held, plan, reply);
        return { dispatched: { stale: true }, delivery: null };
    }
  }

  #report(held: HeldCron, plan: Plan, reply: ClaimReply): void {
    const { telemetry, clock } = this.deps;
    const cron = held.entry.definition.name;
    const { fence } = held.lease;
    if (reply.verdict === 'stale') return telemetry.emit('claim.stale', { cron, fence, accepted: reply.fence });
    if (reply.verdict === 'stale-definition') {
      const { generation } = held.entry;
      return telemetry.emit('claim.outdated', { cron, generation, accepted: reply.generation });
    }
    for (const range of plan.skips) telemetry.emit('occurrence.passed', { cron, ...range });
    if (plan.occurrence === null) return;
    const { scheduledAt, dueAt, reason } = plan.occurrence;
    if (reply.verdict === 'skipped') telemetry.emit('occurrence.skipped', { cron, scheduledAt, reason: 'overlap' });
    if (reply.verdict !== 'claimed') return;
    telemetry.emit('occurrence.claimed', { cron, runId: reply.runId, fence, reason, lateByMs: clock.now() - dueAt });
  }

  #trouble(doing: string, error: unknown): void {
    this.deps.telemetry.emit('store.trouble', { doing, error: String(error) });
  }
}

/** When the first instant after `after` is due, by this pod's clock. */
function nextLook({ schedule, aheadMs }: HeldCron, after: number): number | null {
  const next = schedule.next(after);
  return next === null ? null : next + schedule.spreadMs + aheadMs;
}
