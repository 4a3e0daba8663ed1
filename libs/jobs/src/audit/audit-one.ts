import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { Ledger } from '@fencepost/ledger';
import { auditReigns } from './audit-cron.js';
import { addCounts, MOST_FINDINGS, noCounts, type CronAudit, type Finding, type NotCovered } from './audit-report.js';
import { endOfPart, instantsOf, reignsOf, stretchesOf, type AuditSpan, type Reign } from './stretches.js';

/** An hour of a cron that fires each second. */
const INSTANTS_AT_ONCE = 3_600;

export interface OneCron {
  readonly ledger: Pick<Ledger, 'account'>;
  readonly entry: CatalogEntry;
  readonly span: AuditSpan;
}

/**
 * Part by part, so that neither a dense cron nor a long time has to fit into memory. It begins after what the ledger has
 * forgotten, also when it forgets while this reads: what is missing there may have been there.
 */
export async function auditOne({ ledger, entry, span }: OneCron): Promise<CronAudit> {
  const reigns = reignsOf([...entry.past, entry]);
  const counts = noCounts();
  const findings: Finding[] = [];
  const notCovered: NotCovered[] = [];
  const first = Math.max(span.from, (reigns[0]?.generation.since ?? span.to) + 1);
  let [from, gone] = [first, -Infinity];
  while (from <= span.to) {
    const part = { ...span, from, to: endOfPart(reigns, { ...span, from }, INSTANTS_AT_ONCE) };
    const account = await ledger.account(entry.definition.name, part.from, part.to + 1);
    gone = Math.max(gone, account.forgotten ?? -Infinity);
    const audit = auditReigns(reigns, account, { ...part, from: Math.max(from, gone + 1) });
    addCounts(counts, audit);
    findings.push(...audit.findings.slice(0, MOST_FINDINGS - findings.length));
    notCovered.push(...audit.notCovered);
    from = Math.max(part.to, gone) + 1;
  }
  const before = forgotten(reigns, { ...span, from: first, to: Math.min(gone, span.to) });
  return { ...counts, findings, notCovered: [...before, ...notCovered] };
}

function forgotten(reigns: readonly Reign[], span: AuditSpan): NotCovered[] {
  const cron = reigns[0]?.generation.definition.name ?? null;
  const anyInstant = stretchesOf(reigns, span).some((stretch) => instantsOf(stretch).next().done !== true);
  if (!anyInstant) return [];
  const until = new Date(span.to).toISOString();
  const text = `Nothing can be said of "${cron}" up to ${until}: the ledger has forgotten some of it.`;
  return [{ cron, from: span.from, to: span.to, text }];
}
