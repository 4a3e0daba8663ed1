import { FenceExhaustedError } from '../base/errors.js';
import { formatFence, parseFence, type Fence } from '../base/fence.js';
import { checkRequest, checkWhole } from '../store/lease-request.js';
import type { Term } from '../store/grant.js';
import { inBatches, loadScripts, type RedisClient } from '../redis/redis-script.js';
import { watchChannel } from '../redis/redis-connection.js';
import { partOf, redisChannel, redisKeys } from '../store/keys.js';
import type { KeyBuilder, KeySpace } from '../store/keys.js';
import type { AcquireReply, AcquireRequest, Holding, HoldingsPage, StopWatching } from '../store/lease-store.js';
import type { RedisLeaseStoreOptions } from '../redis/redis-lease-options.js';
import { holding } from '../redis/redis-lease-store.js';
import { byFence, checkPlaces, nextToFree } from './semaphore.js';
import type { SemaphoreStore } from './semaphore-store.js';
import { TEXTS } from '../lua/texts.js';

export interface RedisSemaphoreStoreOptions extends RedisLeaseStoreOptions {
  /**
   * Forgets the fence and the size of a semaphore after this long without a request, milliseconds from 1; default: never. For
   * semaphores whose names are many. Fences go on rising all the same, unless the server's clock goes back by as much; what
   * `resize` has set stays.
   */
  readonly forgetAfterMs?: number;
}

interface Taken {
  readonly places: number;
  /** The one that ends first in front. */
  readonly holdings: readonly Holding[];
}

const scripts = loadScripts(TEXTS, [
  'acquire-place',
  'evict-place',
  'renew-places',
  'release-places',
  'inspect-places',
  'resize-places',
]);

/**
 * Semaphores in one Redis, or in one Redis Cluster. Expiry follows the server's clock; what a lease in Redis can't survive,
 * these can't either.
 */
export class RedisSemaphoreStore implements SemaphoreStore {
  readonly #redis: RedisClient;
  readonly #key: KeyBuilder;
  readonly #kind: RedisSemaphoreStoreOptions['kind'];
  readonly #listed: KeySpace & { readonly part: string };
  readonly #released: string;
  readonly #forgetAfterMs: number;

  /**
   * @throws {SetupError} for a prefix or tenant that can't be part of a key
   * @throws {RangeError} for a forgetAfterMs that is no whole number from 1
   */
  constructor(options: RedisSemaphoreStoreOptions) {
    this.#redis = options.redis;
    this.#key = redisKeys(options);
    this.#kind = options.kind;
    this.#listed = { prefix: options.prefix, tenant: options.tenant, part: partOf(options.kind, 'places') };
    this.#released = redisChannel(options, partOf(options.kind, 'released-places'));
    if (options.forgetAfterMs !== undefined) checkWhole('forgetAfterMs', options.forgetAfterMs, 1);
    this.#forgetAfterMs = options.forgetAfterMs ?? 0;
  }

  async acquire(request: AcquireRequest): Promise<AcquireReply> {
    checkRequest(request);
    const { resource, nonce, holder, ttlMs, floor, places = 1 } = request;
    checkPlaces(places);
    const keys = [this.#places(resource), this.#part(resource, 'places-fence'), this.#size(resource)];
    const args = [nonce, holder, ttlMs, formatFence(floor), places, this.#forgetAfterMs];
    const [word, value = ''] = list(await scripts['acquire-place'].run(this.#redis, keys, args)).map(String);
    if (word === 'EXHAUSTED') throw new FenceExhaustedError(resource);
    return word === 'BUSY'
      ? { acquired: false, remainingMs: Number(value) }
      : { acquired: true, fence: parseFence(value) };
  }

  async renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    checkWhole('ttlMs', ttlMs, 1);
    return inBatches(this.#redis, terms, async (batch) => {
      const args = [ttlMs, ...batch.map(({ nonce }) => nonce)];
      return letters(await scripts['renew-places'].run(this.#redis, this.#placesOf(batch), args));
    });
  }

  async release(terms: readonly Term[]): Promise<boolean[]> {
    return inBatches(this.#redis, terms, async (batch) => {
      const args = [this.#released, ...batch.flatMap(({ nonce, resource }) => [nonce, resource])];
      return letters(await scripts['release-places'].run(this.#redis, this.#placesOf(batch), args));
    });
  }

  async evict(resource: string, fence: Fence): Promise<boolean> {
    const args = [formatFence(fence), this.#released, resource];
    return (await scripts['evict-place'].run(this.#redis, [this.#places(resource)], args)) === 'DONE';
  }

  /** Each held place; by SCAN over all keys of the server. */
  async list(after: string | null, limit: number): Promise<HoldingsPage> {
    // Only who lists loads it: a worker never does.
    const { scanResources } = await import('../redis/redis-scan.js');
    const { resources, next } = await scanResources(this.#redis, this.#listed, { after, limit });
    const taken = await this.#taken(resources);
    const items = taken.flatMap(({ holdings }, n) => holdings.map((one) => ({ resource: resources[n] ?? '', ...one })));
    return { items, next };
  }

  async inspect(resources: readonly string[]): Promise<(Holding | null)[]> {
    const taken = await this.#taken(resources);
    return taken.map(({ places, holdings }) => nextToFree(holdings, places) ?? null);
  }

  async holders(resource: string): Promise<Holding[]> {
    const taken = await this.#taken([resource]);
    return taken.flatMap(({ holdings }) => holdings).toSorted(byFence);
  }

  async resize(resource: string, places: number | null): Promise<void> {
    if (places !== null) checkPlaces(places);
    await scripts['resize-places'].run(this.#redis, [this.#size(resource)], [this.#released, resource, places ?? '']);
  }

  watchReleases(onReleased: (resource: string) => void): Promise<StopWatching> {
    return watchChannel(this.#redis, this.#released, onReleased);
  }

  #taken(resources: readonly string[]): Promise<Taken[]> {
    return inBatches(this.#redis, resources, async (batch) => {
      const keys = batch.flatMap((resource) => [this.#places(resource), this.#size(resource)]);
      return list(await scripts['inspect-places'].run(this.#redis, keys, [])).map(takenOf);
    });
  }

  #placesOf(terms: readonly Term[]): string[] {
    return terms.map(({ resource }) => this.#places(resource));
  }

  #places(resource: string): string {
    return this.#part(resource, 'places');
  }

  #size(resource: string): string {
    return this.#part(resource, 'places-size');
  }

  #part(resource: string, part: string): string {
    return this.#key(resource, partOf(this.#kind, part));
  }
}

function takenOf(reply: unknown): Taken {
  const [places, ...terms] = list(reply);
  return { places: Number(places), holdings: terms.map((term) => holding(list(term).map(String))) };
}

function letters(reply: unknown): boolean[] {
  return Array.from(String(reply), (letter) => letter === 'D');
}

function list(reply: unknown): unknown[] {
  if (Array.isArray(reply)) return reply;
  throw new TypeError(`Expected a list as the reply of a semaphore script, got ${JSON.stringify(reply)}.`);
}
