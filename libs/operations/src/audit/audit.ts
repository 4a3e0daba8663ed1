import type { Clock } from '@fencepost/lease';
import type { Catalog, CatalogReading, CatalogEntry } from '@fencepost/ledger/catalog';
import type { Membership } from '@fencepost/jobs/internal';
import type { RunHistory } from '@fencepost/ledger';
import {
  addCounts,
  MAX_FINDINGS,
  noCounts,
  type AuditReport,
  type CronAudit,
  type AuditFinding,
  type NotCovered,
} from './audit-report.js';
import { auditIntervals } from './audit-cron.js';
import {
  endOfPart,
  instantsOf,
  validityIntervalsOf,
  intervalPartsOf,
  type AuditSpan,
  type ValidityInterval,
} from './validity-intervals.js';

export interface AuditPorts {
  readonly catalog: Pick<Catalog, 'read'>;
  readonly ledger: Pick<RunHistory, 'account'>;
  readonly membership: Pick<Membership, 'lastHeard'>;
  readonly clock: Clock;
}

export interface AuditOptions {
  /** The first nominal instant, epoch milliseconds; by default from when on each cron is known. */
  readonly from?: number;
  /** Instants that were due up to here, epoch milliseconds; by default, and at most, as far as the pods can be. */
  readonly to?: number;
  /** Names; by default all crons. */
  readonly crons?: readonly string[];
}

/** Due so long ago, an instant has been seen to, if somebody is there. */
const SETTLED_MS = 5_000;
/** Before the last sign of a pod: what was due shortly before it may have been left to the next. */
const LAST_SIGN_MS = 2_000;
const CRONS_AT_ONCE = 8;

/**
 * Holds the ledger against the schedules, from the stores alone: was every instant run once, or left out for a recorded
 * reason? Nothing of the engine's is used for the answer, and nothing is written.
 *
 * Not covered, and told so, is what was due after a pod was last there, and everything up to the last instant of which the
 * ledger has forgotten a record: what is missing there may have been there. That is more than what was forgotten, because
 * a record may outlive its neighbours, and a false alarm would be worse.
 * @throws {RangeError} for a cron the catalog doesn't have, and for a time that is none
 */
export async function audit(ports: AuditPorts, options: AuditOptions = {}): Promise<AuditReport> {
  for (const time of [options.from, options.to]) checkTime(time);
  const { clock, ledger } = ports;
  const began = clock.monotonic();
  const [reading, lastHeard] = await Promise.all([ports.catalog.read(), ports.membership.lastHeard()]);
  const entries = asked(reading, options.crons);
  const from = options.from ?? oldestOf(entries, reading.readAt);
  const end = endOfAudit(reading.readAt, lastHeard, options.to);
  const summary = new Summary(end.notCovered);
  const span = { from, to: end.to };
  for (let at = 0; at < entries.length; at += CRONS_AT_ONCE) {
    const some = entries.slice(at, at + CRONS_AT_ONCE);
    const audits = await Promise.all(some.map((entry) => auditOne({ ledger, entry, span })));
    for (const one of audits) summary.add(one);
  }
  return summary.report({ from, to: Math.max(from, end.to), crons: entries.length, tookMs: clock.monotonic() - began });
}

function checkTime(time: number | undefined): void {
  if (time === undefined || Number.isSafeInteger(time)) return;
  throw new RangeError(`Expected "from" and "to" in whole epoch milliseconds, got ${time}.`);
}

function asked({ entries }: CatalogReading, crons: readonly string[] | undefined): readonly CatalogEntry[] {
  if (crons === undefined) return entries;
  const known = new Map(entries.map((entry) => [entry.definition.name, entry]));
  return [...new Set(crons)].map((cron) => {
    const entry = known.get(cron);
    if (!entry) throw new RangeError(`Expected names of crons of the catalog, got ${JSON.stringify(cron)}.`);
    return entry;
  });
}

function oldestOf(entries: readonly CatalogEntry[], now: number): number {
  return entries.reduce((oldest, entry) => Math.min(oldest, (entry.past[0] ?? entry).since), now);
}

interface End {
  readonly to: number;
  readonly notCovered: readonly NotCovered[];
}

function endOfAudit(now: number, lastHeard: number | null, wanted = now - SETTLED_MS): End {
  const to = Math.min(wanted, now - SETTLED_MS, (lastHeard ?? 0) - LAST_SIGN_MS);
  if (to >= wanted) return { to, notCovered: [] };
  const heard =
    lastHeard === null
      ? 'No scheduler pod has ever reported'
      : `The last report of a scheduler pod is from ${iso(lastHeard)}`;
  const text = `${heard}, and it is ${iso(now)} now: later instants cannot be checked: after ${iso(Math.max(to, 0))}.`;
  return { to, notCovered: [{ cron: null, from: Math.max(to, 0), to: wanted, text }] };
}

function iso(instant: number): string {
  return new Date(instant).toISOString();
}

class Summary {
  readonly #counts = noCounts();
  readonly #findings: AuditFinding[] = [];
  readonly #notCovered: NotCovered[];

  constructor(notCovered: readonly NotCovered[]) {
    this.#notCovered = [...notCovered];
  }

  add({ findings, notCovered, ...counts }: CronAudit): void {
    addCounts(this.#counts, counts);
    this.#findings.push(...findings.slice(0, MAX_FINDINGS - this.#findings.length));
    this.#notCovered.push(...notCovered);
  }

  report(about: Pick<AuditReport, 'from' | 'to' | 'crons' | 'tookMs'>): AuditReport {
    const { missed, doubled, unexplained } = this.#counts;
    const ok = missed + doubled + unexplained === 0;
    return { ok, ...about, ...this.#counts, findings: this.#findings, notCovered: this.#notCovered };
  }
}

/** An hour of a cron that fires each second. */
const INSTANTS_AT_ONCE = 3_600;

interface OneCron {
  readonly ledger: Pick<RunHistory, 'account'>;
  readonly entry: CatalogEntry;
  readonly span: AuditSpan;
}

/**
 * Part by part, so that neither a dense cron nor a long time has to fit into memory. It begins after what the ledger has
 * forgotten, also when it forgets while this reads: what is missing there may have been there.
 */
async function auditOne({ ledger, entry, span }: OneCron): Promise<CronAudit> {
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
    const audited = auditIntervals(intervals, account, { ...part, from: Math.max(from, gone + 1) });
    addCounts(counts, audited);
    findings.push(...audited.findings.slice(0, MAX_FINDINGS - findings.length));
    notCovered.push(...audited.notCovered);
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
