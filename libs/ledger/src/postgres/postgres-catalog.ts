import { randomUUID } from 'node:crypto';
import { redisChannel, watchChannel } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import type { StopWatching } from '@fencepost/lease/store';
import { PostgresLedgerAccess, type PostgresLedgerOptions } from './postgres-ledger-access.js';
import { inBatches } from './postgres-value.js';
import type { Build, Catalog, CatalogReading, ChangeOrder, ChangeReply, DeclareReply } from '../catalog/catalog.js';
import {
  declareReply,
  hashed,
  TOMBSTONE_MS,
  DefinitionConflictError,
  type CatalogOptions,
  type HashedDeclaration,
  type Word,
} from '../catalog/declaring.js';
import {
  contentHash,
  formatOf,
  EFFECTIVE_AFTER_MS,
  KEPT_GENERATIONS,
  type Declaration,
} from '../catalog/definition.js';
import { FIRST_FORMAT } from '../base/format.js';
import { readReading, whoText } from '../catalog/catalog-record.js';
import { exportRedisCatalog, type ExportedCatalog } from '../redis/redis-catalog-export.js';

/** A call locks the whole catalog: pods that ask for its version wait for it. */
const MAX_PER_CALL = 500;

type CatalogPlace = Pick<PostgresLedgerOptions, 'pool' | 'schema' | 'prefix' | 'tenant'>;

export interface PostgresCatalogOptions extends CatalogPlace, CatalogOptions {
  /** Where changes are announced; stays the caller's to close. */
  readonly redis: RedisClient;
}

/** How far a catalog is, by the clock of its store, epoch milliseconds. */
export interface CatalogVersion {
  readonly version: number;
  readonly now: number;
}

type Conflict = { readonly name: string; readonly source: string } | null;
type Judged = { readonly conflict: Conflict; readonly words: readonly Word[]; readonly writes: boolean };
type Declared = {
  readonly conflict: Conflict;
  readonly words: readonly Word[];
  readonly removed: readonly string[];
  readonly changed: boolean;
};

interface Part {
  readonly chunk: readonly HashedDeclaration[];
  readonly judged: Judged;
}

type ReadingRow = [
  version: string,
  readAt: string,
  crons: readonly [string, string][],
  declared: readonly [string, string][],
  bornAt: string,
];

/**
 * The catalog in PostgreSQL, beside the ledger and as safe as its runs. Redis carries announcements alone: one that is lost
 * delays a change until the next look at the version, once a second.
 */
export class PostgresCatalog implements Catalog {
  readonly #access: PostgresLedgerAccess;
  readonly #redis: RedisClient;
  readonly #channel: string;
  readonly #tombstoneMs: number;
  readonly #zoneData: string;

  /** @throws {SetupError} for an invalid prefix, tenant or schema; each method, when the tables are missing */
  constructor(options: PostgresCatalogOptions) {
    this.#access = new PostgresLedgerAccess(options);
    this.#redis = options.redis;
    this.#channel = redisChannel(options, 'catalog');
    this.#tombstoneMs = options.tombstoneMs ?? TOMBSTONE_MS;
    this.#zoneData = options.zoneData ?? process.versions.tz ?? 'unknown';
  }

