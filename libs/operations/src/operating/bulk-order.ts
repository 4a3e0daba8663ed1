import { FencepostError, StoreAwayError } from '@fencepost/lease';
import { OperatorInputError, type OccurrenceLog, type OperatorOrder, type TriggerReply } from '@fencepost/ledger';
import type { Catalog, CatalogReading } from '@fencepost/ledger/catalog';
import { describeError, knownCron } from '@fencepost/jobs/internal';

/** One order to many crons: to those with a tag, or to these. */
export interface BulkOrder extends OperatorOrder {
  readonly order: 'pause' | 'resume' | 'trigger';
  /** Those with this tag for which the order means something: `pause` leaves out what is paused, `resume` what is not. */
  readonly tag?: string;
  readonly crons?: readonly string[];
  /** Changes nothing, and says which crons it would be. */
  readonly dryRun?: boolean;
  /** How many crons the preview had: with another number nothing is done. */
  readonly expected?: number;
  /** Of a pause. */
  readonly until?: number | null;
  /** Of the end of a pause. */
  readonly missed?: 'skip' | 'fire-once';
}

export interface BulkReport {
  readonly order: BulkOrder['order'];
  readonly dryRun: boolean;
  /** All that were meant, by name. */
  readonly crons: string[];
  readonly done: string[];
  readonly failed: { readonly cron: string; readonly code: string; readonly detail: string }[];
}

/** Other crons are meant than when somebody looked: nothing was done. */
export class SelectionMovedError extends FencepostError {
  readonly code = 'SELECTION_MOVED';

  constructor(
    readonly expected: number,
    readonly found: number,
  ) {
    super(`Expected ${expected} crons, found ${found}. Nothing was done: look at them again, and repeat the order.`);
  }
}

/** Who gives the order to each. */
interface Operator {
  pause(cron: string, order: OperatorOrder & Pick<BulkOrder, 'until'>): Promise<unknown>;
  resume(cron: string, order: OperatorOrder & Pick<BulkOrder, 'missed'>): Promise<unknown>;
  trigger(cron: string, order: OperatorOrder): Promise<TriggerReply>;
}

interface BulkPorts {
  readonly catalog: Pick<Catalog, 'read'>;
  readonly ledger: Pick<OccurrenceLog, 'readCrons'>;
  /** Where all crons are looked through. */
  readonly reads: { readonly catalog: Pick<Catalog, 'read'> };
}

/** An order to more would take minutes, and its record would be hard to read. */
const MAX_CRONS = 1_000;
/** The code of what was left out after the store did not answer. */
export const NOT_TRIED = 'NOT_TRIED';
/** So many at a time. */
const AT_ONCE = 10;

/**
 * The crons that an order is about, by name.
 * @throws {UnknownCronError} for a name that is not there
 * @throws {OperatorInputError} for neither a tag nor names, for both, and for more than 1,000
 * @throws {SelectionMovedError} when they are not as many as expected
 */
export async function selectCrons({ catalog, ledger, reads }: BulkPorts, asked: BulkOrder): Promise<string[]> {
  const { catalog: whole } = reads;
  const { tag, crons: names, expected } = asked;
  if ((tag === undefined) === (names === undefined)) {
    throw new OperatorInputError('Expected either "tag" or "crons", and not both.');
  }
  const found = tag === undefined ? await named(catalog, names ?? []) : await tagged(ledger, await whole.read(), asked);
  if (found.length > MAX_CRONS) throw OperatorInputError.of('crons', `at most ${MAX_CRONS} crons`, found.length);
  if (expected !== undefined && expected !== found.length) throw new SelectionMovedError(expected, found.length);
  return found.toSorted((a, b) => (a < b ? -1 : 1));
}

async function named(catalog: BulkPorts['catalog'], names: readonly string[]): Promise<string[]> {
  const wanted = [...new Set(names)];
  // More than that are refused anyway, with their number.
  const asked = wanted.slice(0, MAX_CRONS);
  const known = new Set((await catalog.read(asked)).entries.map(({ definition }) => definition.name));
  const missing = asked.find((name) => !known.has(name));
  if (missing !== undefined) await knownCron(catalog, missing);
  return wanted;
}

async function tagged(
  ledger: BulkPorts['ledger'],
  { entries }: CatalogReading,
  { tag = '', order }: BulkOrder,
): Promise<string[]> {
  const active = entries.filter(({ state, definition }) => state === 'active' && definition.tags?.includes(tag));
  const names = active.map(({ definition }) => definition.name);
  if (order === 'trigger') return names;
  const records = await ledger.readCrons(names);
  return names.filter((_, index) => ((records[index]?.paused ?? null) === null) === (order === 'pause'));
}

/** Each by itself; after the store could not be asked once, the rest is not tried. */
export async function orderEach(
  operator: Operator,
  crons: readonly string[],
  asked: BulkOrder,
): Promise<Pick<BulkReport, 'done' | 'failed'>> {
  const report: Pick<BulkReport, 'done' | 'failed'> = { done: [], failed: [] };
  let isAway = false;
  const each = async (cron: string) => {
    if (isAway)
      return void report.failed.push({ cron, code: NOT_TRIED, detail: 'Not tried: the store did not answer.' });
    try {
      const refusal = await orderOne(operator, cron, asked);
      if (refusal === null) report.done.push(cron);
      else report.failed.push({ cron, code: 'STATE_CONFLICT', detail: refusal });
    } catch (error) {
      isAway ||= !(error instanceof FencepostError) || error instanceof StoreAwayError;
      const code = error instanceof FencepostError ? error.code : 'STORE_AWAY';
      report.failed.push({ cron, code, detail: describeError(error) });
    }
  };
  for (let from = 0; from < crons.length; from += AT_ONCE)
    await Promise.all(crons.slice(from, from + AT_ONCE).map(each));
  return report;
}

/** @returns why it was refused, or `null` */
async function orderOne(
  operator: Operator,
  cron: string,
  { order, by, reason, until = null, missed = 'skip' }: BulkOrder,
): Promise<string | null> {
  if (order === 'trigger') return refusalOf(await operator.trigger(cron, { by, reason }));
  if (order === 'pause') await operator.pause(cron, { by, reason, until });
  else await operator.resume(cron, { by, reason, missed });
  return null;
}

function refusalOf({ verdict }: TriggerReply): string | null {
  if (verdict === 'claimed') return null;
  return verdict === 'skipped' ? 'The maximum of open runs is reached.' : `It was not run: ${verdict}.`;
}
