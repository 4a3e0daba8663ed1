import {
  loadScripts,
  redisChannel,
  redisKeys,
  watchChannel,
  type KeySpace,
  type RedisClient,
  type StopWatching,
} from '@fencepost/lease';
import type { Catalog, DeclareReply } from './catalog.js';
import { DefinitionConflictError } from './definition-conflict-error.js';
import { contentHash, type CatalogEntry, type CronDefinition, type Declaration } from './definition.js';

const SCRIPTS = loadScripts(new URL('./lua/', import.meta.url), ['declare-crons', 'outgrow-generation']);

const CRON_FIELD = 'cron/';

export interface RedisCatalogOptions extends KeySpace {
  readonly redis: RedisClient;
}

/** The catalog as one hash: a build declares all its crons in one atomic step, and a pod reads them in one command. */
export class RedisCatalog implements Catalog {
  readonly #redis: RedisClient;
  readonly #key: string;
  readonly #channel: string;

  constructor(options: RedisCatalogOptions) {
    this.#redis = options.redis;
    this.#key = redisKeys(options)('catalog', 'crons');
    this.#channel = redisChannel(options, 'catalog');
  }

  async declare(declarations: readonly Declaration[], buildSeq: number): Promise<DeclareReply> {
    const content = declarations.flatMap((declaration) => [
      declaration.definition.name,
      contentHash(declaration),
      JSON.stringify(declaration),
    ]);
    const args = [buildSeq, this.#channel, declarations.length, ...content];
    const [word, ...words] = (await SCRIPTS['declare-crons'].run(this.#redis, [this.#key], args)) as string[];
    if (word === 'CONFLICT') throw new DefinitionConflictError(words[0] ?? '', buildSeq);
    const names = (wanted: string) =>
      declarations.filter((_, index) => words[index] === wanted).map(({ definition }) => definition.name);
    return { changed: names('CHANGED'), older: names('OLDER') };
  }

  async read(): Promise<CatalogEntry[]> {
    const fields = await this.#redis.hgetall(this.#key);
    const names = Object.keys(fields).filter((field) => field.startsWith(CRON_FIELD));
    return names.flatMap((field) => readEntry(field.slice(CRON_FIELD.length), fields)).toSorted(byName);
  }

  async outgrow(cron: string, accepted: number): Promise<void> {
    await SCRIPTS['outgrow-generation'].run(this.#redis, [this.#key], [cron, accepted, this.#channel]);
  }

  watch(onChanged: () => void): Promise<StopWatching> {
    return watchChannel(this.#redis, this.#channel, onChanged);
  }
}

function readEntry(name: string, fields: Readonly<Record<string, string>>): CatalogEntry[] {
  const { definition, disabled } = JSON.parse(fields[CRON_FIELD + name] ?? 'null') as Declaration;
  if (disabled) return [];
  return [
    {
      definition: definition satisfies CronDefinition,
      generation: Number(fields[`generation/${name}`]),
      since: Number(fields[`since/${name}`]),
    },
  ];
}

function byName(a: CatalogEntry, b: CatalogEntry): number {
  return a.definition.name < b.definition.name ? -1 : 1;
}
