import { randomUUID } from 'node:crypto';
import type { Clock } from '@fencepost/lease';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import {
  checkedInstant,
  checkedMs,
  checkedPayload,
  checkedText,
  deliver,
  effectiveGeneration,
  knownCron,
  runnableCron,
  uuidV7,
  type KnownCron,
  type Membership,
  type RunQueue,
} from '@fencepost/jobs/internal';
import { DEFAULT_CANCEL_GRACE_MS, type Catalog, type CatalogReading } from '@fencepost/ledger/catalog';
import {
  OperatorInputError,
  type CancelReply,
  type OccurrenceLog,
  type OperatorLog,
  type OperatorOrder,
  type RunHistory,
  type TriggerReply,
  type TriggerRequest,
} from '@fencepost/ledger';
import { cronOfRun, type Pause, type Run } from '@fencepost/ledger/run';
import { previewBackfill } from './backfill-preview.js';
import type { BackfillPart, BackfillProgress, BackfillReport } from './backfill-report.js';
import { Backfill } from './backfill.js';
import { orderEach, selectCrons, type BulkOrder, type BulkReport } from './bulk-order.js';
import { mapInSlices } from './slices.js';
import { overviewOf, type CronOverview } from './cron-overview.js';
import { pausedInstants } from './paused-instants.js';
import { ORDER_RECORDS } from './order-records.js';
import { planBackfill } from './plan-backfill.js';
import { withOwnAudit } from './with-audit.js';

export type { BackfillProgress, BackfillReport } from './backfill-report.js';
export type { CronOverview } from './cron-overview.js';

export interface CronOperatorPorts {
  readonly catalog: Pick<Catalog, 'read'>;
  readonly ledger: OccurrenceLog & OperatorLog & RunHistory;
  readonly queue: Pick<RunQueue, 'enqueue'>;
  readonly membership: Pick<Membership, 'publishDue'>;
  readonly clock: Clock;
  readonly randomUUID?: () => string;
  /** Where an order is recorded that comes from neither the API nor the command line, which record their own; none by default. */
  readonly audit?: Pick<AuditTrail, 'append'>;
  /** What is only looked at is read here; by default where everything else is. */
  readonly reads?: Pick<CronOperatorPorts, 'catalog' | 'ledger'>;
}

export interface TriggerOrder {
  readonly by: string;
  readonly reason?: string;
  /** Plain data; default: the payload of the definition. */
  readonly payload?: unknown;
  /** Also if the maximum of open runs is reached; default `false`. */
  readonly force?: boolean;
}

export interface BackfillOrder extends OperatorOrder, BackfillPart {
  /** `[from, to)`, epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  /** Writes nothing, and says what would be done. */
  readonly dryRun?: boolean;
  /** Ends it before the next batch; asking again goes on. */
  readonly signal?: AbortSignal;
  /** Called after each batch. */
  readonly onProgress?: (progress: BackfillProgress) => void;
}

export interface Resumed {
  /** The pause that ended by it. */
  readonly ended: Pause | null;
  /** The run that stands for the paused instants, with `missed: 'fire-once'` and at least one of them. */
  readonly runId: string | null;
}

const LISTED_AT_ONCE = 500;

/**
 * What people do to crons by hand. Each order leaves an audit record with who asked, and why.
 *
 * Every method rejects with an {@link OperatorInputError} for an order that can't be, with an {@link UnknownCronError} for a
 * cron that isn't there, with what the store throws when it could not be asked, and with an `AuditNotWrittenError` for an
 * order that was carried out and left no record.
 */
export class CronOperator {
  readonly #ports: OperatorPorts;

  constructor(ports: CronOperatorPorts) {
    this.#ports = { ...ports, randomUUID: ports.randomUUID ?? randomUUID, reads: ports.reads ?? ports };
  }

  /**
   * By name, those that are disabled or removed as well.
   * @param reading of the catalog, for whoever has one
   */
  async list(reading?: CatalogReading): Promise<CronOverview[]> {
    const { catalog, ledger } = this.#ports.reads;
    const { entries, readAt } = reading ?? (await catalog.read());
    const overviews: CronOverview[] = [];
    for (let at = 0; at < entries.length; at += LISTED_AT_ONCE) {
      const some = entries.slice(at, at + LISTED_AT_ONCE);
      const names = some.map(({ definition }) => definition.name);
      const [records, newest] = await Promise.all([ledger.readCrons(names), ledger.newestRuns(names, 1)]);
      const seen = (index: number) => ({ record: records[index], last: newest[index]?.[0] ?? null });
      overviews.push(...(await mapInSlices(some, (entry, index) => overviewOf(entry, seen(index), readAt))));
    }
    return overviews;
  }

