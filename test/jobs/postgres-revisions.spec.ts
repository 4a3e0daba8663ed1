import { describe, expect, it, vi } from 'vitest';
import { definitionSet } from '@fencepost/ledger/catalog';
import { PostgresCatalog } from '@fencepost/ledger/postgres';
import { by, cron, entryOf, gone, named, OTHER, told } from '../contracts/catalog/stage.js';
import { locking } from '../support/former-build.js';
import { usePostgresLedger } from '../support/postgres-ledger-sandbox.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();

describe('PostgresCatalog under concurrent changes', () => {
  const postgres = usePostgresLedger();

  /** A catalog of these crons that is locked until the change is committed. */
  async function locked(...deployed: readonly string[]) {
    const { pool, schema } = postgres.sandbox;
    const options = { pool, schema, redis: spaces.redis(), ...spaces.fresh() };
    const catalog = new PostgresCatalog(options);
    await catalog.declare(named(...deployed), by(1));
    return {
      catalog,
      change: await postgres.sandbox.transaction(locking(schema, `${options.prefix}:${options.tenant}`)),
    };
  }

  it('keeps the newer of two revisions in force when neither found the cron before it waited', async () => {
    const { catalog, change } = await locked();
    const newer = catalog.declare([cron(OTHER)], by(2));
    await postgres.sandbox.untilBlocked(1);
    const older = catalog.declare([cron()], by(1));
    await postgres.sandbox.untilBlocked(2);
    await change.commit();
    expect([told(await newer), told(await older)]).toEqual([
      { 'nightly-report': 'created' },
      { 'nightly-report': 'superseded 2' },
    ]);
    expect(await entryOf(catalog)).toMatchObject({ definition: OTHER, generation: 1, revision: 2 });
  });

  it('numbers the sets of processes that have all read the same revisions apart', async () => {
    const { catalog, change } = await locked();
    const sets = ['a', 'b', 'a'].map((name) => definitionSet({ app: 'shop' }, named(name)));
    const enrolled = Promise.all(sets.map((set) => catalog.revisions.enrol(set)));
    await postgres.sandbox.untilBlocked(3);
    await change.commit();
    const [first, second, again] = await enrolled;
    expect(new Set([first, second])).toEqual(new Set([1, 2]));
    expect(again).toBe(first);
    expect(await catalog.revisions.of('shop')).toHaveLength(2);
  });

  it('keeps a cron that a live revision declares while another process waits to drop it', async () => {
    const { catalog, change } = await locked('a', 'b');
    const withoutFirst = by(3, 'shop', { gone: [gone(1)] });
    const declared = catalog.declare(named('a'), by(2));
    await postgres.sandbox.untilBlocked(1);
    const dropped = catalog.drop(['a', 'b'], withoutFirst);
    await postgres.sandbox.untilBlocked(2);
    await change.commit();
    expect(await declared).toEqual([{ cron: 'a', word: 'noted' }]);
    expect(await dropped).toEqual(['b']);
  });
});

describe('PostgresCatalog.drop', () => {
  const postgres = usePostgresLedger();

  it('announces what it removes, and nothing when it removes nothing', async () => {
    const { pool, schema } = postgres.sandbox;
    const redis = spaces.redis();
    const catalog = new PostgresCatalog({ pool, schema, redis, ...spaces.fresh() });
    await catalog.declare(named('a'), by(1));
    const publish = vi.spyOn(redis, 'publish');
    try {
      expect(await catalog.drop(['a'], by(2))).toEqual([]);
      expect(publish).not.toHaveBeenCalled();
      const call = by(2, 'shop', { gone: [gone(1)], nonce: 'nonce-01' });
      expect(await catalog.drop(['a'], call)).toEqual(['a']);
      expect(await catalog.drop(['a'], call)).toEqual(['a']);
      expect(publish).toHaveBeenCalledOnce();
    } finally {
      publish.mockRestore();
    }
  });
});

describe('PostgresCatalog.listUndeclared', () => {
  const postgres = usePostgresLedger();

  it('answers 1,000 names a page, in their order', async () => {
    const { pool, schema } = postgres.sandbox;
    const options = { pool, schema, redis: spaces.redis(), ...spaces.fresh() };
    await pool.query(
      `insert into "${schema}".catalog_cron (space, name, seq, source)
       select $1, 'cron-' || lpad(n::text, 4, '0'), 100 + 100 * (n % 2), 'shop' from generate_series(1, 3000) n`,
      [`${options.prefix}:${options.tenant}`],
    );
    const catalog = new PostgresCatalog(options);
    const asking = by(2, 'shop', { gone: [gone(1)] });
    const first = await catalog.listUndeclared(asking);
    const second = await catalog.listUndeclared(asking, first.next);
    expect(first.next).toBe('cron-2000');
    expect(second.next).toBeNull();
    expect([...first.crons, ...second.crons]).toEqual(
      Array.from({ length: 1_500 }, (_, n) => `cron-${String(2 * n + 2).padStart(4, '0')}`),
    );
  });
});
