import { checkFormat, FIRST_FORMAT } from './format.js';
import { scrub } from '@fencepost/lease/internal';
import { OperatorInputError } from './ledger-request.js';

/** What somebody did, as it is handed in: the store says when. */
export interface NewAuditRecord {
  /** Who: the name of a token, or of the one who is logged in. */
  readonly by: string;
  /** As what they did it: `viewer`, `operator`, `admin`; `shell` from the command line, `app` from a program's own code. */
  readonly role: string;
  /** `pause`, `resume`, `trigger`, `backfill`, `cancel`, `retry`, `resolve`, `set`, `remove`, `clear-lease` … */
  readonly action: string;
  readonly cron: string | null;
  readonly runId: string | null;
  /** Of an order to many: those that it was tried on; `after` names those for which it failed. */
  readonly crons?: readonly string[];
  /** Plain data: how it was, as far as whoever acted could see; `null` where nothing was. */
  readonly before: unknown;
  /** Plain data: what became of it. */
  readonly after: unknown;
  readonly reason: string | null;
  /** From where: `cli <host>`, `api <address>`, `queues <address>`, `app <host>`. */
  readonly from: string;
}

export interface AuditRecord extends NewAuditRecord {
  /** The store's, of digits and `-`; sorts by time. */
  readonly id: string;
  /** Epoch milliseconds of the store. */
  readonly at: number;
}

export interface AuditQuery {
  /** 1 to 1,000. */
  readonly limit: number;
  /** The `id` of a record: only older ones. */
  readonly before?: string;
  /** Only what was about this cron, alone or as one of many, or about a run of it. */
  readonly cron?: string;
}

/** More than so many are not kept. */
export const KEPT_RECORDS = 10_000;

/** The most that `list` answers. */
export const MAX_LISTED_RECORDS = 1_000;

/**
 * Who did what, to what, from where, and how it was before and after. The latest {@link KEPT_RECORDS} of a tenant.
 *
 * Every implementation passes `test/contracts/audit-trail.contract.ts`.
 */
export interface AuditTrail {
  /** Under the same nonce again, as a command whose reply was lost, the same record. */
  append(record: NewAuditRecord, nonce?: string): Promise<AuditRecord>;
  /**
   * The newest first.
   * @throws {OperatorInputError} for a limit that is none, or a `before` that is no id
   */
  list(query: AuditQuery): Promise<AuditRecord[]>;
  /**
   * Records that no call of any process was given yet, the oldest first, 100 at most. The first call ever begins at the end of
   * the trail. Under the same nonce again, as a call whose reply was lost, the same ones, unless another call came in between.
   */
  take(nonce: string): Promise<AuditRecord[]>;
}

/** Given to one call of `take`. */
export const TAKEN_AT_ONCE = 100;

/** Of `before` and of `after`, as JSON: a record says what changed, and is no copy of it. */
const MAX_STATE_LENGTH = 8_192;
const MAX_WORD_LENGTH = 1_000;
const MAX_CRONS = 1_000;
const ID = /^\d{1,16}-\d{1,16}$/;

/** A record with its format. */
export type KeptAuditRecord = NewAuditRecord & { readonly format: number };

/** As it is kept: without what is named like a secret, and each part of bounded length. */
export function keptRecord(record: NewAuditRecord): KeptAuditRecord {
  const { by, role, action, cron, runId, crons, before, after, reason, from } = record;
  return {
    // The first part: a store finds it at the beginning of the text.
    ...(crons && { crons: crons.slice(0, MAX_CRONS).map(cut) }),
    ...{ by: cut(by), role: cut(role), action: cut(action), from: cut(from) },
    ...{ cron: cron && cut(cron), runId: runId && cut(runId), reason: reason && cut(reason) },
    ...{ before: keptState(before), after: keptState(after), format: FIRST_FORMAT },
  };
}

function keptState(state: unknown): unknown {
  const json = JSON.stringify(scrub(state ?? null)) as string | undefined;
  if (json === undefined) return null;
  return json.length <= MAX_STATE_LENGTH ? JSON.parse(json) : { tooLong: json.length, begins: json.slice(0, 200) };
}

function cut(text: string): string {
  return text.slice(0, MAX_WORD_LENGTH);
}

/** @throws {FormatError} for a format that this build does not read */
export function recordOf(id: string, { format, ...kept }: KeptAuditRecord): AuditRecord {
  checkFormat('an audit record', format);
  return { ...kept, id, at: Number.parseInt(id, 10) };
}

/** @throws {OperatorInputError} */
export function checkedQuery(query: AuditQuery): AuditQuery {
  const { limit, before } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LISTED_RECORDS) {
    throw OperatorInputError.of('limit', `a whole number from 1 to ${MAX_LISTED_RECORDS}`, limit);
  }
  if (before !== undefined && !ID.test(before)) throw OperatorInputError.of('before', 'the id of a record', before);
  return query;
}

/** A run is its cron's too. */
export function isAbout({ cron, runId, crons }: NewAuditRecord, asked: string | undefined): boolean {
  if (asked === undefined || cron === asked || crons?.includes(asked)) return true;
  return runId !== null && runId.startsWith(`${asked}@`);
}
