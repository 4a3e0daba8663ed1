import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import type { Cluster, Redis } from 'ioredis';
import { textOf, type Texts } from '../base/read-texts.js';
import { TEXTS as SHARED } from '../lua/texts.js';

/** A standalone or a cluster connection: scripts run on both, as long as all keys of one call share a hash tag. */
export type RedisClient = Redis | Cluster;

type Words = readonly (string | number)[];

type Send = (keyCount: number, keys: Words, args: Words) => Promise<unknown>;

/**
 * A Lua script, sent in one round trip.
 *
 * ioredis keeps per socket whether the script was sent already: EVAL the first time, EVALSHA from then on, EVAL again after
 * a NOSCRIPT. A separate SCRIPT LOAD would have to be repeated after every reconnection and failover.
 */
export class RedisScript {
  readonly #command: string;

  constructor(
    readonly name: string,
    readonly text: string,
  ) {
    // The content is part of the name, so that two releases of the library can share one client.
    this.#command = `fencepost:${name}:${createHash('sha1').update(text).digest('hex')}`;
  }

  /** @returns what the script returned; the caller checks its shape */
  run(client: RedisClient, keys: readonly string[], args: Words): Promise<unknown> {
    const send = this.#commandOf(client) ?? this.#define(client);
    holdBack(client);
    return send.call(client, keys.length, keys, args);
  }

  /**
   * This script, with others that it calls as functions of KEYS and ARGV: what several scripts do in turn becomes one round trip and
   * one atomic step, where all keys are on one server.
   * @param functions by the name that this script knows each by
   */
  calling(functions: Readonly<Record<string, Pick<RedisScript, 'text'>>>): RedisScript {
    const texts = Object.entries(functions).map(
      ([name, { text }]) => `local function ${name}(KEYS, ARGV)\n${text.trimEnd()}\nend`,
    );
    return new RedisScript(this.name, [...texts, this.text].join('\n'));
  }

  #commandOf(client: RedisClient): Send | undefined {
    return (client as unknown as Record<string, Send | undefined>)[this.#command];
  }

  #define(client: RedisClient): Send {
    client.defineCommand(this.#command, { lua: this.text });
    return this.#commandOf(client) as Send;
  }
}

/**
 * Commands of one tick of the event loop are sent in one write: a hundred contenders would cause a hundred system calls, which
 * would cost more than everything else. A single command loses nothing by it. On a cluster, ioredis writes to each node itself.
 */
function holdBack(client: RedisClient): void {
  if (!('stream' in client)) return;
  const { stream } = client;
  // There is no stream before the first connection; a corked one needs no second cork.
  if (!stream || stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(letGo, stream);
}

function letGo(stream: Writable): void {
  stream.uncork();
}

const INCLUDE = /^-- @include (lease\/)?([a-z][a-z0-9-]*)$/gm;

function scriptText(texts: Texts, name: string): string {
  return textOf(texts, `${name}.lua`).replace(INCLUDE, (_line, shared: string | undefined, included: string) =>
    scriptText(shared ? SHARED : texts, included).trimEnd(),
  );
}

/**
 * The script `<name>.lua` for each name. Every line `-- @include x` is replaced by the text of `x.lua` beside it, and
 * `-- @include lease/x` by the text of this package's `x.lua`.
 * @param texts of the folder `lua` beside the caller
 */
export function loadScripts<N extends string>(texts: Texts, names: readonly N[]): Record<N, RedisScript> {
  const scripts = names.map((name) => [name, new RedisScript(name, scriptText(texts, name))] as const);
  return Object.fromEntries(scripts) as Record<N, RedisScript>;
}

/** A script blocks the server while it runs: to acquire or to end this many takes about a millisecond. */
const MAX_BATCH_SIZE = 250;

/**
 * One script for many resources; on a cluster one for each, because their keys are in different slots. Those are all
 * sent in one tick, so it is still one round trip, and unlike a pipeline each survives a moving slot.
 * @returns an answer per item, in the order given
 */
export function inBatches<T, A>(
  redis: RedisClient,
  items: readonly T[],
  run: (batch: readonly T[]) => Promise<A[]>,
): Promise<A[]> {
  const size = redis.isCluster ? 1 : MAX_BATCH_SIZE;
  if (items.length === 0) return Promise.resolve([]);
  return items.length <= size ? run(items) : inTurn(inParts(items, size).map(run));
}

async function inTurn<A>(parts: readonly Promise<A[]>[]): Promise<A[]> {
  return (await Promise.all(parts)).flat();
}

function inParts<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));
}
