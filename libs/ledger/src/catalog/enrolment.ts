import { checkFormat, REVISIONS_FORMAT } from '../base/format.js';
import { KEPT_REVISIONS, KEPT_SETS, orderOf, revisionOf, SETS_PER_NUMBER } from './revision.js';
import { type DefinitionSet, type EnrolmentHint, type KnownRevision } from './definition-set.js';

interface Enrolled extends Pick<KnownRevision, 'explicit' | 'hash' | 'firstSeenAt'> {
  readonly order: number;
}

export interface EnrolmentRequest {
  readonly set: DefinitionSet;
  /** The store's clock, epoch milliseconds. */
  readonly now: number;
  readonly hint: EnrolmentHint | undefined;
}

/** What a store writes to enrol a set, unless the record has changed since it was read. */
export interface Enrolment {
  readonly order: number;
  readonly record: string;
  /** Orders whose names are no longer kept. */
  readonly forgotten: readonly number[];
}

/**
 * Finds or adds a set in the record of an app. Pure: every store keeps the record as text and compares it before it writes.
 * @param record as it is kept, `null` for none
 * @throws {FormatError} for a record that this release cannot read
 */
export function enrolment(record: string | null, { set, now, hint }: EnrolmentRequest): Enrolment {
  const { hash, explicit } = set;
  const known = readRecord(record);
  const found = known.find((one) => one.hash === hash && one.explicit === explicit);
  if (found && record !== null) return { order: found.order, record, forgotten: [] };
  const order = nextOrder(
    known.map((one) => one.order),
    explicit,
    hint,
  );
  const all = [...known, { order, hash, explicit, firstSeenAt: now }].toSorted((a, b) => a.order - b.order);
  const forgotten = all.slice(0, -KEPT_SETS).flatMap((one) => (one.order === order ? [] : [one.order]));
  const revisions = all.slice(-KEPT_REVISIONS);
  return { order, record: JSON.stringify({ format: REVISIONS_FORMAT, revisions }), forgotten };
}

/** The revisions of an app, the oldest first. */
export function readRevisions(record: string | null): KnownRevision[] {
  return readRecord(record).map(({ order, explicit, hash, firstSeenAt }) => {
    return { revision: revisionOf(order) ?? 0, explicit, hash, firstSeenAt };
  });
}

function readRecord(record: string | null): readonly Enrolled[] {
  if (record === null) return [];
  const { format, revisions } = JSON.parse(record) as { readonly format: number; readonly revisions: Enrolled[] };
  checkFormat('the revisions of an app', format);
  return revisions;
}

function nextOrder(known: readonly number[], explicit: number | null, hint: EnrolmentHint = {}): number {
  const claimed = hint.claimed === undefined ? null : orderOf(hint.claimed);
  if (claimed !== null && !known.includes(claimed)) return claimed;
  if (explicit === null) {
    const highest = Math.max(0, orderOf(hint.above ?? 0), ...known);
    return (Math.floor(highest / SETS_PER_NUMBER) + 1) * SETS_PER_NUMBER;
  }
  const first = explicit * SETS_PER_NUMBER;
  const last = first + SETS_PER_NUMBER - 1;
  const taken = known.filter((order) => order >= first && order <= last);
  return taken.length === 0 ? first : Math.min(last, Math.max(...taken) + 1);
}
