import { expect, it } from 'vitest';
import type { RunHistory } from '@fencepost/ledger';
import type { Catalog, CatalogEntry } from '@fencepost/ledger/catalog';
import type { Run, SkipRange } from '@fencepost/ledger/run';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { accountFor } from '../e2e/instants.js';
import { fencepost } from '../support/fencepost.js';
import { freshPrefix, testRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import { Image, ImagePod, type ImageSource, type StartOptions } from './images.js';

export const EVERY_SECOND = '* * * * * *';
export const EVEN_SECONDS = '*/2 * * * * *';
export const THIRD_SECONDS = '*/3 * * * * *';

/** As JavaScript. */
export const text = (value: string): string => JSON.stringify(value);

export interface RowPlace {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly tenant: string;
}

export interface RowOptions {
  readonly redis?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: in Redis. */
  readonly openCatalog?: (place: RowPlace) => Catalog;
  readonly openLedger?: (place: RowPlace) => RunHistory;
}

/** What a row found wrong. */
export interface Verdict {
  readonly bootFailures: readonly object[];
  readonly lostOrTwice: readonly string[];
  /** Generations that no pod's default log tells of, or more than one line does. */
  readonly silentChanges: readonly string[];
}

/** Nothing. */
export const CLEAN: Verdict = { bootFailures: [], lostOrTwice: [], silentChanges: [] };

interface Finding {
  readonly code: string;
  readonly level: string;
}

/** One row of the matrix: a scheduler that stays, the pods of any images beside it, and what all of them must hold at the end. */
export class Row {
  readonly #pods: ImagePod[] = [];
  readonly #images: Image[] = [];
  readonly #expectedToEnd = new Set<ImagePod>();
  readonly catalog: Catalog;
  readonly #ledger: RunHistory;

  private constructor(
    private readonly url: string,
    private readonly place: RowPlace,
    private readonly options: Pick<RowOptions, 'env' | 'openCatalog' | 'openLedger'>,
  ) {
    this.catalog = (options.openCatalog ?? ((at) => new RedisCatalog(at)))(place);
    this.#ledger = (options.openLedger ?? ((at) => new RedisLedger(at)))(place);
  }

  static async open({ redis: url = testRedis(), ...options }: RowOptions = {}): Promise<Row> {
    const redis = await connectRedis({ url, commandTimeoutMs: 5_000, name: 'test' });
    const row = new Row(url, { redis, prefix: freshPrefix(), tenant: 'default' }, options);
    await row.scheduler();
    return row;
  }

  async scheduler(): Promise<ImagePod> {
    return this.start(this.image({ crons: {}, name: 'scheduler' }), { env: { ROLES: 'scheduler' } });
  }

  image(source: ImageSource): Image {
    const image = new Image(source);
    this.#images.push(image);
    return image;
  }

  /** Does not wait. */
  spawn(image: Image, { env = {}, args }: StartOptions = {}): ImagePod {
    const name = `pod ${this.#pods.length}`;
    const common = { REDIS_URL: this.url, PREFIX: this.place.prefix, ...this.options.env };
    const pod = ImagePod.spawn(name, image, { env: { ...common, ...env }, ...(args ? { args } : {}) });
    this.#pods.push(pod);
    return pod;
  }

  start(image: Image, options: StartOptions = {}): Promise<ImagePod> {
    return this.spawn(image, options).started();
  }

  /** A pod that ends by itself, as in a crash loop: its end is no failure of the row. */
  async crash(image: Image, afterMs: number): Promise<void> {
    const pod = this.spawn(image, { env: { CRASH_AFTER: `${afterMs}` } });
    this.#expectedToEnd.add(pod);
    await pod.exited;
  }

  kill(pod: ImagePod): void {
    this.#expectedToEnd.add(pod);
    pod.kill();
  }

  /** The expression of each cron that fires. */
  async inForce(): Promise<Record<string, string>> {
    const { entries } = await this.catalog.read();
    const active = entries.filter(({ state }) => state === 'active');
    return Object.fromEntries(active.map(({ definition }) => [definition.name, definition.expression]));
  }

  /** Waits until exactly these crons fire. */
  async comesTo(crons: Readonly<Record<string, string>>): Promise<void> {
    let found: Record<string, string> = {};
    const isReached = async () => {
      found = await this.inForce();
      return JSON.stringify(sorted(found)) === JSON.stringify(sorted(crons));
    };
    await until(`${JSON.stringify(crons)} is in force`, isReached, 90_000).catch(() => expect(found).toEqual(crons));
  }

  async wipeRedis(): Promise<void> {
    await this.place.redis.flushall();
  }

  async entry(cron: string): Promise<CatalogEntry> {
    const { entries } = await this.catalog.read([cron]);
    const [entry] = entries;
    if (!entry) throw new Error(`Expected the catalog to have "${cron}".`);
    return entry;
  }

  /** Waits until runs of a cron have succeeded after now. */
  async runs(cron: string, count = 2): Promise<void> {
    const from = Date.now();
    await until(`${count} more runs of ${cron} succeed`, async () => {
      const runs = await this.#runsOf(cron);
      return runs.filter(({ state, scheduledAt }) => state === 'succeeded' && scheduledAt >= from).length >= count;
    });
  }

  /** The findings of `fencepost doctor`, without those that hold for every small deployment. */
  async doctor(): Promise<string[]> {
    const env = { REDIS_URL: this.url, FENCEPOST_PREFIX: this.place.prefix };
    const { json } = await fencepost(['doctor', '--json'], { env });
    return (json as readonly Finding[])
      .flatMap(({ code, level }) => (level === 'ok' || SMALL.has(code) ? [] : [code]))
      .toSorted();
  }

  /** Ends all pods, and holds what the stores have against the pods' logs. */
  async finish(): Promise<Verdict> {
    const failed = this.#pods.filter((pod) => !pod.isRunning && !this.#expectedToEnd.has(pod));
    const running = this.#pods.filter(({ isRunning }) => isRunning);
    await Promise.all(running.map((pod) => pod.leave()));
    const ends = await Promise.all(failed.map(async (pod) => ({ pod: pod.name, ...(await pod.exited) })));
    const { entries } = await this.catalog.read();
    const accounts = await Promise.all(entries.map((entry) => this.#account(entry)));
    const [logged, happened] = [counted(this.#pods.flatMap((pod) => pod.changes())), changesIn(entries)];
    const crons = [...new Set([...Object.keys(logged), ...Object.keys(happened)])];
    return {
      bootFailures: ends.filter(({ code }) => code !== 0 && code !== null),
      lostOrTwice: accounts.flat(),
      silentChanges: crons
        .filter((cron) => logged[cron] !== happened[cron])
        .map((cron) => `${cron}: ${happened[cron] ?? 0} generations, ${logged[cron] ?? 0} in the log`),
    };
  }

  async close(): Promise<void> {
    for (const pod of this.#pods) if (pod.isRunning) pod.kill();
    await Promise.all(this.#pods.map(({ exited }) => exited));
    for (const image of this.#images) image.remove();
    await closeRedis(this.place.redis);
  }

  /** Instants of each generation that have neither a run nor a skip, or more than one. */
  async #account({ definition, past, generation, state, since }: CatalogEntry): Promise<string[]> {
    const cron = definition.name;
    const [runs, skips] = [await this.#runsOf(cron), await this.#skipsOf(cron)];
    const generations = [...past, { definition, generation, state, since }];
    return generations.flatMap((one, n) => {
      const period = PERIODS[one.definition.expression];
      const own = runs.filter((run) => run.generation === one.generation);
      if (period === undefined || one.state !== 'active' || own.length === 0) return [];
      const end = generations[n + 1]?.since ?? Infinity;
      const within = skips.filter(({ after, through }) => through > one.since && after < end);
      const { lost, twice } = accountFor({ runs: own, skips: within }, period);
      return [
        ...lost.map((at) => `${cron} generation ${one.generation}: ${at} is lost`),
        ...twice.map((at) => `${cron} generation ${one.generation}: ${at} twice`),
      ];
    });
  }

  #runsOf(cron: string): Promise<Run[]> {
    return this.#ledger.runs(cron, MAX_READ);
  }

  #skipsOf(cron: string): Promise<SkipRange[]> {
    return this.#ledger.skips(cron, MAX_READ);
  }
}

const MAX_READ = 10_000;

/** True of any deployment with one scheduler on a Redis without persistence. */
const SMALL = new Set(['ONE_SCHEDULER', 'NO_PERSISTENCE', 'EVERYSEC', 'NO_REPLICA', 'VOLATILE']);

const PERIODS: Readonly<Record<string, number>> = {
  [EVERY_SECOND]: 1_000,
  [EVEN_SECONDS]: 2_000,
  [THIRD_SECONDS]: 3_000,
};

function changesIn(entries: readonly CatalogEntry[]): Record<string, number> {
  return counted(entries.flatMap(({ definition, generation }) => Array<string>(generation).fill(definition.name)));
}

function counted(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function sorted(record: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** A test in a row of its own. Two at once, because a row mostly waits: for pods to be gone, and for crons to be due. */
export const inRow = it.extend<{ row: Row }>({
  // Vitest wants a pattern here, and Oxlint one that isn't empty.
  row: async ({ task: _task }, use) => {
    const row = await Row.open();
    await use(row);
    await row.close();
  },
});
