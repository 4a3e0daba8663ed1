import type { Clock } from '@fencepost/lease';
import type { ClaimReply, ClaimRequest } from '@fencepost/ledger';
import type { Telemetry } from '../telemetry/telemetry.js';
import { reportStoreFailure } from '../telemetry/report-failure.js';

export interface DispatchReportDeps {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Tells what became of claims. Nothing is put together that nobody listens to: a thousand crons are due at once. */
export class DispatchReport {
  constructor(private readonly deps: DispatchReportDeps) {}

  claiming({ cron, occurrence, fence }: ClaimRequest): void {
    const { telemetry } = this.deps;
    if (!telemetry.listens('occurrence.claiming')) return;
    telemetry.emit('occurrence.claiming', { cron, scheduledAt: occurrence?.scheduledAt ?? null, fence });
  }

  failed({ cron }: ClaimRequest, reason: unknown): void {
    reportStoreFailure(this.deps.telemetry, { operation: 'occurrence.claim', cron }, reason);
  }

  followed(request: ClaimRequest, reply: ClaimReply): void {
    const { telemetry } = this.deps;
    const { cron, fence, generation } = request;
    if (reply.verdict === 'stale') return telemetry.emit('claim.stale', { cron, fence, accepted: reply.fence });
    if (reply.verdict === 'stale-definition') {
      return telemetry.emit('claim.outdated', { cron, generation, accepted: reply.generation });
    }
    for (const range of request.skips) telemetry.emit('occurrence.passed', { cron, ...range });
    this.#occurrence(request, reply);
  }

  #occurrence({ cron, fence, occurrence }: ClaimRequest, reply: ClaimReply): void {
    const { telemetry, clock } = this.deps;
    if (occurrence === null) return;
    const { scheduledAt, dueAt, reason } = occurrence;
    if (reply.verdict === 'skipped') telemetry.emit('occurrence.skipped', { cron, scheduledAt, reason: reply.reason });
    if (reply.verdict !== 'claimed' || !telemetry.listens('occurrence.claimed')) return;
    telemetry.emit('occurrence.claimed', { cron, runId: reply.runId, fence, reason, lateByMs: clock.now() - dueAt });
  }
}
