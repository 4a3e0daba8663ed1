import { FenceExhaustedError } from './errors.js';
import { formatFence, parseFence } from './fence.js';
import { checkRequest, checkWhole } from './lease-request.js';
import type { AcquireReply, AcquireRequest, Holding, LeaseStore, StopWatching } from './lease-store.js';
import type { Term } from './lease.js';
import { watchChannel } from './redis-channel.js';
import { redisChannel, redisKeys } from './redis-keys.js';
import type { KeyBuilder, KeySpace } from './redis-keys.js';
import { loadScripts } from './redis-script.js';
import type { RedisClient, RedisScript } from './redis-script.js';

export interface RedisLeaseStoreOptions extends KeySpace {
  /** Stays the caller's to close. */
  readonly redis: RedisClient;
}

interface Batch {
  readonly keys: string[];
  readonly args: string[];
}

const scripts = loadScripts(new URL('./lua/', import.meta.url), [
  'acquire-lease',
  'renew-leases',
  'release-leases',
  'inspect-leases',
]);

/** A script holds up everybody else's commands while it runs: 500 terms take about a millisecond. */
const LARGEST_BATCH = 500;

/** Leases in one Redis, or in one Redis Cluster. What it can't survive is said in the README. */
export class RedisLeaseStore implements LeaseStore {
  readonly #redis: RedisClient;
  readonly #key: KeyBuilder;
  readonly #released: string;

  /** @throws {SetupError} for a prefix or tenant that can't be part of a key */
  constructor(options: RedisLeaseStoreOptions) {
    this.#redis = options.redis;
    this.#key = redisKeys(options);
    this.#released = redisChannel(options, 'released');
  }

  async acquire(request: AcquireRequest): Promise<AcquireReply> {
    checkRequest(request);
    const { resource, nonce, holder, ttlMs, floor } = request;
    const keys = [this.#lease(resource), this.#key(resource, 'fence')];
    const [word, value = ''] = words(
      await scripts['acquire-lease'].run(this.#redis, keys, [nonce, holder, ttlMs, formatFence(floor)]),
    );
    if (word === 'EXHAUSTED') throw new FenceExhaustedError(resource);
    return word === 'BUSY'
      ? { acquired: false, remainingMs: Number(value) }
      : { acquired: true, fence: parseFence(value) };
  }

  async renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    checkWhole('ttlMs', ttlMs, 1);
    const answers = await this.#each(scripts['renew-leases'], terms, (part) => ({
      keys: part.map(({ resource }) => this.#lease(resource)),
      args: [ttlMs.toFixed(0), ...part.map(({ nonce }) => nonce)],
    }));
    return answers.map((answer) => answer === 'DONE');
  }

  async release(terms: readonly Term[]): Promise<boolean[]> {
    const answers = await this.#each(scripts['release-leases'], terms, (part) => ({
      keys: part.map(({ resource }) => this.#lease(resource)),
      args: [this.#released, ...part.flatMap(({ nonce, resource }) => [nonce, resource])],
    }));
    return answers.map((answer) => answer === 'DONE');
  }

  async inspect(resources: readonly string[]): Promise<(Holding | null)[]> {
    const answers = await this.#each(scripts['inspect-leases'], resources, (part) => ({
      keys: part.map((resource) => this.#lease(resource)),
      args: [],
    }));
    return answers.map((answer) => (answer === null ? null : holding(words(answer))));
  }

  watchReleases(onReleased: (resource: string) => void): Promise<StopWatching> {
    return watchChannel(this.#redis, this.#released, onReleased);
  }

  #lease(resource: string): string {
    return this.#key(resource, 'lease');
  }

  /**
   * One script for many resources; on a cluster one for each, because their keys lie in different slots. Those are all
   * written in one turn, so it is still one round trip, and unlike a pipeline each of them survives a moving slot.
   */
  async #each<T>(script: RedisScript, items: readonly T[], toBatch: (part: readonly T[]) => Batch): Promise<unknown[]> {
    const size = this.#redis.isCluster ? 1 : LARGEST_BATCH;
    const replies = inParts(items, size).map(async (part) => {
      const { keys, args } = toBatch(part);
      return list(await script.run(this.#redis, keys, args));
    });
    return (await Promise.all(replies)).flat();
  }
}

function inParts<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));
}

function holding([holder = '', fence = '', remaining]: string[]): Holding {
  return { holder, fence: parseFence(fence), remainingMs: Number(remaining) };
}

function words(reply: unknown): string[] {
  return list(reply).map(String);
}

function list(reply: unknown): unknown[] {
  if (Array.isArray(reply)) return reply;
  throw new TypeError(`Expected a list as the reply of a lease script, got ${JSON.stringify(reply)}.`);
}
