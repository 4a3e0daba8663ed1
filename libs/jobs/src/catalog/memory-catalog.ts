import type { Clock, StopWatching } from '@fencepost/lease';
import type { Catalog, DeclareReply } from './catalog.js';
import { DefinitionConflictError } from './definition-conflict-error.js';
import { contentHash, type CatalogEntry, type Declaration } from './definition.js';

interface Known {
  readonly declaration: Declaration;
  readonly hash: string;
  readonly build: number;
  readonly generation: number;
  readonly since: number;
}

type Word = 'changed' | 'same' | 'older';

/** The catalog in memory, for tests: the twin of `RedisCatalog`, on the same contract suite. */
export class MemoryCatalog implements Catalog {
  readonly #crons = new Map<string, Known>();
  readonly #watchers = new Set<() => void>();

  constructor(private readonly clock: Clock) {}

  async declare(declarations: readonly Declaration[], buildSeq: number): Promise<DeclareReply> {
    const words = declarations.map((declaration) => this.#judge(declaration, buildSeq));
    declarations.forEach((declaration, index) => this.#accept(declaration, buildSeq, words[index] ?? 'older'));
    const names = (wanted: Word) =>
      declarations.filter((_, index) => words[index] === wanted).map(({ definition }) => definition.name);
    const changed = names('changed');
    if (changed.length > 0) for (const onChanged of this.#watchers) onChanged();
    return { changed, older: names('older') };
  }

  async read(): Promise<CatalogEntry[]> {
    const firing = [...this.#crons.values()].filter(({ declaration }) => !declaration.disabled);
    const entries = firing.map(({ declaration, generation, since }) => ({
      definition: declaration.definition,
      generation,
      since,
    }));
    return entries.toSorted((a, b) => (a.definition.name < b.definition.name ? -1 : 1));
  }

  async outgrow(cron: string, accepted: number): Promise<void> {
    const known = this.#crons.get(cron);
    if (!known || known.generation >= accepted) return;
    this.#crons.set(cron, { ...known, generation: accepted + 1 });
    for (const onChanged of this.#watchers) onChanged();
  }

  async watch(onChanged: () => void): Promise<StopWatching> {
    this.#watchers.add(onChanged);
    return async () => void this.#watchers.delete(onChanged);
  }

  #judge(declaration: Declaration, buildSeq: number): Word {
    const { name } = declaration.definition;
    const known = this.#crons.get(name);
    if (!known) return 'changed';
    if (buildSeq < known.build) return 'older';
    if (known.hash === contentHash(declaration)) return 'same';
    if (buildSeq === known.build) throw new DefinitionConflictError(name, buildSeq);
    return 'changed';
  }

  #accept(declaration: Declaration, build: number, word: Word): void {
    const { name } = declaration.definition;
    const known = this.#crons.get(name);
    if (word === 'older') return;
    if (word === 'same' && known) {
      this.#crons.set(name, { ...known, build });
      return;
    }
    const generation = (known?.generation ?? 0) + 1;
    this.#crons.set(name, { declaration, hash: contentHash(declaration), build, generation, since: this.clock.now() });
  }
}
