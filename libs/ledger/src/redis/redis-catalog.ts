import { randomBytes } from 'node:crypto';
import { loadScripts, redisChannel, redisKeys, watchChannel, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import type { StopWatching } from '@fencepost/lease/store';
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
import { RedisRevisions } from './redis-revisions.js';
import { FIRST_FORMAT } from '../base/format.js';
import { inBatches } from '../catalog/in-batches.js';
import {
  LineReader,
  readChangesPage,
  readReading,
  whoText,
  type RawChanges,
  type RawReading,
} from '../catalog/catalog-record.js';
import { readWhole } from '../catalog/read-changes.js';
import { TEXTS } from './lua/texts.js';

const SCRIPTS = loadScripts(TEXTS, [
  'judge-declarations',
  'declare-crons',
  'drop-crons',
  'list-undeclared',
  'change-crons',
  'read-catalog',
  'read-changes',
  'outgrow-generation',
]);

/** A script stops everybody else meanwhile: each of these takes about 2 ms. */
const MAX_JUDGED = 500;
const MAX_WRITTEN = 250;
const MAX_CHANGED = 125;
/** It only reads. */
const MAX_LISTED = 1_000;

export interface RedisCatalogOptions extends KeySpace, CatalogOptions {
  readonly redis: RedisClient;
}

interface Judged {
  readonly chunk: readonly HashedDeclaration[];
  readonly words: readonly string[];
  readonly writes: boolean;
}

/** One of the crons of a batch: name, expected generation, state, hash and definition; see change-crons.lua. */
type ChangeArgs = readonly [name: string, expected: string, state: string, hash: string, definition: string];

/** The catalog as a few hashes, and a stream of its last changes. */
export class RedisCatalog implements Catalog {
  readonly revisions: RedisRevisions;
  readonly #redis: RedisClient;
  readonly #keys: Readonly<Record<'crons' | 'declared' | 'tombstones' | 'version' | 'born' | 'changes', string>>;
  readonly #channel: string;
  readonly #tombstoneMs: number;
  readonly #zoneData: string;
  readonly #maxCrons: number | null;
  readonly #reader = new LineReader();

  constructor(options: RedisCatalogOptions) {
    const key = (part: string) => redisKeys(options)('catalog', part);
    this.revisions = new RedisRevisions(options);
    this.#redis = options.redis;
    this.#keys = {
      crons: key('crons'),
      declared: key('declared'),
      tombstones: key('tombstones'),
      version: key('version'),
      born: key('born'),
      changes: key('changes'),
    };
    this.#channel = redisChannel(options, 'catalog');
    this.#tombstoneMs = options.tombstoneMs ?? TOMBSTONE_MS;
    this.#zoneData = options.zoneData ?? process.versions.tz ?? 'unknown';
    this.#maxCrons = options.maxCrons ?? null;
  }

  /**
   * All crons are judged first, so that a repetition only reads. Up to 250 are written by one script; each may be repeated, and a
   * crash in between leaves the others to the next declaration.
   */
  async declare(declarations: readonly Declaration[], by: Declarer): Promise<DeclaredCron[]> {
    const declared = hashed(declarations, by);
    const judged: Judged[] = [];
    for (const chunk of inBatches(declared, MAX_JUDGED)) judged.push(await this.#judge(chunk, by));
    const words: string[] = [];
    for (const part of judged)
      words.push(...(part.writes || by.repeated ? await this.#writeAll(part.chunk, by) : part.words));
    return declareReply(declared, words);
  }

  async listUndeclared(by: Declarer, after: string | null = null): Promise<UndeclaredPage> {
    const args = [...declarerArgs(by), after ?? '0', MAX_LISTED];
    const reply = await SCRIPTS['list-undeclared'].run(this.#redis, [this.#keys.declared], args);
    const [next, crons] = reply as [string, string[]];
    return { crons, next: next === '0' ? null : next };
  }

  async drop(crons: readonly string[], by: Declarer): Promise<string[]> {
    const who = this.#who(byRevision(by), DROPPED, FIRST_FORMAT);
    const dropped: string[] = [];
    for (const chunk of inBatches(crons, MAX_WRITTEN)) {
      const args = [...this.#writing(by), who, by.nonce ?? '', chunk.length, ...chunk];
      dropped.push(...((await SCRIPTS['drop-crons'].run(this.#redis, this.#written(), args)) as string[]));
    }
    return dropped;
  }

  async read(names?: readonly string[]): Promise<CatalogReading> {
    if (!names) return readWhole(this);
    const { crons, declared, version, born } = this.#keys;
    const reply = await SCRIPTS['read-catalog'].run(this.#redis, [crons, declared, version, born], names);
    return readReading(reply as RawReading, this.#reader);
  }

  async since(
    version: number | null,
    after: string | null = null,
    limit = CHANGES_PER_PAGE,
  ): Promise<CatalogChanges | null> {
    const { crons, declared, version: current, born, changes } = this.#keys;
    const args = [version ?? '', after ?? '', limit];
    const reply = await SCRIPTS['read-changes'].run(this.#redis, [crons, declared, current, born, changes], args);
    return reply === null ? null : readChangesPage(reply as RawChanges, this.#reader);
  }

  async put(declaration: Declaration, { expected, ...order }: ChangeOrder): Promise<ChangeReply> {
    return theReply(await this.#change([putArgs({ declaration, expected })], order, formatOf(declaration.definition)));
  }

  async remove(cron: string, { expected, ...order }: ChangeOrder): Promise<ChangeReply> {
    return theReply(await this.#change([removalArgs({ cron, expected })], order));
  }

  putMany(changes: readonly CronPut[], order: Orderer): Promise<ChangeReply[]> {
    const format = Math.max(...changes.map(({ declaration }) => formatOf(declaration.definition)), FIRST_FORMAT);
    return this.#changeMany(changes.map(putArgs), order, format);
  }

  removeMany(crons: readonly CronRemoval[], order: Orderer): Promise<ChangeReply[]> {
    return this.#changeMany(crons.map(removalArgs), order, FIRST_FORMAT);
  }

  async outgrow(cron: string, accepted: number): Promise<void> {
    const { crons, version, born, changes } = this.#keys;
    await SCRIPTS['outgrow-generation'].run(
      this.#redis,
      [crons, version, born, changes],
      [cron, accepted, this.#channel],
    );
  }

  watch(onChanged: () => void): Promise<StopWatching> {
    return watchChannel(this.#redis, this.#channel, onChanged);
  }

  async #judge(chunk: readonly HashedDeclaration[], by: Declarer): Promise<Judged> {
    const { declared, tombstones } = this.#keys;
    const content = chunk.flatMap(({ name, hash }) => [name, hash]);
    const args = [...declarerArgs(by), this.#tombstoneMs, chunk.length, ...content];
    const reply = await SCRIPTS['judge-declarations'].run(this.#redis, [declared, tombstones], args);
    const [verdict, ...words] = reply as string[];
    return { chunk, words, writes: verdict === 'WRITE' };
  }

  async #writeAll(crons: readonly HashedDeclaration[], by: Declarer): Promise<string[]> {
    const words: string[] = [];
    for (const chunk of inBatches(crons, MAX_WRITTEN)) words.push(...(await this.#write(chunk, by)));
    return words;
  }

  async #write(chunk: readonly HashedDeclaration[], by: Declarer): Promise<string[]> {
    const format = Math.max(...chunk.map(({ definition }) => formatOf(definition)), FIRST_FORMAT);
    const content = chunk.flatMap(({ name, hash, disabled, definition }) => [
      name,
      hash,
      disabled ? 'disabled' : 'active',
      JSON.stringify(definition),
    ]);
    const { changed, reverted, restored, taken } = GENERATION_REASONS;
    const reasons = [changed, reverted, restored, taken];
    const who = reasons.map((reason) => this.#who(byRevision(by), reason, format)).join('\n');
    const args = [...this.#writing(by), who, by.nonce ?? '', chunk.length, ...content];
    return (await SCRIPTS['declare-crons'].run(this.#redis, this.#written(), args)) as string[];
  }

  #writing(by: Declarer): (string | number)[] {
    return [...declarerArgs(by), this.#tombstoneMs, this.#channel, EFFECTIVE_AFTER_MS, KEPT_GENERATIONS];
  }

  /** The keys of every script that changes crons. */
  #written(): string[] {
    const { crons, declared, tombstones, version, born, changes } = this.#keys;
    return [crons, declared, tombstones, version, born, changes];
  }

  async #changeMany(changes: readonly ChangeArgs[], order: Orderer, format: number): Promise<ChangeReply[]> {
    const replies: ChangeReply[] = [];
    for (const chunk of inBatches(changes, MAX_CHANGED)) replies.push(...(await this.#change(chunk, order, format)));
    return replies;
  }

  async #change(
    ...[changes, order, format = FIRST_FORMAT]: [readonly ChangeArgs[], Orderer, number?]
  ): Promise<ChangeReply[]> {
    const who = this.#who(order.by, order.reason, format);
    const common = [who, this.#tombstoneMs, this.#channel, EFFECTIVE_AFTER_MS, KEPT_GENERATIONS];
    const args = [newNonce(), ...common, this.#maxCrons ?? '', ...changes.flat()];
    const replies = await SCRIPTS['change-crons'].run(this.#redis, this.#written(), args);
    return (replies as string[][]).map((reply) => readChangeReply(reply, this.#maxCrons));
  }

  #who(by: string, reason: string | null, format: number): string {
    return whoText({ by, reason, zoneData: this.#zoneData }, format);
  }
}

/** Short, because it stays with the generation. */
function newNonce(): string {
  return randomBytes(12).toString('base64url');
}

function putArgs({ declaration, expected }: CronPut): ChangeArgs {
  const { definition, disabled } = declaration;
  const state = disabled ? 'disabled' : 'active';
  return [definition.name, expectedArg(expected), state, contentHash(declaration), JSON.stringify(definition)];
}

function removalArgs({ cron, expected }: CronRemoval): ChangeArgs {
  return [cron, expectedArg(expected), 'removed', '', ''];
}

function expectedArg(expected: number | null | undefined): string {
  return expected === undefined ? '*' : String(expected ?? '');
}

function readChangeReply([verdict, about = '', since]: readonly string[], limit: number | null): ChangeReply {
  const generation = about === '' ? null : Number(about);
  if (verdict === 'MOVED') return { verdict: 'moved', generation };
  if (verdict === 'UNCHANGED') return { verdict: 'unchanged', generation };
  if (verdict === 'FULL') return { verdict: 'full', count: Number(about), limit: limit ?? Number(about) };
  return { verdict: 'accepted', generation: Number(about), since: Number(since) };
}

/** As is-gone.lua reads them. */
function declarerArgs({ app, revision, gone = [], formersGone = false }: Declarer): (string | number)[] {
  const lines = gone.map((one) => `${orderOf(one.revision)} ${one.app}`).join('\n');
  return [app, orderOf(revision), lines, formersGone ? 1 : 0];
}