  /** Of each of these crons the newest runs first, in the order given. */
  newestRuns(crons: readonly string[], limit: number): Promise<Run[][]> {
    return this.#ports.reads.ledger.newestRuns(crons, limit);
  }

  /** Of these the crons that may need a person; may name others as well. */
  notable(crons: readonly string[]): Promise<string[]> {
    return this.#ports.reads.ledger.notable(crons);
  }

  /**
   * Its instants are recorded as `skipped: paused` until it is resumed, or until `until`, epoch milliseconds. Running work
   * goes on, and a run that is triggered runs. Again: the later word counts.
   */
  async pause(cron: string, order: OperatorOrder & { readonly until?: number | null }): Promise<Pause> {
    const asked = checkedOrder(order);
    const until = checkedEnd(order.until);
    const { audit, catalog, ledger } = this.#ports;
    return withOwnAudit(audit, { ...asked, ...ORDER_RECORDS.pause, cron, runId: null }, async () => {
      const { now } = await knownCron(catalog, cron);
      if (until !== null && until <= now)
        throw OperatorInputError.of('until', 'an instant in the future', new Date(until));
      return ledger.pause(cron, { ...asked, until });
    });
  }

  /**
   * @param order `missed` says what becomes of the paused instants: `'skip'`, the default, nothing; `'fire-once'`: one run
   *   stands for all of them. If that run can't be asked for after the pause has ended, this rejects: trigger it by hand.
   */
  async resume(cron: string, order: OperatorOrder & { readonly missed?: 'skip' | 'fire-once' }): Promise<Resumed> {
    const asked = checkedOrder(order);
    const { missed: policy = 'skip' } = order;
    if (policy !== 'skip' && policy !== 'fire-once')
      throw OperatorInputError.of('missed', '"skip" or "fire-once"', policy);
    return withOwnAudit(this.#ports.audit, { ...asked, ...ORDER_RECORDS.resume, cron, runId: null }, () =>
      this.#resume(cron, policy, asked.by),
    );
  }

