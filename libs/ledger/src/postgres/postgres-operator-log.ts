import { createHash, randomUUID } from 'node:crypto';
import { watchPostgresChannel, type SqlClient } from '@fencepost/lease/postgres';
import type { StopWatching } from '@fencepost/lease/store';
import type {
  CancelReply,
  CancelRequest,
  OperatorLog,
  OperatorOrder,
  ResolveReply,
  ResolveRequest,
  TriggerReply,
  TriggerRequest,
} from '../base/ledger.js';
import { checkPause, checkTrigger, checkUnresolvedEffect, checkWhole } from '../base/ledger-request.js';
import { checkCronName, cronOfRun } from '../base/occurrence.js';
import type { Pause } from '../base/run.js';
import { PostgresOccurrenceLog } from './postgres-occurrence-log.js';
import { decodeResolve, encodeResolve, encodeTrigger, type ResolveRow } from './postgres-operator-codec.js';

/** What people do to a cron by hand. Each call has a nonce of its own, because a statement may be sent twice. */
export class PostgresOperatorLog extends PostgresOccurrenceLog implements OperatorLog {
  async trigger(request: TriggerRequest): Promise<TriggerReply> {
    checkTrigger(request);
    return this.access.call('trigger_run', this.#arguments(request, null));
  }

  /** Nobody else hears of the run before that transaction has committed, so that is when it is announced. */
  async triggerIn(tx: SqlClient, request: TriggerRequest): Promise<TriggerReply> {
    checkTrigger(request);
    await this.access.ready('trigger_run');
    return this.access.callOn(tx, 'trigger_run', this.#arguments(request, this.#channel()));
  }

  async watchTriggered(onTriggered: (runId: string) => void): Promise<StopWatching> {
    const { pool, clock } = this.access;
    return watchPostgresChannel({ pool, clock, channel: this.#channel(), onMessage: onTriggered });
  }

  async pause(cron: string, order: OperatorOrder & { readonly until: number | null }): Promise<Pause> {
    checkPause(cron, order);
    const { until, by, reason } = order;
    return this.ask('pause_cron', cron, randomUUID(), until, by, reason);
  }

  async resume(cron: string): Promise<Pause | null> {
    checkCronName(cron);
    return this.ask('resume_cron', cron, randomUUID());
  }

  async resolve(runId: string, request: ResolveRequest): Promise<ResolveReply> {
    checkUnresolvedEffect(request.unresolvedEffect);
    const args = [this.access.space, cronOfRun(runId), runId, encodeResolve(request), this.access.timing.sweepMs];
    return decodeResolve(await this.access.askInTime<ResolveRow>('resolve_run', args), runId);
  }

  async cancel(runId: string, { by, graceMs }: CancelRequest): Promise<CancelReply> {
    checkWhole('graceMs', graceMs, 0);
    return this.access.askInTime('cancel_run', [this.access.space, cronOfRun(runId), runId, by, graceMs]);
  }

  #arguments(request: TriggerRequest, channel: string | null): readonly unknown[] {
    const { recoverMs, keepMs } = this.access.timing;
    return [this.access.space, cronOfRun(request.runId), recoverMs, keepMs, channel, encodeTrigger(request)];
  }

  /** A channel's name has at most 63 bytes, and what is in it may be longer. */
  #channel(): string {
    const { schema, space } = this.access;
    return `fencepost_${createHash('sha256')
      .update(JSON.stringify([schema, space]))
      .digest('hex')
      .slice(0, 32)}`;
  }
}
