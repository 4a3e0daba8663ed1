import type { Clock } from '@fencepost/lease';
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
  byName,
  byRevision,
  declareReply,
  hashed,
  TOMBSTONE_MS,
  type CatalogOptions,
  type HashedDeclaration,
} from '../catalog/declaring.js';
import { DROPPED, GENERATION_REASONS, isGeneration, type Word } from '../catalog/word.js';
import { EFFECTIVE_AFTER_MS, type CronState, type Declaration, type Generation } from '../catalog/definition.js';
import { orderOf } from '../catalog/revision.js';
import { MemoryAnswers } from './memory-answers.js';
import { MemoryChangeLog, type SavedChange } from './memory-change-log.js';
import {
  begin,
  entriesOf,
  isSameContent,
  isUndeclared,
  judge,
  newestHash,
  originOf,
  presentGeneration,
  type MemoryCron,
} from './memory-cron.js';
import { MemoryRevisions, type SavedRevisions } from './memory-revisions.js';

/** A state of the memory catalog. */
export interface SavedCatalog {
  readonly crons: ReadonlyMap<string, MemoryCron>;
  readonly revisions: SavedRevisions;
  readonly version: number;
  readonly bornAt: number | null;
  readonly changes: readonly SavedChange[];
}

/** The catalog in memory, for tests: an adapter like `RedisCatalog`, on the same contract suite. */
export class MemoryCatalog implements Catalog {
  readonly revisions: MemoryRevisions;
  readonly #crons = new Map<string, MemoryCron>();
  readonly #watchers = new Set<() => void>();
  readonly #tombstoneMs: number;
  readonly #zoneData: string;
  readonly #effectiveAfterMs: number;
  readonly #maxCrons: number;
  readonly #changes = new MemoryChangeLog();
  readonly #answers = new MemoryAnswers();
  #version = 0;
  #bornAt: number | null = null;

  constructor(
    private readonly clock: Clock,
    options: CatalogOptions = {},
  ) {
    this.revisions = new MemoryRevisions(clock);
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

  async declare(declarations: readonly Declaration[], by: Declarer): Promise<DeclaredCron[]> {
    const declared = hashed(declarations, by);
    return this.#change(() => {
      const answers = declared.map((declaration) => judge(this.#crons.get(declaration.name), declaration, by));
      const reply = declareReply(declared, answers);
      declared.forEach((declaration, index) => this.#accept(declaration, by, reply[index]?.word ?? 'same'));
      this.#dropTombstones();
      return this.#answers.again(by, reply);
    });
  }

  async listUndeclared(by: Declarer): Promise<UndeclaredPage> {
    const undeclared = [...this.#crons].filter(([, known]) => isUndeclared(known, by));
    return { crons: undeclared.map(([name]) => name), next: null };
  }

  async drop(crons: readonly string[], by: Declarer): Promise<string[]> {
    return this.#change(() => {
      const dropped = crons.filter((name) => {
        const known = this.#crons.get(name);
        if (!known || !isUndeclared(known, by)) return false;
        const deleteAt = this.clock.now() + this.#tombstoneMs;
        const next = { by: byRevision(by), reason: DROPPED, state: 'removed' } as const;
        this.#write(name, next, { ...known, status: 'dropped', deleteAt });
        return true;
      });
      return this.#answers.droppedAgain(by, dropped);
    });
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
    const state = disabled ? 'disabled' : 'active';
    const { by, reason } = order;
    const next = { by, reason, definition, state } as const;
    this.#write(definition.name, next, { ...originOf(known, declaration), status: 'live', deleteAt: null });
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
    const status = known.app === null ? 'removed' : 'dropped';
    this.#write(cron, { by, reason, state: 'removed' }, { ...known, status, deleteAt });
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
    this.revisions.clear();
    this.#bornAt = null;
    this.#changes.clear();
    this.#countOn();
  }

  /** What {@link restore} takes; nothing that happens later changes it. */
  save(): SavedCatalog {
    return {
      crons: structuredClone(this.#crons),
      revisions: this.revisions.save(),
      version: this.#version,
      bornAt: this.#bornAt,
      changes: this.#changes.save(),
    };
  }

  /** As a store that fails over to a replica which lags behind: what was accepted since is lost, and nobody is told. */
  restore(saved: SavedCatalog): void {
    this.#crons.clear();
    for (const [name, cron] of structuredClone(saved.crons)) this.#crons.set(name, cron);
    this.revisions.restore(saved.revisions);
    this.#version = saved.version;
    this.#bornAt = saved.bornAt;
    this.#changes.restore(saved.changes);
  }

  async watch(onChanged: () => void): Promise<StopWatching> {
    this.#watchers.add(onChanged);
    return async () => void this.#watchers.delete(onChanged);
  }

  #accept({ name, hash, definition, disabled }: HashedDeclaration, by: Declarer, word: Word): void {
    const owner = { app: by.app, order: orderOf(by.revision) };
    if (isGeneration(word)) {
      const state = disabled ? 'disabled' : 'active';
      const next = { by: byRevision(by), reason: GENERATION_REASONS[word], definition, state } as const;
      this.#write(name, next, { ...owner, hash, status: 'live', deleteAt: null });
      return;
    }
    const known = this.#crons.get(name);
    if (!known) return;
    if (word === 'noted') this.#crons.set(name, { ...known, ...owner, hash: newestHash(hash, known) });
    // A tombstone lasts for as long as its cron is declared.
    else if (known.deleteAt !== null) {
      this.#crons.set(name, { ...known, deleteAt: this.clock.now() + this.#tombstoneMs });
    }
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
    const { hash, app, order, status, deleteAt } = origin;
    this.#crons.set(name, { generations, zoneData: this.#zoneData, hash, app, order, status, deleteAt });
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
