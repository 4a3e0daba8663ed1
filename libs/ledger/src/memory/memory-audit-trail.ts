import { randomUUID } from 'node:crypto';
import type { Clock } from '@fencepost/lease';
import {
  checkedQuery,
  isAbout,
  keptRecord,
  recordOf,
  KEPT_RECORDS,
  TAKEN_AT_ONCE,
  type AuditQuery,
  type AuditRecord,
  type AuditTrail,
  type NewAuditRecord,
} from '../base/audit-trail.js';

export interface MemoryAuditTrailOptions {
  /** The store's. */
  readonly clock: Clock;
  /** Default {@link KEPT_RECORDS}. */
  readonly keep?: number;
}

/** The trail in memory, for tests: an adapter like `RedisAuditTrail`, on the same contract suite. */
export class MemoryAuditTrail implements AuditTrail {
  readonly #options: Required<MemoryAuditTrailOptions>;
  readonly #records: { readonly nonce: string; readonly record: AuditRecord }[] = [];
  #last: readonly [at: number, n: number] = [0, 0];
  /** The newest record that was handed out; `null` before the first call. */
  #through: string | null = null;
  #lastTake: { readonly nonce: string; readonly records: AuditRecord[] } | null = null;

  constructor(options: MemoryAuditTrailOptions) {
    this.#options = { keep: KEPT_RECORDS, ...options };
  }

  async append(record: NewAuditRecord, nonce: string = randomUUID()): Promise<AuditRecord> {
    const known = this.#records.find((one) => one.nonce === nonce);
    if (known) return known.record;
    const added = recordOf(this.#nextId(), keptRecord(record));
    this.#records.push({ nonce, record: added });
    if (this.#records.length > this.#options.keep) this.#records.shift();
    return added;
  }

  async list(query: AuditQuery): Promise<AuditRecord[]> {
    const { limit, before, cron } = checkedQuery(query);
    const older = this.#records
      .map(({ record }) => record)
      .filter(({ id }) => before === undefined || isLess(id, before));
    return older
      .filter((record) => isAbout(record, cron))
      .slice(-limit)
      .toReversed();
  }

  async take(nonce: string): Promise<AuditRecord[]> {
    if (this.#lastTake?.nonce === nonce) return this.#lastTake.records;
    const [through, all] = [this.#through, this.#records.map(({ record }) => record)];
    this.#through ??= all.at(-1)?.id ?? '0-0';
    if (through === null) return [];
    const records = all.filter(({ id }) => isLess(through, id)).slice(0, TAKEN_AT_ONCE);
    this.#through = records.at(-1)?.id ?? through;
    if (records.length > 0) this.#lastTake = { nonce, records };
    return records;
  }

  /** As a stream has it: it goes on where a clock went back. */
  #nextId(): string {
    const [at, n] = this.#last;
    const now = Math.floor(this.#options.clock.now());
    this.#last = now > at ? [now, 0] : [at, n + 1];
    return this.#last.join('-');
  }
}

function isLess(id: string, other: string): boolean {
  const [at = 0, n = 0] = id.split('-').map(Number);
  const [otherAt = 0, otherN = 0] = other.split('-').map(Number);
  return at < otherAt || (at === otherAt && n < otherN);
}
