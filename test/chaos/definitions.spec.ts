import { describe, expect, it, afterAll, beforeAll } from 'vitest';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { CRON, entryOf, generationsOf, SECOND, START, type Change } from '../support/audit-history.js';
import { instantsOf } from '../support/recount.js';
import type { Decision } from './decisions.js';
import { definitionHistory, type DefinitionHistory } from './definitions.js';
import { byName, type Knowledge, KeptDefinitions } from './kept-definitions.js';
import { declared } from '../support/fencepost.js';
import { clearPrefixes, freshPrefix, testRedis } from '../support/redis.js';
import { storesOn } from './database.js';

const EVERY_OTHER = { expression: '*/2 * * * * *' } as const;

const at = (second: number) => START + second * SECOND;

const entry = (...changes: readonly Change[]) => entryOf(generationsOf(...changes));

/** Of a process, at a second; the recorders' clock begins with it. */
function knows(process: string, second: number, ...changes: readonly Change[]): Knowledge {
  const time = second * 1_000_000;
  return { process, calledAt: time, at: time, entries: byName(changes.length === 0 ? [] : [entry(...changes)]) };
}

function decides(process: string, from: number | null, to: number): Decision {
  const [after, through] = [from === null ? null : at(from), at(to)];
  const moment = { process, calledAt: to * 1_000_000, cron: CRON, generation: 1 };
  return { ...moment, after, through, occurrence: through, skips: [], sure: true };
}

function history(knowledge: Knowledge[], decisions: Decision[]): DefinitionHistory {
  const cursor = decisions.at(-1)?.through ?? null;
  return definitionHistory({ cron: CRON, knowledge, decisions, runs: [], cursor, epochMs: START });
}

function seconds({ entry: told }: DefinitionHistory, end: number): string[] {
  return instantsOf(told, at(end)).map(({ at: instant, generation }) => `${(instant - START) / SECOND}:${generation}`);
}

describe('the definitions by which instants were decided', () => {
  it('are those of the catalog while it is not lost', () => {
    const changes = [{ since: at(0) }, { since: at(3), ...EVERY_OTHER }];
    const told = history([knows('a', 1, ...changes)], [decides('a', null, 1), decides('a', 1, 2)]);
    expect(seconds(told, 6)).toEqual(['1:1', '2:1', '3:1', '4:2', '6:2']);
    expect(told.outdated).toEqual([]);
  });

  it('reach back to where the ledger had come, in a catalog that is born again', () => {
    const before = knows('a', 0, { since: at(0) });
    const reborn = knows('b', 6, { since: at(6), ...EVERY_OTHER });
    const decisions = [decides('a', null, 1), decides('a', 1, 2), decides('b', 2, 4), decides('b', 4, 6)];
    expect(seconds(history([before, reborn], decisions), 8)).toEqual(['1:1', '2:1', '4:2', '6:2', '8:2']);
  });

  it('are outdated when a pod goes on with them for longer than it may', () => {
    const reborn = knows('oracle', 3, { since: at(3), ...EVERY_OTHER });
    const decisions = [decides('a', null, 5), decides('a', 5, 6), decides('a', 6, 7)];
    const skips = [{ after: at(0), through: at(4), reason: 'merged' as const }];
    const told = history(
      [knows('a', 0, { since: at(0) }), reborn],
      [{ ...decisions[0]!, skips }, ...decisions.slice(1)],
    );
    expect(told.outdated).toEqual([expect.stringContaining('by a definition that oracle had seen replaced')]);
  });

  it('are unknown where a pod decided that told of no reading', () => {
    const told = history([knows('b', 0, { since: at(0) })], [decides('a', null, 1), decides('b', 1, 2)]);
    expect(told.outdated).toEqual([expect.stringMatching(/^a moved .* by a definition that it never told of$/)]);
  });

  it('have the instants that a pod left out', () => {
    const told = history([knows('a', 0, { since: at(0) })], [decides('a', null, 1), decides('a', 1, 3)]);
    expect(seconds(told, 3)).toEqual(['1:1', '2:1', '3:1']);
  });

  it('go on with what was read last, where nobody decided anything', () => {
    const told = history([knows('a', 0, { since: at(0) })], [decides('a', null, 1)]);
    expect(seconds(told, 3)).toEqual(['1:1', '2:1', '3:1']);
  });
});

const MADE = ['kept-made', 'kept-removed'];
const DECLARED = ['kept-changed', 'kept-paused'];

describe('the definitions that are looked at during chaos', () => {
  let redis: RedisClient;

  beforeAll(async () => {
    redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 10_000, name: 'oracle' });
  });

  afterAll(() => closeRedis(redis));

  it('are lost, each of them, when their store is wiped and the crons of the code are declared again', async () => {
    const prefix = freshPrefix();
    const { stores, closeStores } = await storesOn({
      ...{ redis, waiting: redis, waitReplicas: 0, prefix },
      database: undefined,
    });
    const declare = () =>
      stores.catalog.declare(
        DECLARED.map((name) => declared(name)),
        { app: 'chaos', revision: 1 },
      );
    try {
      await declare();
      const kept = new KeptDefinitions(stores);
      await kept.order();
      await declare();
      await kept.look();
      expect(kept.lost).toEqual([]);
      await clearPrefixes(redis, [prefix]);
      await declare();
      await kept.look();
      expect(new Set(kept.lost.map((sentence) => sentence.split(' was ')[0]))).toEqual(
        new Set([
          ...['kept-changed', ...MADE].map((name) => `The audit records of ${name}`),
          ...[...DECLARED, ...MADE].map((name) => `The definition of ${name}`),
          'The pause of kept-paused',
        ]),
      );
    } finally {
      await closeStores();
    }
  });
});
