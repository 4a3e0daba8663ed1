import type { Clock } from '@fencepost/lease';
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
  byName,
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
  EFFECTIVE_AFTER_MS,
  type CronState,
  type Declaration,
  type Generation,
} from '../catalog/definition.js';
import { MemoryChangeLog, type SavedChange } from './memory-change-log.js';
import { begin, entriesOf, isSameContent, judge, presentGeneration, type MemoryCron } from './memory-cron.js';

/** A state of the memory catalog. */
export interface SavedCatalog {
  readonly crons: ReadonlyMap<string, MemoryCron>;
  readonly tops: ReadonlyMap<string, number>;
  readonly version: number;
  readonly bornAt: number | null;
  readonly changes: readonly SavedChange[];
}

/** The catalog in memory, for tests: an adapter like `RedisCatalog`, on the same contract suite. */
export class MemoryCatalog implements Catalog {
  readonly #crons = new Map<string, MemoryCron>();
  readonly #tops = new Map<string, number>();
  readonly #watchers = new Set<() => void>();
  readonly #tombstoneMs: number;
  readonly #zoneData: string;
  readonly #effectiveAfterMs: number;
  readonly #maxCrons: number;
  readonly #changes = new MemoryChangeLog();
  #version = 0;
  #bornAt: number | null = null;

  constructor(
    private readonly clock: Clock,
    options: CatalogOptions = {},
  ) {
    const { tombstoneMs = TOMBSTONE_MS, zoneData = process.versions.tz ?? 'unknown' } = options;
    this.#tombstoneMs = tombstoneMs;
    this.#zoneData = zoneData;
    this.#effectiveAfterMs = options.effectiveAfterMs ?? EFFECTIVE_AFTER_MS;
    this.#maxCrons = options.maxCrons ?? Infinity;
  }

  /** What a heartbeat tells of it. */
  get version(): number {
    return this.#version;
  }

