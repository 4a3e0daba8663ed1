import { createHash, randomUUID } from 'node:crypto';
import { watchPostgresChannel, type SqlClient } from '@fencepost/lease/postgres';
import type { StopWatching } from '@fencepost/lease/store';
import { DEFAULT_CANCEL_GRACE_MS } from '../catalog/definition.js';
import { checkCronName, cronOfRun } from '../occurrence.js';
import type { OperatorOrder, TriggerReply, TriggerRequest } from '../ledger.js';
import {
  checkPause,
  checkTrigger,
  DEFAULT_MAX_CONCURRENCY,
  isNatural,
  LATE_TRIGGER_MS,
  madeAt,
} from '../ledger-request.js';
import type { Pause } from '../run.js';
import type { PostgresLedgerAccess } from './postgres-ledger-access.js';

/** What people do to a cron by hand. Each call has a nonce of its own, because a statement may be sent twice. */
export class PostgresOperations {
  constructor(private readonly access: PostgresLedgerAccess) {}

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
    return this.access.call('pause_cron', [this.access.space, cron, randomUUID(), until, by, reason]);
  }

  async resume(cron: string, { by, reason }: OperatorOrder): Promise<Pause | null> {
    checkCronName(cron);
    return this.access.call('resume_cron', [this.access.space, cron, randomUUID(), by, reason]);
  }

  #arguments(request: TriggerRequest, channel: string | null): readonly unknown[] {
    const { recoverMs, keepMs } = this.access.timing;
    const { maxConcurrency, cancelGraceMs, ...facts } = request;
    const asked = {
      ...facts,
      natural: isNatural(request),
      madeAt: madeAt(request.runId),
      lateMs: LATE_TRIGGER_MS,
      most: maxConcurrency ?? DEFAULT_MAX_CONCURRENCY,
      grace: cancelGraceMs ?? DEFAULT_CANCEL_GRACE_MS,
    };
    return [this.access.space, cronOfRun(request.runId), recoverMs, keepMs, channel, asked];
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
