import { randomUUID } from 'node:crypto';
import { readEach } from '../base/format.js';
import { PostgresLedgerAccess, type PostgresLedgerOptions } from './postgres-ledger-access.js';
import {
  checkedQuery,
  keptRecord,
  recordOf,
  KEPT_RECORDS,
  TAKEN_AT_ONCE,
  type AuditQuery,
  type AuditRecord,
  type AuditTrail,
  type KeptAuditRecord,
  type NewAuditRecord,
} from '../base/audit-trail.js';

export interface PostgresAuditTrailOptions extends Pick<
  PostgresLedgerOptions,
  'pool' | 'schema' | 'prefix' | 'tenant'
> {
  /** Default {@link KEPT_RECORDS}. */
  readonly keep?: number;
}

/** The trail in a table beside the ledger. */
export class PostgresAuditTrail implements AuditTrail {
  readonly #access: PostgresLedgerAccess;
  readonly #keep: number;

  constructor(options: PostgresAuditTrailOptions) {
    this.#access = new PostgresLedgerAccess(options);
    this.#keep = options.keep ?? KEPT_RECORDS;
  }

  async append(record: NewAuditRecord, nonce: string = randomUUID()): Promise<AuditRecord> {
    const kept = keptRecord(record);
    const args = [nonce, kept.cron, kept.runId, JSON.stringify(kept), this.#keep];
    return recordOf(await this.#call<string>('append_record', ...args), kept);
  }

  async list(query: AuditQuery): Promise<AuditRecord[]> {
    const { limit, before, cron } = checkedQuery(query);
    const [at = null, n = null] = before?.split('-').map(Number) ?? [];
    return readEach(await this.#call<Row[]>('list_records', limit, at, n, cron ?? null), readRow);
  }

  async take(nonce: string): Promise<AuditRecord[]> {
    return readEach(await this.#call<Row[]>('take_records', TAKEN_AT_ONCE, nonce), readRow);
  }

  #call<T>(name: string, ...args: readonly unknown[]): Promise<T> {
    return this.#access.call<T>(name, [this.#access.space, ...args]);
  }
}

interface Row {
  readonly id: string;
  /** JSON. */
  readonly record: string;
}

function readRow({ id, record }: Row): AuditRecord {
  return recordOf(id, JSON.parse(record) as KeptAuditRecord);
}
