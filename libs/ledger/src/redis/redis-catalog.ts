import { randomUUID } from 'node:crypto';
import { loadScripts, redisChannel, redisKeys, watchChannel, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import type { StopWatching } from '@fencepost/lease/store';
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
import { readReading, ReadingInParts, whoText, type RawReading } from '../catalog/catalog-record.js';

const SCRIPTS = loadScripts(new URL('./lua/', import.meta.url), [
  'judge-declarations',
  'declare-crons',
  'change-cron',
  'read-catalog',
  'read-catalog-page',
  'outgrow-generation',
]);

/** A script stops everybody else meanwhile. */
const MAX_AT_ONCE = 500;

/** More crons than this are read in pages, {@link MAX_TRIES} - 1 times at most. */
const MANY = 1_000;
const MAX_TRIES = 3;

type Look = readonly [
  version: string,
  readAt: string,
  crons: readonly string[] | null,
  declared: readonly string[] | null,
  born: string,
];

export interface RedisCatalogOptions extends KeySpace, CatalogOptions {
  readonly redis: RedisClient;
}

interface Judged {
  readonly chunk: readonly HashedDeclaration[];
  readonly words: readonly Word[];
  readonly writes: boolean;
}

/** The catalog as a few hashes: a build declares its crons in one atomic step, and a pod reads them in one command. */
export class RedisCatalog implements Catalog {
  readonly #redis: RedisClient;
  readonly #keys: Readonly<Record<'crons' | 'declared' | 'builds' | 'tombstones' | 'version' | 'born', string>>;
  readonly #channel: string;
  readonly #tombstoneMs: number;
  readonly #zoneData: string;

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
    };
    this.#channel = redisChannel(options, 'catalog');
    this.#tombstoneMs = options.tombstoneMs ?? TOMBSTONE_MS;
    this.#zoneData = options.zoneData ?? process.versions.tz ?? 'unknown';
  }

  /**
   * Up to 500 crons are judged and written by one script. More are first all judged, and then written script by script, each
   * of which may be repeated. A crash in between leaves some crons as this build has them and the others as the build before
   * had them; the program's highest build is still the one before, so that nothing was removed, and the next declaration of
   * this build, which its processes repeat, goes on where it stopped. Only the last script raises the highest build and
   * removes what carries a lower one: by then everything the build declares carries its number.
   */
  async declare(declarations: readonly Declaration[], build: Build): Promise<DeclareReply> {
    const declared = hashed(declarations, build);
    const judged: Judged[] = [];
    for (let at = 0; at < declared.length; at += MAX_AT_ONCE) {
      judged.push(await this.#judge(declared.slice(at, at + MAX_AT_ONCE), build));
    }
    const last = judged.findLast(({ writes }) => writes);
    const words: Word[] = [];
    const removed: string[] = [];
    for (const part of judged) {
      const written = part.writes ? await this.#write(part.chunk, { build, last: part === last }) : part;
      words.push(...written.words);
      removed.push(...('removed' in written ? written.removed : []));
    }
    return declareReply(declared, words, removed);
  }

  /**
   * Up to 1,000 crons are read by one script, more in pages, and again if something has changed meanwhile. If that goes on, the
   * third reading is one script: it keeps others waiting, but it ends.
   */
  async read(names?: readonly string[]): Promise<CatalogReading> {
    if (names) return readReading((await this.#look('some', ...names)) as RawReading);
    for (let tries = 1; ; tries += 1) {
      const [version, readAt, crons, declared, born] = await this.#look('all', tries < MAX_TRIES ? MANY : Infinity);
      if (crons && declared) return readReading([version, readAt, crons, declared, born]);
      const reading = await this.#readInPages();
      if (reading.version === Number(version)) return reading;
    }
  }

  async #readInPages(): Promise<CatalogReading> {
    const { crons, declared } = this.#keys;
    const parts = new ReadingInParts();
    let cursor = '0';
    do {
      const reply = await SCRIPTS['read-catalog-page'].run(this.#redis, [crons, declared], [cursor, MAX_AT_ONCE]);
      const [next, ...page] = reply as [string, string[], string[]];
      parts.add(...page);
      cursor = next;
    } while (cursor !== '0');
    const [version, readAt, , , born] = await this.#look('some');
    return parts.end({ version, readAt, born });
  }

  async #look(what: 'all' | 'some', ...words: readonly (string | number)[]): Promise<Look> {
    const { crons, declared, version, born } = this.#keys;
    const limits = words.map((word) => (word === Infinity ? 'inf' : word));
    return (await SCRIPTS['read-catalog'].run(
      this.#redis,
      [crons, declared, version, born],
      [what, ...limits],
    )) as Look;
  }

  put(declaration: Declaration, order: ChangeOrder): Promise<ChangeReply> {
    const { definition, disabled } = declaration;
    const state = disabled ? 'disabled' : 'active';
    const content = [state, contentHash(declaration), JSON.stringify(definition)];
    return this.#change(definition.name, order, content, formatOf(definition));
  }

  remove(cron: string, order: ChangeOrder): Promise<ChangeReply> {
    return this.#change(cron, order, ['removed', '', '']);
  }

  async outgrow(cron: string, accepted: number): Promise<void> {
    const { crons, version, born } = this.#keys;
    await SCRIPTS['outgrow-generation'].run(this.#redis, [crons, version, born], [cron, accepted, this.#channel]);
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

  async #write(chunk: readonly HashedDeclaration[], { build, last }: { build: Build; last: boolean }) {
    const { crons, declared, builds, tombstones, version, born } = this.#keys;
    const format = Math.max(...chunk.map(({ definition }) => formatOf(definition)), FIRST_FORMAT);
    const by = this.#who(`${build.source} build ${build.seq}`, null, format);
    const content = chunk.flatMap(({ name, hash, disabled, definition }) => [
      name,
      hash,
      disabled ? 'disabled' : 'active',
      JSON.stringify(definition),
    ]);
    const common = [this.#tombstoneMs, this.#channel, EFFECTIVE_AFTER_MS, KEPT_GENERATIONS, by];
    const args = [build.source, build.seq, ...common, last ? 1 : 0, chunk.length, ...content];
    const keys = [crons, declared, builds, tombstones, version, born];
    const reply = (await SCRIPTS['declare-crons'].run(this.#redis, keys, args)) as [string, ...unknown[]];
    if (reply[0] === 'CONFLICT') throw conflict(reply.slice(1) as string[], build);
    const [, words, removed] = reply as [string, string[], string[]];
    return { words: words.map(readWord), removed };
  }

  async #change(
    ...[cron, order, content, format = FIRST_FORMAT]: [string, ChangeOrder, readonly string[], number?]
  ): Promise<ChangeReply> {
    const { crons, declared, builds, tombstones, version, born } = this.#keys;
    const who = this.#who(order.by, order.reason, format);
    const common = [who, this.#tombstoneMs, this.#channel, EFFECTIVE_AFTER_MS, KEPT_GENERATIONS];
    const args = [cron, order.expected ?? '', randomUUID(), ...content, ...common];
    const keys = [crons, declared, builds, tombstones, version, born];
    const reply = (await SCRIPTS['change-cron'].run(this.#redis, keys, args)) as string[];
    const [verdict, generation, since] = reply;
    if (verdict === 'MOVED') return { verdict: 'moved', generation: generation === '' ? null : Number(generation) };
    return { verdict: 'accepted', generation: Number(generation), since: Number(since) };
  }

  #who(by: string, reason: string | null, format: number): string {
    return whoText({ by, reason, zoneData: this.#zoneData }, format);
  }
}

function readWord(word: string): Word {
  return word.toLowerCase() as Word;
}

function conflict([cron = '', source = '']: readonly string[], build: Build): DefinitionConflictError {
  return new DefinitionConflictError(cron, build.seq, source === build.source ? null : source);
}
