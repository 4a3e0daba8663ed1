import { AsyncLocalStorage } from 'node:async_hooks';
import { hostname } from 'node:os';
import { FencepostError, StoreAwayError } from '@fencepost/lease';
import type { AuditTrail, NewAuditRecord } from '@fencepost/ledger/audit-trail';
import { describeError } from '@fencepost/jobs/internal';

/** An order, and what its record shows. */
export interface AuditedOrder<Result> extends Omit<NewAuditRecord, 'before' | 'after'> {
  /** Plain data: how it is before; default `null`. */
  readonly before?: unknown;
  /** What of the result is kept; default: all of it. */
  readonly after?: (result: Result) => unknown;
  /** Whether the result says that something was changed: what changed nothing leaves no record; default: it was. */
  readonly changed?: (result: Result) => boolean;
  /** The run, where it is known only by the result. */
  readonly runOf?: (result: Result) => string | null;
  /** Of an order to many: those that it was tried on. */
  readonly cronsOf?: (result: Result) => readonly string[];
}

/** Set while an order is carried out that will be recorded. */
const underway = new AsyncLocalStorage<true>();

/** What was ordered is done, and nobody will find a record of it. */
export class AuditNotWrittenError extends StoreAwayError {
  readonly code = 'AUDIT_NOT_WRITTEN';

  constructor(action: string, options: ErrorOptions) {
    super(
      `"${action}" was executed, but its audit record could not be written. Don't repeat it; record elsewhere who ` +
        `ordered it, and why.`,
      options,
    );
  }
}

/**
 * Does what was ordered, and leaves a record of it. An order that was refused has changed nothing and leaves none; one that
 * failed may have changed something, and its record says how it failed.
 * @throws what `work` throws, and {@link AuditNotWrittenError}
 */
export async function withAudit<Result>(
  trail: Pick<AuditTrail, 'append'>,
  order: AuditedOrder<Result>,
  work: () => Promise<Result>,
): Promise<Result> {
  return recorded(trail, order, () => underway.run(true, work));
}

/**
 * The same for an order that a program's own code may have given, which has no token. As part of an order that leaves a
 * record it leaves none: a second one would say that there were two orders.
 * @param trail without one, there are no records
 */
export async function withOwnAudit<Result>(
  trail: Pick<AuditTrail, 'append'> | undefined,
  order: Omit<AuditedOrder<Result>, 'role' | 'from'>,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!trail || underway.getStore()) return work();
  return recorded(trail, { ...order, role: 'app', from: `app ${hostname()}` }, work);
}

async function recorded<Result>(
  trail: Pick<AuditTrail, 'append'>,
  order: AuditedOrder<Result>,
  work: () => Promise<Result>,
): Promise<Result> {
  const { after = (result) => result, changed = () => true, runOf, cronsOf, before = null, ...about } = order;
  let result: Result;
  try {
    result = await work();
  } catch (error) {
    // The trail is kept where the work was refused: that it can't be written either is no news beside the first failure.
    if (!isRefusal(error))
      await trail.append({ ...about, before, after: { error: describeError(error) } }).catch(() => {});
    throw error;
  }
  if (!changed(result)) return result;
  const found = { runId: runOf?.(result) ?? about.runId, ...(cronsOf && { crons: cronsOf(result) }) };
  try {
    await trail.append({ ...about, ...found, before, after: after(result) ?? null });
  } catch (cause) {
    throw new AuditNotWrittenError(about.action, { cause });
  }
  return result;
}

/** Ours, and not about the store: it was judged before anything was changed. */
function isRefusal(error: unknown): boolean {
  return error instanceof FencepostError && !(error instanceof StoreAwayError);
}
