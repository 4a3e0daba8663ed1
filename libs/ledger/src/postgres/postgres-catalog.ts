import { randomBytes } from 'node:crypto';
import { redisChannel, watchChannel } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import type { StopWatching } from '@fencepost/lease/store';
import { PostgresLedgerAccess, type PostgresLedgerOptions } from './postgres-ledger-access.js';
import { inBatches } from '../catalog/in-batches.js';
import {
  CHANGES_PER_PAGE,
  type Catalog,
  type CatalogChanges,
  type CatalogReading,
  type ChangeOrder,
  type ChangeReply,
  type CronPut,
  type CronRemoval,
  type DeclaredCron,
  type Declarer,
  type Orderer,
  type UndeclaredPage,
} from '../catalog/catalog.js';
import {
  byRevision,
  declareReply,
  hashed,
  theReply,
  TOMBSTONE_MS,
  type CatalogOptions,
  type HashedDeclaration,
} from '../catalog/declaring.js';
import { DROPPED, GENERATION_REASONS } from '../catalog/word.js';
import {
  contentHash,
  formatOf,
  EFFECTIVE_AFTER_MS,
  KEPT_GENERATIONS,
  type Declaration,
} from '../catalog/definition.js';
import { orderOf } from '../catalog/revision.js';
import { FIRST_FORMAT } from '../base/format.js';
import { LineReader, readChangesPage, readReading, whoText } from '../catalog/catalog-record.js';
import { readWhole } from '../catalog/read-changes.js';
import { exportRedisCatalog, type ExportedCatalog } from '../redis/redis-catalog-export.js';
import { PostgresRevisions } from './postgres-revisions.js';

/** A call locks the whole catalog: pods that ask for its version wait for it. */
const MAX_PER_CALL = 500;
const MAX_CHANGES_PER_CALL = 250;
const MAX_LISTED = 1_000;

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

type Judged = { readonly words: readonly string[]; readonly writes: boolean };
type Declared = { readonly words: readonly string[]; readonly changed: boolean };
type Dropped = { readonly removed: readonly string[]; readonly changed: boolean };
type Changed = { readonly changed: boolean; readonly replies: readonly RawChangeReply[] };
type RawChangeReply =
  | { readonly verdict: 'accepted'; readonly generation: number; readonly since: number }
  | { readonly verdict: 'moved' | 'unchanged'; readonly generation: number | null }
  | { readonly verdict: 'full'; readonly count: number };

interface Part {
  readonly chunk: readonly HashedDeclaration[];
  readonly judged: Judged;
}

type ReadingRow = readonly [
  version: string,
  readAt: string,
  crons: readonly [string, string][],
  declared: readonly [string, string][],
  bornAt: string,
];
type ChangesRow = readonly [...reading: ReadingRow, gone: readonly string[], next: string];

/**
 * The catalog in PostgreSQL, beside the ledger and as safe as its runs. Redis carries announcements alone: one that is lost
 * delays a change until the next look at the version, once a second.
 */
export class PostgresCatalog implements Catalog {
  readonly revisions: PostgresRevisions;
  readonly #access: PostgresLedgerAccess;
  readonly #redis: RedisClient;
  readonly #channel: string;
  readonly #tombstoneMs: number;
  readonly #zoneData: string;
  readonly #maxCrons: number | null;
  readonly #reader = new LineReader();

