import * as fc from 'fast-check';
import type { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { ManualClock } from '@fencepost/lease/testing';
import type { Catalog, Declaration } from '@fencepost/ledger/catalog';
import { MemoryCatalog } from '@fencepost/ledger/memory';
import { RedisCatalog } from '@fencepost/ledger/redis';
import { cron, HOUR_MS, OTHER, ZONE_DATA } from '../contracts/catalog/stage.js';
import { atMost } from '../support/run-length.js';
import { redisSpaces } from './redis-space.js';

/** No multiple of it is near the day a tombstone is kept, so that what a test takes in reality changes nothing. */
const STEP_MS = 10 * HOUR_MS;

type Expected = number | null | 'newest';

type Command =
  | { readonly do: 'declare'; readonly seq: number; readonly source: string; readonly crons: readonly Declaration[] }
  | { readonly do: 'put'; readonly declaration: Declaration; readonly expected: Expected }
  | { readonly do: 'remove'; readonly name: string; readonly expected: Expected }
  | { readonly do: 'outgrow'; readonly name: string; readonly accepted: number }
  | { readonly do: 'time passes'; readonly steps: number };

const name = fc.constantFrom('a', 'b', 'c');
const declaration = fc
  .tuple(name, fc.boolean(), fc.integer({ min: 0, max: 5 }))
  .map(([of, other, disabled]) => cron({ name: of, ...(other ? OTHER : {}) }, disabled === 0));
const expected: fc.Arbitrary<Expected> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Expected>('newest') },
  { weight: 1, arbitrary: fc.option<Expected>(fc.integer({ min: 1, max: 4 })) },
);
const declare = fc.record({
  do: fc.constant('declare' as const),
  seq: fc.integer({ min: 0, max: 4 }),
  source: fc.constantFrom('shop', 'billing'),
  crons: fc.uniqueArray(declaration, { maxLength: 3, selector: ({ definition }) => definition.name }),
});
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: declare },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('put' as const), declaration, expected }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), name, expected }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('outgrow' as const), name, accepted: fc.integer({ min: 1, max: 9 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('time passes' as const), steps: fc.integer({ min: 1, max: 3 }) }),
  },
);

/** One of the adapters, and how its time passes. */
interface Adapter {
  readonly catalog: Catalog;
  readonly pass: (ms: number) => Promise<void>;
}

async function newest(catalog: Catalog, of: string): Promise<number | null> {
  const { entries } = await catalog.read();
  const entry = entries.find(({ definition }) => definition.name === of);
  return entry && entry.state !== 'removed' ? entry.generation : null;
}

async function execute({ catalog, pass }: Adapter, asked: Command): Promise<unknown> {
  const order = async (of: string, wanted: Expected) => ({
    expected: wanted === 'newest' ? await newest(catalog, of) : wanted,
    by: 'ana',
    reason: null,
  });
  switch (asked.do) {
    case 'declare':
      return catalog.declare(asked.crons, asked).catch((error: unknown) => String(error));
    case 'put':
      return catalog.put(asked.declaration, await order(asked.declaration.definition.name, asked.expected));
    case 'remove':
      return catalog.remove(asked.name, await order(asked.name, asked.expected));
    case 'outgrow':
      return catalog.outgrow(asked.name, asked.accepted);
    case 'time passes':
      return pass(asked.steps * STEP_MS);
  }
}

/** All that is told, but for when. */
function timeless(told: unknown): unknown {
  const text = JSON.stringify(told, (key, value: unknown) =>
    key === 'since' || key === 'readAt' || key === 'renumberedAt' ? 0 : value,
  );
  return text === undefined ? undefined : JSON.parse(text);
}

async function passFor(redis: Redis, tombstones: string, ms: number): Promise<void> {
  for (const of of await redis.zrange(tombstones, '0', '-1')) await redis.zincrby(tombstones, -ms, of);
}

describe('the catalogs in memory and in Redis', () => {
  const spaces = redisSpaces();

  it('answer alike, hold the same, and change at the same commands, whatever they are asked', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 25 }), async (commands) => {
        const [redis, space, clock] = [spaces.redis(), spaces.fresh(), new ManualClock()];
        const inRedis = new RedisCatalog({ redis, ...space, zoneData: ZONE_DATA });
        const inMemory = new MemoryCatalog(clock, { zoneData: ZONE_DATA });
        const tombstones = redisKeys(space)('catalog', 'tombstones');
        const adapters: Adapter[] = [
          { catalog: inMemory, pass: (ms) => clock.advance(ms) },
          { catalog: inRedis, pass: (ms) => passFor(redis, tombstones, ms) },
        ];
        let [before, other] = await Promise.all(adapters.map(({ catalog }) => catalog.read()));
        for (const asked of commands) {
          const [told, toldToo] = await Promise.all(adapters.map((adapter) => execute(adapter, asked)));
          expect(timeless(toldToo)).toEqual(timeless(told));
          const [after, afterToo] = await Promise.all(adapters.map(({ catalog }) => catalog.read()));
          expect(timeless(afterToo!.entries)).toEqual(timeless(after!.entries));
          expect(afterToo!.version > other!.version).toBe(after!.version > before!.version);
          [before, other] = [after, afterToo];
        }
      }),
      atMost(150),
    );
  });
});
