import { formatFence, parseFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { redisKeys } from '../store/keys.js';
import type { KeyBuilder, KeySpace } from '../store/keys.js';
import { loadScripts } from '../redis/redis-script.js';
import type { RedisClient } from '../redis/redis-script.js';
import { unobserved } from '../telemetry/lease-events.js';
import type { LeaseObserver } from '../telemetry/lease-events.js';
import { refuseStale } from './refuse-stale.js';
import type { Refuser } from './refuse-stale.js';
import { TEXTS } from '../lua/texts.js';

export interface FencedWrite {
  readonly row: string;
  readonly value: string;
  /** Of the lease or attempt that writes. */
  readonly fence: Fence;
  /** Names the write, the same when it is repeated; unique within the table. */
  readonly idempotencyKey: string;
}

/** An accepted write as the journal has it. */
export interface AppliedWrite {
  readonly row: string;
  readonly idempotencyKey: string;
  readonly fence: Fence;
}

/** How many writes the table turned down: because of their fence, and because it had accepted them before. */
export interface TurnedDown {
  readonly stale: number;
  readonly repeated: number;
}

export interface RedisFencedRowsOptions extends KeySpace {
  readonly redis: RedisClient;
  /** All rows of a table share a cluster slot. */
  readonly table: string;
  /** How many idempotency keys and journal entries are remembered; default 100,000. */
  readonly keep?: number;
  /** What metrics call this table; default: its name. */
  readonly downstream?: string;
  readonly observe?: LeaseObserver;
}

const scripts = loadScripts(TEXTS, ['write-row']);

/**
 * Rows in Redis that refuse a stale writer: a sink that does its part, so that fencing reaches the side effect.
 *
 * Each row remembers the largest fence that wrote it. A holder that was paused and wakes up after its successor has
 * written can't overwrite anything, whatever it believes.
 */
export class RedisFencedRows {
  readonly #options: RedisFencedRowsOptions;
  readonly #key: KeyBuilder;
  readonly #refuser: Refuser;

  constructor(options: RedisFencedRowsOptions) {
    const { table, downstream = table, observe = unobserved } = options;
    this.#options = options;
    this.#refuser = { downstream, observe };
    this.#key = redisKeys(options);
  }

  /**
   * @returns `repeated` when this very write was accepted before; nothing was changed then
   * @throws {StaleFenceError} when the row has been written under a larger fence; nothing was changed
   */
  async write({ row, value, fence, idempotencyKey }: FencedWrite): Promise<'written' | 'repeated'> {
    const { redis, table, keep = 100_000 } = this.#options;
    const keys = [this.#row(row), this.#part('rows-keys'), this.#part('rows-journal'), this.#part('rows-table')];
    const args = [formatFence(fence), idempotencyKey, row, value, keep];
    const [word, seen] = (await scripts['write-row'].run(redis, keys, args)) as string[];
    if (word === 'STALE') {
      const detail = `the row was written under fence ${seen ?? '?'}`;
      refuseStale(this.#refuser, { resource: `${table}:${row}`, fence, detail });
    }
    return word === 'REPEATED' ? 'repeated' : 'written';
  }

  async read(row: string): Promise<string | null> {
    return this.#options.redis.hget(this.#row(row), 'value');
  }

  /** Every accepted write that is still remembered, the oldest first. */
  async journal(): Promise<AppliedWrite[]> {
    const entries = await this.#options.redis.xrange(this.#part('rows-journal'), '-', '+');
    return entries.map(([, [, row = '', , idempotencyKey = '', , fence = '']]) => ({
      row,
      idempotencyKey,
      fence: parseFence(fence),
    }));
  }

  async turnedDown(): Promise<TurnedDown> {
    const [stale, repeated] = await this.#options.redis.hmget(this.#part('rows-table'), 'refused', 'repeated');
    return { stale: Number(stale ?? 0), repeated: Number(repeated ?? 0) };
  }

  #row(row: string): string {
    return this.#part(`row:${row}`);
  }

  #part(part: string): string {
    return this.#key(this.#options.table, part);
  }
}
