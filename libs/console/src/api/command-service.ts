import { Inject, Injectable } from '@nestjs/common';
import { AUDIT_TRAIL } from '@fencepost/operations';
import { withAudit, type AuditedOrder } from '@fencepost/operations/internal';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { callerHere } from '../auth/caller.js';

type Order<Result> = Omit<AuditedOrder<Result>, 'by' | 'role' | 'from' | 'cron' | 'runId'> & {
  readonly cron?: string | null;
  readonly runId?: string;
};

/** Through which entry point an order came. */
export type Entrance = 'api' | 'queues';

/** Carries out what somebody orders, and leaves a record of who it was and from where. */
@Injectable()
export class CommandService {
  constructor(@Inject(AUDIT_TRAIL) private readonly trail: AuditTrail) {}

  /** @param work gets the name that the ledger writes down */
  execute<Result>(order: Order<Result>, work: (by: string) => Promise<Result>, entrance: Entrance = 'api') {
    const { name: by, role, address } = callerHere();
    const { cron = null, runId = null, ...about } = order;
    return withAudit(this.trail, { ...about, cron, runId, by, role, from: `${entrance} ${address}` }, () => work(by));
  }
}