  async #resume(cron: string, policy: 'skip' | 'fire-once', by: string): Promise<Resumed> {
    const { catalog, ledger } = this.#ports;
    const known = await (policy === 'skip' ? knownCron : runnableCron)(catalog, cron);
    const ended = await ledger.resume(cron);
    if (ended === null || policy === 'skip') return { ended, runId: null };
    const missed = await pausedInstants(ledger, { entry: known.entry, pause: ended, now: known.now });
    if (missed === null) return { ended, runId: null };
    const reply = await this.#trigger(known, { by, reason: 'catch-up', missed });
    return { ended, runId: reply.verdict === 'claimed' ? reply.runId : null };
  }

  /** One run, now: it ignores a pause, moves no cursor, and respects overlap unless it is forced. */
  async trigger(cron: string, order: TriggerOrder): Promise<TriggerReply> {
    const by = checkedText('by', order.by);
    const reason = order.reason === undefined ? null : checkedText('reason', order.reason);
    const payload = order.payload === undefined ? undefined : checkedPayload(order.payload);
    const forced = order.force === true ? { overlap: 'allow' as const } : {};
    return withOwnAudit(this.#ports.audit, { by, reason, ...ORDER_RECORDS.trigger, cron, runId: null }, async () => {
      const known = await runnableCron(this.#ports.catalog, cron);
      return this.#trigger(known, { by, ...(payload === undefined ? {} : { payload }), ...forced });
    });
  }

  /**
   * One order to many crons, at most 1,000, by a tag or by their names: those that can't be done are reported with the reason,
   * and do not keep the others from being done. One audit record.
   * @throws {UnknownCronError} for a name that is not there; nothing is done
   */
  async orderMany(order: BulkOrder): Promise<BulkReport> {
    const asked = { ...order, ...checkedOrder(order), until: checkedEnd(order.until) };
    const crons = await selectCrons(this.#ports, asked);
    const meant = { order: asked.order, dryRun: asked.dryRun === true, crons };
    if (meant.dryRun) return { ...meant, done: [], failed: [] };
    const about = { by: asked.by, reason: asked.reason, ...ORDER_RECORDS.many(asked), cron: null, runId: null };
    return withOwnAudit(this.#ports.audit, about, async () => {
      const reading = await this.#ports.catalog.read(crons);
      // They are read once together, and the record is the one about all.
      const { audit: _, ...ports } = this.#ports;
      const each = new CronOperator({ ...ports, catalog: { read: async (names) => only(reading, names) } });
      return { ...meant, ...(await orderEach(each, crons, asked)) };
    });
  }

  /** What waits is cancelled at once; what runs is told, and has `graceMs` to stop: by default as its definition says. */
  async cancel(runId: string, order: OperatorOrder & { readonly graceMs?: number }): Promise<CancelReply> {
    const asked = checkedOrder(order);
    const cron = cronNamed(runId);
    const graceMs = order.graceMs === undefined ? await this.#grace(cron) : checkedMs('graceMs', order.graceMs);
    return withOwnAudit(this.#ports.audit, { ...asked, ...ORDER_RECORDS.cancel, cron, runId }, () =>
      this.#ports.ledger.cancel(runId, { by: asked.by, graceMs }),
    );
  }

  /**
   * Runs past instants that did not run, those from before the cron was there as well: under their natural ids, so that one
   * that ran is left alone and asking again goes on, and behind everything else in the queue. One that a run record says
   * was skipped runs again as `-r1`. Unless the cron may overlap they stand in line, and this comes back when the last ones
   * are in it.
   * @throws {OperatorInputError} for more than 100,000 instants
   */
  async backfill(cron: string, order: BackfillOrder): Promise<BackfillReport> {
    const asked = checkedOrder(order);
    const [from, to] = [checkedInstant('from', order.from), checkedInstant('to', order.to)];
    if (from >= to) throw OperatorInputError.of('from', `before "to" (${new Date(to).toISOString()})`, new Date(from));
    const { entry } = await runnableCron(this.#ports.catalog, cron);
    const instants = planBackfill(entry, from, to);
    if (order.dryRun === true) return previewBackfill(this.#ports.ledger, { entry, instants });
    const { signal, onProgress, forMs = Infinity } = order;
    const open = (order.open ?? []).filter((runId) => cronNamed(runId) === cron);
    return withOwnAudit(
      this.#ports.audit,
      { ...asked, ...ORDER_RECORDS.backfill({ ...order, from, to }), cron, runId: null },
      () => new Backfill(this.#ports, { entry, instants, by: asked.by, signal, onProgress, forMs, open }).run(),
    );
  }

  async #trigger({ entry, now }: KnownCron, over: RunOrder): Promise<TriggerReply> {
    const { ledger, randomUUID: uuid } = this.#ports;
    const { definition, generation } = effectiveGeneration(entry, now);
    const { name, overlap, maxConcurrency, cancelGraceMs } = entry.definition;
    const reply = await ledger.trigger({
      runId: `${name}@manual-${uuidV7(now, uuid())}`,
      nonce: uuid(),
      scheduledAt: null,
      reason: 'manual',
      generation,
      payload: checkedPayload(definition.payload),
      handler: definition.handler ?? null,
      missed: null,
      overlap,
      ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
      ...(cancelGraceMs === undefined ? {} : { cancelGraceMs }),
      ...over,
    });
    if (reply.verdict === 'claimed') await deliver(this.#ports, name, { runIds: [reply.runId] });
    return reply;
  }

  /** A cron that the catalog has forgotten may still have a run. */
  async #grace(cron: string): Promise<number> {
    const { entries } = await this.#ports.catalog.read([cron]);
    return (
      entries.find(({ definition }) => definition.name === cron)?.definition.cancelGraceMs ?? DEFAULT_CANCEL_GRACE_MS
    );
  }
}

type OperatorPorts = Required<Omit<CronOperatorPorts, 'audit'>> & Pick<CronOperatorPorts, 'audit'>;
type RunOrder = Pick<TriggerRequest, 'by'> & Partial<Omit<TriggerRequest, 'runId' | 'nonce' | 'by'>>;

function only(reading: CatalogReading, names: readonly string[] | undefined): CatalogReading {
  if (!names) return reading;
  return { ...reading, entries: reading.entries.filter(({ definition }) => names.includes(definition.name)) };
}

function checkedOrder({ by, reason }: OperatorOrder): OperatorOrder {
  return { by: checkedText('by', by), reason: checkedText('reason', reason) };
}

/** `null`: without an end. */
function checkedEnd(until: number | null = null): number | null {
  return until === null ? null : checkedInstant('until', until);
}

function cronNamed(runId: string): string {
  try {
    return cronOfRun(runId);
  } catch {
    throw OperatorInputError.of('the run id', 'one like "nightly-report@1763607600000"', runId);
  }
}
