/** What somebody did, as it is handed in: the store says when. */
export interface NewAuditRecord {
  /** Who: the name of a token, or of the one who is logged in. */
  readonly by: string;
  /** As what they did it: `viewer`, `operator` or `admin`; `shell` for whoever reached the store itself. */
  readonly role: string;
  /** `pause`, `resume`, `trigger`, `backfill`, `cancel`, `retry`, `resolve`, `set`, `remove`, `clear-lease` … */
  readonly action: string;
  readonly cron: string | null;
  readonly runId: string | null;
  /** Plain data: how it was, as far as whoever acted could see; `null` where nothing was. */
  readonly before: unknown;
  /** Plain data: what became of it. */
  readonly after: unknown;
  readonly reason: string | null;
  /** From where: `cli <host>`, `api <address>`, `queues <address>`. */
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
  /** Only what was about this cron, or about a run of it. */
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
}