  /** Up to 500 crons are one transaction; of more, each 500 are one, and may be repeated: see `RedisCatalog.declare`. */
  async declare(declarations: readonly Declaration[], build: Build): Promise<DeclareReply> {
    const declared = hashed(declarations, build);
    const parts: Part[] = [];
    for (const chunk of inBatches(declared, MAX_PER_CALL)) {
      parts.push({ chunk, judged: await this.#judge(chunk, build) });
    }
    const last = parts.findLast(({ judged }) => judged.writes);
    const words: Word[] = [];
    const removed: string[] = [];
    let changed = false;
    for (const part of parts) {
      const written = part.judged.writes ? await this.#write(part.chunk, { build, last: part === last }) : null;
      words.push(...(written ?? part.judged).words);
      removed.push(...(written?.removed ?? []));
      changed ||= written?.changed ?? false;
    }
    if (changed) this.#notifyWatchers();
    return declareReply(declared, words, removed);
  }

  async read(names?: readonly string[]): Promise<CatalogReading> {
    const [version, readAt, crons, declared, bornAt] = await this.#call<ReadingRow>('read_catalog', names ?? null);
    return readReading([version, readAt, crons.flat(), declared.flat(), bornAt]);
  }

  /** One short statement, which reads one row. */
  async readVersion(): Promise<CatalogVersion> {
    return this.#call('read_version');
  }

  put(declaration: Declaration, order: ChangeOrder): Promise<ChangeReply> {
    const { definition, disabled } = declaration;
    const content = { hash: contentHash(declaration), definition: JSON.stringify(definition) };
    const state = disabled ? 'disabled' : 'active';
    return this.#change(definition.name, order, { state, ...content }, formatOf(definition));
  }

  remove(cron: string, order: ChangeOrder): Promise<ChangeReply> {
    return this.#change(cron, order, { state: 'removed' });
  }

  async outgrow(cron: string, accepted: number): Promise<void> {
    if (await this.#call<boolean>('outgrow_generation', cron, accepted)) this.#notifyWatchers();
  }

  watch(onChanged: () => void): Promise<StopWatching> {
    return watchChannel(this.#redis, this.#channel, onChanged);
  }

  /**
   * Takes over the catalog of a deployment that kept it in Redis, unless this one has ever accepted anything: in one
   * transaction, so that of many processes that start at once one does it.
   * @param found what Redis has; asked for only where this catalog is empty
   * @returns how many crons were taken over, `null` where nothing was
   */
  async adopt(found: () => Promise<ExportedCatalog | null>): Promise<number | null> {
    if ((await this.readVersion()).version > 0) return null;
    const exported = await found();
    return exported && this.#call<number | null>('adopt_catalog', exported);
  }

  /** Crons that the ledger knows and this catalog neither defines nor has removed. */
  listUndefined(most: number): Promise<{ readonly count: number; readonly names: readonly string[] }> {
    return this.#call('list_undefined', most);
  }

  async #judge(chunk: readonly HashedDeclaration[], build: Build): Promise<Judged> {
    const content = chunk.map(({ name, hash }) => ({ name, hash }));
    const args = [build.source, build.seq, this.#tombstoneMs, content];
    return refuseConflict(await this.#call<Judged>('judge_declarations', ...args), build);
  }

  async #write(
    chunk: readonly HashedDeclaration[],
    { build, last }: { readonly build: Build; readonly last: boolean },
  ): Promise<Declared> {
    const content = chunk.map(({ name, hash, disabled, definition }) => {
      return { name, hash, state: disabled ? 'disabled' : 'active', definition: JSON.stringify(definition) };
    });
    const { source, seq } = build;
    const format = Math.max(...chunk.map(({ definition }) => formatOf(definition)), FIRST_FORMAT);
    const about = { source, seq, last, ...this.#common(`${source} build ${seq}`, null, format) };
    return refuseConflict(await this.#call<Declared>('declare_crons', about, content), build);
  }

  async #change(
    ...[cron, order, content, format = FIRST_FORMAT]: [string, ChangeOrder, object, number?]
  ): Promise<ChangeReply> {
    const change = { nonce: randomUUID(), ...content, ...this.#common(order.by, order.reason, format) };
    const reply = await this.#call<ChangeReply>('change_cron', cron, order.expected, change);
    if (reply.verdict === 'accepted') this.#notifyWatchers();
    return reply;
  }

  #common(by: string, reason: string | null, format: number) {
    const who = whoText({ by, reason, zoneData: this.#zoneData }, format);
    return { who, keep: this.#tombstoneMs, effectiveAfter: EFFECTIVE_AFTER_MS, kept: KEPT_GENERATIONS };
  }

  /** A hint, after the change was committed: that Redis is away is no failure of it. */
  #notifyWatchers(): void {
    this.#redis.publish(this.#channel, '').catch(() => {});
  }

  #call<T>(name: string, ...args: readonly unknown[]): Promise<T> {
    return this.#access.call<T>(name, [this.#access.space, ...args]);
  }
}

/** Opens the catalog; the first time after an upgrade, it takes over the one that the deployment has in Redis. */
export async function openPostgresCatalog(
  options: PostgresCatalogOptions,
): Promise<{ readonly catalog: PostgresCatalog; readonly adopted: number | null }> {
  const catalog = new PostgresCatalog(options);
  return { catalog, adopted: await catalog.adopt(() => exportRedisCatalog(options.redis, options)) };
}

/** Which tenants of a deployment have crons. @throws {SetupError} when the tables are missing */
export async function listTenants({ pool, schema, prefix }: Omit<CatalogPlace, 'tenant'>): Promise<string[]> {
  const access = new PostgresLedgerAccess({ pool, ...(schema === undefined ? {} : { schema }), prefix, tenant: 'any' });
  return access.call('list_tenants', [prefix]);
}

function refuseConflict<T extends { readonly conflict: Conflict }>(reply: T, build: Build): T {
  const { conflict } = reply;
  if (conflict === null) return reply;
  throw new DefinitionConflictError(
    conflict.name,
    build.seq,
    conflict.source === build.source ? null : conflict.source,
  );
}
