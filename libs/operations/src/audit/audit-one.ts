import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { RunHistory } from '@fencepost/ledger';
import { auditIntervals } from './audit-cron.js';
import {
  addCounts,
  MAX_FINDINGS,
  noCounts,
  type CronAudit,
  type AuditFinding,
  type NotCovered,
} from './audit-report.js';
import {
  endOfPart,
  instantsOf,
  validityIntervalsOf,
  intervalPartsOf,
  type AuditSpan,
  type ValidityInterval,
} from './validity-intervals.js';

/** An hour of a cron that fires each second. */
const INSTANTS_AT_ONCE = 3_600;

export interface OneCron {
  readonly ledger: Pick<RunHistory, 'account'>;
  readonly entry: CatalogEntry;
  readonly span: AuditSpan;
}

/**
 * Part by part, so that neither a dense cron nor a long time has to fit into memory. It begins after what the ledger has
 * forgotten, also when it forgets while this reads: what is missing there may have been there.
 */
export async function auditOne({ ledger, entry, span }: OneCron): Promise<CronAudit> {
  const intervals = validityIntervalsOf([...entry.past, entry]);
  const counts = noCounts();
  const findings: AuditFinding[] = [];
  const notCovered: NotCovered[] = [];
  const first = Math.max(span.from, (intervals[0]?.generation.since ?? span.to) + 1);
  let [from, gone] = [first, -Infinity];
  while (from <= span.to) {
    const part = { ...span, from, to: endOfPart(intervals, { ...span, from }, INSTANTS_AT_ONCE) };
    const account = await ledger.account(entry.definition.name, part.from, part.to + 1);
    gone = Math.max(gone, account.forgotten ?? -Infinity);
    const audit = auditIntervals(intervals, account, { ...part, from: Math.max(from, gone + 1) });
    addCounts(counts, audit);
    findings.push(...audit.findings.slice(0, MAX_FINDINGS - findings.length));
    notCovered.push(...audit.notCovered);
    from = Math.max(part.to, gone) + 1;
  }
  const before = forgotten(intervals, { ...span, from: first, to: Math.min(gone, span.to) });
  return { ...counts, findings, notCovered: [...before, ...notCovered] };
}

function forgotten(intervals: readonly ValidityInterval[], span: AuditSpan): NotCovered[] {
  const cron = intervals[0]?.generation.definition.name ?? null;
  const anyInstant = intervalPartsOf(intervals, span).some((part) => instantsOf(part).next().done !== true);
  if (!anyInstant) return [];
  const until = new Date(span.to).toISOString();
  const text = `"${cron}" cannot be checked up to ${until}: the ledger no longer keeps all of its records.`;
  return [{ cron, from: span.from, to: span.to, text }];
}
