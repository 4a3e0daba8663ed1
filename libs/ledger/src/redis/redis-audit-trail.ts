import { randomUUID } from 'node:crypto';
import { loadScripts, redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { readEach } from '../base/format.js';
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
  type KeptAuditRecord,
  type NewAuditRecord,
} from '../base/audit-trail.js';
import { TEXTS } from './lua/texts.js';

const SCRIPTS = loadScripts(TEXTS, ['append-record', 'take-records']);

/** Read at once where only some of them are wanted. */
const PAGE = 500;

export interface RedisAuditTrailOptions extends KeySpace {
  /** Stays the caller's to close. */
  readonly redis: RedisClient;
  /** Default {@link KEPT_RECORDS}. */
  readonly keep?: number;
}

/** One stream beside the catalog. What Redis loses, it loses of this too. */
export class RedisAuditTrail implements AuditTrail {
  readonly #redis: RedisClient;
  readonly #key: string;
  readonly #takenKey: string;
  readonly #keep: number;
  /** The last record when a call was given none: all up to it were handed out. */
  #allTakenTo = '';

  constructor(options: RedisAuditTrailOptions) {
    this.#redis = options.redis;
    this.#key = redisKeys(options)('catalog', 'audit');
    this.#takenKey = redisKeys(options)('catalog', 'audit-taken');
    this.#keep = options.keep ?? KEPT_RECORDS;
  }

  async append(record: NewAuditRecord, nonce: string = randomUUID()): Promise<AuditRecord> {
    const kept = keptRecord(record);
    const id = await SCRIPTS['append-record'].run(this.#redis, [this.#key], [nonce, JSON.stringify(kept), this.#keep]);
    return recordOf(String(id), kept);
  }

  async list(query: AuditQuery): Promise<AuditRecord[]> {
    const { limit, before, cron } = checkedQuery(query);
    const found: AuditRecord[] = [];
    let from = before;
    while (found.length < limit) {
      const count = cron === undefined ? limit : PAGE;
      const page = await this.#redis.xrevrange(this.#key, from === undefined ? '+' : `(${from}`, '-', 'COUNT', count);
      found.push(...readEach(page, readEntry).filter((record) => isAbout(record, cron)));
      from = page.at(-1)?.[0];
      if (page.length < count) break;
    }
    return found.slice(0, limit);
  }

  /** Every pod asks every few seconds, and hardly ever is anything new: that takes one plain command. */
  async take(nonce: string): Promise<AuditRecord[]> {
    const last = await this.#lastId();
    if (last === this.#allTakenTo) return [];
    const keys = [this.#key, this.#takenKey];
    const args = [nonce, TAKEN_AT_ONCE, this.#allTakenTo];
    const entries = (await SCRIPTS['take-records'].run(this.#redis, keys, args)) as Entry[];
    if (entries.length === 0) this.#allTakenTo = last;
    return readEach(entries, readEntry);
  }

  async #lastId(): Promise<string> {
    const [newest] = await this.#redis.xrevrange(this.#key, '+', '-', 'COUNT', 1);
    return newest?.[0] ?? '0-0';
  }
}

type Entry = [id: string, fields: string[]];

function readEntry([id, fields]: Entry): AuditRecord {
  return recordOf(id, JSON.parse(fields[fields.indexOf('record') + 1] ?? 'null') as KeptAuditRecord);
}

/** An entry as a trail in another store keeps it. */
export function keptRecordAt([id, fields]: Entry) {
  const [nonce = id, record = 'null'] = ['nonce', 'record'].map((field) => fields[fields.indexOf(field) + 1]);
  const { cron, runId } = readEntry([id, fields]);
  return { id, nonce, cron, runId, record };
}