  async declare(declarations: readonly Declaration[], build: Build): Promise<DeclareReply> {
    const declared = hashed(declarations, build);
    if (declared.length === 0) return declareReply([], [], []);
    const before = this.#version;
    const words = declared.map((declaration) => this.#judge(declaration, build));
    declared.forEach((declaration, index) => this.#accept(declaration, build, words[index] ?? 'older'));
    const removed = this.#removeLeftOut(build);
    this.#dropTombstones();
    if (this.#version !== before) this.#notifyWatchers();
    return declareReply(declared, words, removed);
  }

  async read(names?: readonly string[]): Promise<CatalogReading> {
    const some = names ? names.flatMap((name) => this.#crons.get(name) ?? []) : [...this.#crons.values()];
    const entries = some.flatMap(entriesOf).toSorted(byName);
    return { version: this.#version, readAt: this.clock.now(), bornAt: this.#bornAt, entries };
  }

  async since(
    version: number | null,
    after: string | null = null,
    limit = CHANGES_PER_PAGE,
  ): Promise<CatalogChanges | null> {
    const page = this.#changes.page({ version, after, limit, current: this.#version, names: this.#crons });
    if (!page) return null;
    const entries = page.names.flatMap((name) => entriesOf(this.#crons.get(name)));
    const gone = page.names.filter((name) => !this.#crons.has(name));
    return { version: this.#version, readAt: this.clock.now(), bornAt: this.#bornAt, entries, gone, next: page.next };
  }

  async put(declaration: Declaration, order: ChangeOrder): Promise<ChangeReply> {
    return this.#change(() => this.#put(declaration, order));
  }

  async remove(cron: string, order: ChangeOrder): Promise<ChangeReply> {
    return this.#change(() => this.#remove(cron, order));
  }

  async putMany(changes: readonly CronPut[], order: Orderer): Promise<ChangeReply[]> {
    return this.#change(() =>
      changes.map(({ declaration, expected }) => this.#put(declaration, { ...order, expected })),
    );
  }

  async removeMany(crons: readonly CronRemoval[], order: Orderer): Promise<ChangeReply[]> {
    return this.#change(() => crons.map(({ cron, expected }) => this.#remove(cron, { ...order, expected })));
  }

  /** All that one call changes is announced once. */
  #change<T>(work: () => T): T {
    const before = this.#version;
    const reply = work();
    if (this.#version === before) return reply;
    this.#dropTombstones();
    this.#notifyWatchers();
    return reply;
  }

  #put(declaration: Declaration, order: Orderer & Pick<CronPut, 'expected'>): ChangeReply {
    const { definition, disabled } = declaration;
    const known = this.#crons.get(definition.name);
    const present = presentGeneration(known);
    if (order.expected === undefined && known && isSameContent(known, declaration)) {
      return { verdict: 'unchanged', generation: present };
    }
    if (order.expected !== undefined && present !== order.expected) return { verdict: 'moved', generation: present };
    const count = present === null ? this.#count() : -1;
    if (count >= this.#maxCrons) return { verdict: 'full', count, limit: this.#maxCrons };
    const theirs = known && known.source !== null && !this.#isLeftOut(known);
    const origin = theirs
      ? { source: known.source, seq: known.seq, hash: known.hash }
      : { source: null, seq: 0, hash: contentHash(declaration) };
    const state = disabled ? 'disabled' : 'active';
    const { by, reason } = order;
    this.#write(definition.name, { by, reason, definition, state }, { ...origin, status: 'live', deleteAt: null });
    return this.#accepted(definition.name);
  }

  #remove(cron: string, { expected, by, reason }: Orderer & Pick<CronRemoval, 'expected'>): ChangeReply {
    const known = this.#crons.get(cron);
    const present = presentGeneration(known);
    if (expected === undefined && present === null) return { verdict: 'unchanged', generation: null };
    if (!known || present === null || (expected !== undefined && present !== expected)) {
      return { verdict: 'moved', generation: present };
    }
    const deleteAt = this.clock.now() + this.#tombstoneMs;
    this.#write(cron, { by, reason, state: 'removed' }, { ...known, status: 'removed', deleteAt });
    return this.#accepted(cron);
  }

  async outgrow(cron: string, accepted: number): Promise<void> {
    const known = this.#crons.get(cron);
    const [newest, oldest] = [known?.generations[0], known?.generations.at(-1)];
    if (!known || !newest || !oldest || newest.generation >= accepted) return;
    const shift = accepted + 1 - oldest.generation;
    const renumberedAt = this.clock.now();
    const generations = known.generations.map((one) => ({ ...one, generation: one.generation + shift, renumberedAt }));
    this.#crons.set(cron, { ...known, generations });
    this.#countOn(cron);
    this.#notifyWatchers();
  }

  /** All of it is gone, as with a store that was wiped. No version comes twice: a pod would believe that it knows it. */
  wipe(): void {
    this.#crons.clear();
    this.#tops.clear();
    this.#bornAt = null;
    this.#changes.clear();
    this.#countOn();
  }

  /** What {@link restore} takes; nothing that happens later changes it. */
  save(): SavedCatalog {
    const [crons, tops] = [structuredClone(this.#crons), new Map(this.#tops)];
    return { crons, tops, version: this.#version, bornAt: this.#bornAt, changes: this.#changes.save() };
  }

  /** As a store that fails over to a replica which lags behind: what was accepted since is lost, and nobody is told. */
  restore(saved: SavedCatalog): void {
    this.#crons.clear();
    this.#tops.clear();
    for (const [name, cron] of structuredClone(saved.crons)) this.#crons.set(name, cron);
    for (const [source, seq] of saved.tops) this.#tops.set(source, seq);
    this.#version = saved.version;
    this.#bornAt = saved.bornAt;
    this.#changes.restore(saved.changes);
  }

  async watch(onChanged: () => void): Promise<StopWatching> {
    this.#watchers.add(onChanged);
    return async () => void this.#watchers.delete(onChanged);
  }

  #judge(declaration: HashedDeclaration, build: Build): Word {
    const known = this.#crons.get(declaration.name);
    const word = judge(known, declaration, { ...build, top: this.#tops.get(build.source) ?? -1 });
    if (word !== 'conflict') return word;
    throw new DefinitionConflictError(
      declaration.name,
      build.seq,
      known?.source === build.source ? null : known?.source,
    );
  }

  #accept({ name, hash, definition, disabled }: HashedDeclaration, build: Build, word: Word): void {
    const { seq, source } = build;
    const state = disabled ? 'disabled' : 'active';
    if (word === 'changed') {
      const by = { by: byBuild(build), reason: null };
      this.#write(name, { ...by, definition, state }, { hash, seq, source, status: 'live', deleteAt: null });
      return;
    }
    const known = this.#crons.get(name);
    if (!known) return;
    const noted = word === 'noted' ? { ...known, seq, source } : known;
    const deleteAt = known.deleteAt === null ? null : this.clock.now() + this.#tombstoneMs;
    this.#crons.set(name, { ...noted, deleteAt });
  }

  #removeLeftOut(build: Build): string[] {
    const { seq, source } = build;
    if (seq <= (this.#tops.get(source) ?? -1)) return [];
    this.#tops.set(source, seq);
    const leftOut = [...this.#crons].filter(
      ([, known]) => known.source === source && known.status === 'live' && known.seq < seq,
    );
    const deleteAt = this.clock.now() + this.#tombstoneMs;
    for (const [name, known] of leftOut) {
      const next = { by: byBuild(build), reason: null, state: 'removed' } as const;
      this.#write(name, next, { ...known, status: 'dropped', deleteAt });
    }
    return leftOut.map(([name]) => name);
  }

  #isLeftOut({ status, source, seq }: MemoryCron): boolean {
    return status === 'dropped' || (status === 'removed' && seq < (this.#tops.get(source ?? '') ?? 0));
  }

  #write(
    name: string,
    next: { by: string; reason: string | null; state: CronState; definition?: Generation['definition'] },
    origin: Omit<MemoryCron, 'generations' | 'zoneData'>,
  ): void {
    const known = this.#crons.get(name)?.generations ?? [];
    const { by, reason, state, definition = known[0]?.definition } = next;
    if (!definition) return;
    this.#bornAt ??= this.clock.now();
    const at = { now: this.clock.now(), effectiveAfterMs: this.#effectiveAfterMs };
    const generations = begin(known, { by, reason, state, definition }, at);
    const { hash, seq, source, status, deleteAt } = origin;
    this.#crons.set(name, { generations, zoneData: this.#zoneData, hash, seq, source, status, deleteAt });
    this.#countOn(name);
  }

  #accepted(name: string): ChangeReply {
    const [newest] = this.#crons.get(name)?.generations ?? [];
    return { verdict: 'accepted', generation: newest?.generation ?? 0, since: newest?.since ?? 0 };
  }

  #dropTombstones(): void {
    for (const [name, { deleteAt }] of [...this.#crons]) {
      if (deleteAt === null || deleteAt >= this.clock.now()) continue;
      this.#crons.delete(name);
      this.#countOn(name);
    }
  }

  /** Never below the clock, as in announce-change.lua: no version comes twice, also not after an earlier state was restored. */
  #countOn(...crons: readonly string[]): void {
    this.#version = Math.max(this.#version + 1, this.clock.now() * 1_000);
    for (const cron of crons) this.#changes.note(cron, this.#version);
  }

  /** Those that were removed and are still remembered don't count. */
  #count(): number {
    return [...this.#crons.values()].filter(({ deleteAt }) => deleteAt === null).length;
  }

  #notifyWatchers(): void {
    for (const onChanged of this.#watchers) onChanged();
  }
}

function byBuild({ source, seq }: Build): string {
  return `${source} build ${seq}`;
}