  /** @throws {SetupError} for an invalid prefix, tenant or schema; each method, when the tables are missing */
  constructor(options: PostgresCatalogOptions) {
    this.#access = new PostgresLedgerAccess(options);
    this.revisions = new PostgresRevisions(this.#access);
    this.#redis = options.redis;
    this.#channel = redisChannel(options, 'catalog');
    this.#tombstoneMs = options.tombstoneMs ?? TOMBSTONE_MS;
    this.#zoneData = options.zoneData ?? process.versions.tz ?? 'unknown';
    this.#maxCrons = options.maxCrons ?? null;
  }

  /** Up to 500 crons are one transaction; of more, each 500 are one, and may be repeated: see `RedisCatalog.declare`. */
  async declare(declarations: readonly Declaration[], by: Declarer): Promise<DeclaredCron[]> {
    const declared = hashed(declarations, by);
    const parts: Part[] = [];
    for (const chunk of inBatches(declared, MAX_PER_CALL)) {
      parts.push({ chunk, judged: await this.#judge(chunk, by) });
    }
    const words: string[] = [];
    let changed = false;
    for (const part of parts) {
      const written = part.judged.writes || by.repeated ? await this.#write(part.chunk, by) : null;
      words.push(...(written ?? part.judged).words);
      changed ||= written?.changed ?? false;
    }
    if (changed) this.#notifyWatchers();
    return declareReply(declared, words);
  }

  async listUndeclared(by: Declarer, after: string | null = null): Promise<UndeclaredPage> {
    return this.#call('list_undeclared', this.#declarer(by), after, MAX_LISTED);
  }

  async drop(crons: readonly string[], by: Declarer): Promise<string[]> {
    const who = this.#who(byRevision(by), DROPPED);
    const about = { ...this.#declarer(by), ...this.#common(), who, nonce: by.nonce ?? '' };
    const removed: string[] = [];
    let changed = false;
    for (const chunk of inBatches(crons, MAX_PER_CALL)) {
      const dropped = await this.#call<Dropped>('drop_crons', about, chunk);
      removed.push(...dropped.removed);
      changed ||= dropped.changed;
    }
    if (changed) this.#notifyWatchers();
    return removed;
  }

  async read(names?: readonly string[]): Promise<CatalogReading> {
    if (!names) return readWhole(this);
    const [version, readAt, crons, declared, bornAt] = await this.#call<ReadingRow>('read_catalog', names);
    return readReading([version, readAt, crons.flat(), declared.flat(), bornAt], this.#reader);
  }

  async since(
    version: number | null,
    after: string | null = null,
    limit = CHANGES_PER_PAGE,
  ): Promise<CatalogChanges | null> {
    const row = await this.#call<ChangesRow | null>('read_changes', version, after, limit);
    if (row === null) return null;
    const [current, readAt, crons, declared, bornAt, gone, next] = row;
    return readChangesPage([current, readAt, crons.flat(), declared.flat(), bornAt, gone, next], this.#reader);
  }

  /** One short statement, which reads one row. */
  async readVersion(): Promise<CatalogVersion> {
    return this.#call('read_version');
  }

  async put(declaration: Declaration, { expected, ...order }: ChangeOrder): Promise<ChangeReply> {
    return theReply(await this.putMany([{ declaration, expected }], order));
  }

  async remove(cron: string, { expected, ...order }: ChangeOrder): Promise<ChangeReply> {
    return theReply(await this.removeMany([{ cron, expected }], order));
  }

  putMany(changes: readonly CronPut[], order: Orderer): Promise<ChangeReply[]> {
    const format = Math.max(...changes.map(({ declaration }) => formatOf(declaration.definition)), FIRST_FORMAT);
    const content = changes.map(({ declaration, expected }) => {
      const { definition, disabled } = declaration;
      const written = { hash: contentHash(declaration), definition: JSON.stringify(definition) };
      return { name: definition.name, ...expecting(expected), state: disabled ? 'disabled' : 'active', ...written };
    });
    return this.#change(content, order, format);
  }

  removeMany(crons: readonly CronRemoval[], order: Orderer): Promise<ChangeReply[]> {
    const content = crons.map(({ cron, expected }) => ({ name: cron, ...expecting(expected), state: 'removed' }));
    return this.#change(content, order);
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

  async #judge(chunk: readonly HashedDeclaration[], by: Declarer): Promise<Judged> {
    const content = chunk.map(({ name, hash }) => ({ name, hash }));
    return this.#call('judge_declarations', this.#declarer(by), content);
  }

  async #write(chunk: readonly HashedDeclaration[], by: Declarer): Promise<Declared> {
    const content = chunk.map(({ name, hash, disabled, definition }) => {
      return { name, hash, state: disabled ? 'disabled' : 'active', definition: JSON.stringify(definition) };
    });
    const format = Math.max(...chunk.map(({ definition }) => formatOf(definition)), FIRST_FORMAT);
    const reasons = Object.entries(GENERATION_REASONS);
    const who = Object.fromEntries(
      reasons.map(([word, reason]) => [word, this.#who(byRevision(by), reason, format)] as const),
    );
    const about = { ...this.#declarer(by), ...this.#common(), who, nonce: by.nonce ?? '' };
    return this.#call('declare_crons', about, content);
  }

  /** As is_gone and judge_declaration take it. */
  #declarer({ app, revision, gone = [], formersGone = false }: Declarer) {
    const withoutPods = gone.map((one) => `${orderOf(one.revision)} ${one.app}`);
    return { app, order: orderOf(revision), gone: withoutPods, formersGone, keep: this.#tombstoneMs };
  }

  async #change(
    ...[content, order, format = FIRST_FORMAT]: [readonly object[], Orderer, number?]
  ): Promise<ChangeReply[]> {
    const common = { ...this.#common(), who: this.#who(order.by, order.reason, format) };
    const replies: ChangeReply[] = [];
    for (const chunk of inBatches(content, MAX_CHANGES_PER_CALL)) {
      // Short, because it stays with the generation.
      const about = { nonce: randomBytes(12).toString('base64url'), ...common, max: this.#maxCrons };
      const reply = await this.#call<Changed>('change_crons', chunk, about);
      if (reply.changed) this.#notifyWatchers();
      replies.push(...reply.replies.map((one) => this.#readReply(one)));
    }
    return replies;
  }

  #readReply(reply: RawChangeReply): ChangeReply {
    return reply.verdict === 'full' ? { ...reply, limit: this.#maxCrons ?? reply.count } : reply;
  }

  #common() {
    return { keep: this.#tombstoneMs, effectiveAfter: EFFECTIVE_AFTER_MS, kept: KEPT_GENERATIONS };
  }

  #who(by: string, reason: string | null, format = FIRST_FORMAT): string {
    return whoText({ by, reason, zoneData: this.#zoneData }, format);
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

function expecting(expected: number | null | undefined) {
  return expected === undefined ? { any: true } : { expected };
}
