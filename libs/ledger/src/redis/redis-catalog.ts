import { randomBytes } from 'node:crypto';
import { loadScripts, redisChannel, redisKeys, watchChannel, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import type { StopWatching } from '@fencepost/lease/store';
import {
  CHANGES_PER_PAGE,
  type Build,
  type Catalog,
  type CatalogChanges,
  type CatalogReading,
  type ChangeOrder,
  type ChangeReply,
  type CronPut,
  type CronRemoval,
  type DeclareReply,
  type Orderer,
} from '../catalog/catalog.js';
import {
  declareReply,
  hashed,
  theReply,
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

const SCRIPTS = loadScripts(new URL('./lua/', import.meta.url), [
  'judge-declarations',
  'declare-crons',
  'drop-left-out',
  'change-crons',
  'read-catalog',
  'read-changes',
  'outgrow-generation',
]);

/** A script stops everybody else meanwhile: each of these takes about 2 ms. */
const MAX_JUDGED = 500;
const MAX_WRITTEN = 250;
const MAX_CHANGED = 125;

export interface RedisCatalogOptions extends KeySpace, CatalogOptions {
  readonly redis: RedisClient;
}

interface Judged {
  readonly chunk: readonly HashedDeclaration[];
  readonly words: readonly Word[];
  readonly writes: boolean;
}

/** One of the crons of a batch: name, expected generation, state, hash and definition; see change-crons.lua. */
type ChangeArgs = readonly [name: string, expected: string, state: string, hash: string, definition: string];

/** The catalog as a few hashes, and a stream of its last changes. */
export class RedisCatalog implements Catalog {
  readonly #redis: RedisClient;
  readonly #keys: Readonly<
    Record<'crons' | 'declared' | 'builds' | 'tombstones' | 'version' | 'born' | 'changes', string>
  >;
  readonly #channel: string;
  readonly #tombstoneMs: number;
  readonly #zoneData: string;
  readonly #maxCrons: number | null;
  readonly #reader = new LineReader();

  constructor(options: RedisCatalogOptions) {
    const key = (part: string) => redisKeys(options)('catalog', part);
    this.#redis = options.redis;
    this.#keys = {
      crons: key('crons'),
      declared: key('declared'),
      builds: key('builds'),
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
   * All crons are judged before any is written. Up to 250 are written by one script, more script by script, each of which may
   * be repeated. A crash in between leaves some crons as this build has them and the others as the build before
   * had them; the program's highest build is still the one before, so that nothing was removed, and the next declaration of
   * this build, which its processes repeat, goes on where it stopped. The scripts that remove what the build leaves out come
   * last, when everything it declares carries its number, and the last of them raises the highest build.
   */
  async declare(declarations: readonly Declaration[], build: Build): Promise<DeclareReply> {
    const declared = hashed(declarations, build);
    const judged: Judged[] = [];
    for (const chunk of inBatches(declared, MAX_JUDGED)) judged.push(await this.#judge(chunk, build));
    const words: Word[] = [];
    for (const part of judged) words.push(...(part.writes ? await this.#writeAll(part.chunk, build) : part.words));
    const removed = judged.some(({ writes }) => writes) ? await this.#dropLeftOut(build) : [];
    return declareReply(declared, words, removed);
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

  async #judge(chunk: readonly HashedDeclaration[], build: Build): Promise<Judged> {
    const { declared, builds, tombstones } = this.#keys;
    const content = chunk.flatMap(({ name, hash }) => [name, hash]);
    const args = [build.source, build.seq, this.#tombstoneMs, chunk.length, ...content];
    const reply = await SCRIPTS['judge-declarations'].run(this.#redis, [declared, builds, tombstones], args);
    const [verdict, ...words] = reply as string[];
    if (verdict === 'CONFLICT') throw conflict(words, build);
    return { chunk, words: words.map(readWord), writes: verdict === 'WRITE' };
  }

  async #writeAll(crons: readonly HashedDeclaration[], build: Build): Promise<Word[]> {
    const words: Word[] = [];
    for (const chunk of inBatches(crons, MAX_WRITTEN)) words.push(...(await this.#write(chunk, build)));
    return words;
  }

  async #write(chunk: readonly HashedDeclaration[], build: Build): Promise<readonly Word[]> {
    const format = Math.max(...chunk.map(({ definition }) => formatOf(definition)), FIRST_FORMAT);
    const content = chunk.flatMap(({ name, hash, disabled, definition }) => [
      name,
      hash,
      disabled ? 'disabled' : 'active',
      JSON.stringify(definition),
    ]);
    const args = [...this.#declaring(build, format), chunk.length, ...content];
    const reply = await SCRIPTS['declare-crons'].run(this.#redis, this.#written(), args);
    const [verdict, ...rest] = reply as ['CONFLICT', ...string[]] | ['DECLARED', string[]];
    if (verdict === 'CONFLICT') throw conflict(rest as string[], build);
    return (rest[0] as string[]).map(readWord);
  }

  async #dropLeftOut(build: Build): Promise<string[]> {
    const removed: string[] = [];
    let cursor = '0';
    do {
      const args = [...this.#declaring(build, FIRST_FORMAT), cursor, MAX_WRITTEN];
      const reply = await SCRIPTS['drop-left-out'].run(this.#redis, this.#written(), args);
      const [next, names] = reply as [string, string[]];
      removed.push(...names);
      cursor = next;
    } while (cursor !== '0');
    return removed;
  }

  #declaring({ source, seq }: Build, format: number): (string | number)[] {
    const by = this.#who(`${source} build ${seq}`, null, format);
    return [source, seq, this.#tombstoneMs, this.#channel, EFFECTIVE_AFTER_MS, KEPT_GENERATIONS, by];
  }

  /** The keys of every script that changes crons. */
  #written(): string[] {
    const { crons, declared, builds, tombstones, version, born, changes } = this.#keys;
    return [crons, declared, builds, tombstones, version, born, changes];
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

function readWord(word: string): Word {
  return word.toLowerCase() as Word;
}

function conflict([cron = '', source = '']: readonly string[], build: Build): DefinitionConflictError {
  return new DefinitionConflictError(cron, build.seq, source === build.source ? null : source);
}
