import { describe, expect, it } from 'vitest';
import { definitionSet } from '@fencepost/ledger/catalog';
import { PostgresCatalog, migrateLedger } from '@fencepost/ledger/postgres';
import { by, cron, DAY_MS, entryOf, gone, HOUR_MS, named, OTHER, told } from '../contracts/catalog/stage.js';
import { declareAsFormer, FORMER_SEQ, FORMER_WHO, locking } from '../support/former-build.js';
import { SPACE as PLACE, usePostgresLedger } from '../support/postgres-ledger-sandbox.js';
import { postgresSandbox } from '../support/postgres-sandbox.js';
import { postgresForTests } from '../support/postgres.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();

describe('PostgresCatalog beside builds of version 10', () => {
  const postgres = usePostgresLedger();

  async function deployed(former: { readonly app?: string; readonly seq?: number } = {}) {
    const { pool, schema } = postgres.sandbox;
    const options = { pool, schema, redis: spaces.redis(), ...spaces.fresh() };
    const space = `${options.prefix}:${options.tenant}`;
    await declareAsFormer(postgres.sandbox, named('a', 'b'), { space, ...former });
    return { catalog: new PostgresCatalog(options), space };
  }

  const highest = async (space: string) => {
    const found = await postgres.sandbox.rows(`select source, seq from @catalog_build where space = '${space}'`);
    return Object.fromEntries((found as { source: string; seq: string }[]).map((one) => [one.source, Number(one.seq)]));
  };

  it('reads their definitions with an app and without a revision', async () => {
    const { catalog } = await deployed();
    expect(await entryOf(catalog, 'a')).toMatchObject({ app: 'shop', revision: null, generation: 1 });
  });

  it('puts a revision of the same app in force at once, although processes of the former release are live', async () => {
    const { catalog } = await deployed();
    const reply = await catalog.declare([cron({ name: 'a' }), cron({ name: 'b', ...OTHER })], by(1));
    expect(reply.map(({ word }) => word)).toEqual(['noted', 'changed']);
    expect(await entryOf(catalog, 'a')).toMatchObject({ revision: 1, generation: 1 });
    expect(await entryOf(catalog, 'b')).toMatchObject({ revision: 1, generation: 2, definition: OTHER, reason: null });
  });

  it('gives the crons of a program that had a path in its name to its app, and to no other', async () => {
    const { catalog } = await deployed({ app: 'shop/dist/main' });
    const both = [cron({ name: 'a' }), cron({ name: 'b', ...OTHER })];
    expect(told(await catalog.declare(both, by(1, 'sho')))).toEqual({
      a: 'foreign shop/dist/main',
      b: 'foreign shop/dist/main',
    });
    expect((await catalog.declare(both, by(1))).map(({ word }) => word)).toEqual(['noted', 'changed']);
    expect(await entryOf(catalog, 'b')).toMatchObject({ app: 'shop', revision: 1 });
    await catalog.declare(named('c'), by(1, 'shop/api'));
    expect(told(await catalog.declare(named('c'), by(1)))).toEqual({ c: 'foreign shop/api' });
  });

  it('refuses their crons to another app until no process of the former release is live', async () => {
    const { catalog } = await deployed({ app: 'mail' });
    const both = [cron({ name: 'a' }), cron({ name: 'b', ...OTHER })];
    expect(told(await catalog.declare(both, by(1)))).toEqual({ a: 'foreign mail', b: 'foreign mail' });
    const reply = await catalog.declare(both, by(1, 'shop', { formersGone: true }));
    expect(reply.map(({ word }) => word)).toEqual(['noted', 'taken']);
    expect(await entryOf(catalog, 'a')).toMatchObject({ app: 'shop', revision: 1, generation: 1 });
  });

  it.each([
    ['the time of its files', {}],
    ["a number of the user's own", { seq: 42 }],
  ])('lists and drops undeclared crons of a build with %s once no former process is live', async (_what, former) => {
    const { catalog } = await deployed({ app: 'shop/dist/main', ...former });
    const withFormers = by(1, 'shop', { gone: [gone(2)] });
    const alone = by(1, 'shop', { formersGone: true });
    await catalog.declare(named('a'), withFormers);
    expect(await catalog.listUndeclared(withFormers)).toEqual({ crons: [], next: null });
    expect(await catalog.drop(['b'], withFormers)).toEqual([]);
    expect(await catalog.listUndeclared(alone)).toEqual({ crons: ['b'], next: null });
    expect(await catalog.drop(['a', 'b'], alone)).toEqual(['b']);
  });

  it('raises the highest build of the enrolling app above every former build, and of no other app', async () => {
    const { catalog, space } = await deployed();
    for (const app of ['mail', 'shop/dist/worker', 'shopping/dist/main']) {
      await declareAsFormer(postgres.sandbox, [], { space, app });
    }
    const before = await postgres.sandbox.now();
    await catalog.revisions.enrol(definitionSet({ app: 'shop' }, named('a')));
    const { shop, mail, ...others } = await highest(space);
    expect(shop).toBeGreaterThanOrEqual(before);
    expect(others['shop/dist/worker']).toBeGreaterThanOrEqual(before);
    expect([mail, others['shopping/dist/main']]).toEqual([FORMER_SEQ, FORMER_SEQ]);
    // A number that was chosen may be larger than any time.
    const chosen = 20_260_105_120_000;
    await declareAsFormer(postgres.sandbox, [], { space, seq: chosen });
    await catalog.revisions.enrol(definitionSet({ app: 'shop' }, named('a')));
    expect((await highest(space)).shop).toBe(chosen + 1);
  });

  it('enrols after the declaration of a former build that is under way, so that the highest build stays raised', async () => {
    const { catalog, space } = await deployed();
    const { schema } = postgres.sandbox;
    const former = await postgres.sandbox.open();
    await former.query(locking(schema, space));
    const enrolled = catalog.revisions.enrol(definitionSet({ app: 'shop' }, named('a')));
    await postgres.sandbox.untilBlocked(1);
    await former.query(`update "${schema}".catalog_build set seq = $1 where space = $2`, [FORMER_SEQ + 1, space]);
    await former.query('commit');
    expect(await enrolled).toBe(1);
    expect((await highest(space)).shop).toBeGreaterThan(FORMER_SEQ + 1);
  });

  it('withholds a cron that an operator removed through a former build, for as long as a pod declares it', async () => {
    const { catalog, space } = await deployed();
    const { pool, schema } = postgres.sandbox;
    const tombstone = async () => {
      const [row] = await postgres.sandbox.rows(
        `select delete_at from @catalog_cron where space = '${space}' and name = 'a'`,
      );
      return Number((row as { delete_at: string }).delete_at) - (await postgres.sandbox.now());
    };
    await pool.query(
      `update "${schema}".catalog_cron set standing = 'removed', delete_at = $2 where space = $1 and name = 'a'`,
      [space, (await postgres.sandbox.now()) + HOUR_MS],
    );
    expect(told(await catalog.declare(named('a'), by(1)))).toEqual({ a: 'withheld' });
    expect(await tombstone()).toBeGreaterThan(DAY_MS);
    expect(told(await catalog.declare([cron({ name: 'a', ...OTHER })], by(1)))).toEqual({ a: 'restored' });
  });

  it('takes the revision numbers over from Redis, although a process has enrolled in PostgreSQL already', async () => {
    const { pool, schema } = postgres.sandbox;
    const place = spaces.fresh();
    const catalog = new PostgresCatalog({ pool, schema, redis: spaces.redis(), ...place });
    await catalog.revisions.enrol(definitionSet({ app: 'shop' }, named('b')));
    const { crons, hash } = definitionSet({ app: 'shop' }, named('a'));
    const revisions = [{ order: 700, hash, explicit: null, firstSeenAt: FORMER_SEQ }];
    const line = `1\t${FORMER_SEQ}\tactive\t\t${FORMER_WHO}\t${JSON.stringify(cron({ name: 'a' }).definition)}`;
    const adopted = await catalog.adopt(async () => ({
      version: FORMER_SEQ,
      bornAt: FORMER_SEQ,
      crons: [
        { name: 'a', lines: line, declared: `700 ${crons.get('a')} live shop\tof a later format`, deleteAt: null },
      ],
      builds: [{ app: 'shop', seq: FORMER_SEQ }],
      revisions: [{ app: 'shop', record: JSON.stringify({ format: 4, revisions }) }],
      sets: [{ app: 'shop', order: 700, names: 'a 01234567' }],
      records: [],
      alarms: [],
    }));
    expect(adopted).toBe(1);
    expect((await highest(`${place.prefix}:${place.tenant}`)).shop).toBeGreaterThan(FORMER_SEQ);
    expect(await catalog.declare(named('a'), by(7))).toEqual([{ cron: 'a', word: 'same' }]);
    expect(await catalog.revisions.declaredBy('shop', [7])).toEqual([new Map([['a', '01234567']])]);
    expect(await catalog.revisions.enrol(definitionSet({ app: 'shop' }, named('b')))).toBe(8);
  });
});

describe('migrateLedger to version 11', () => {
  it('keeps the definitions of builds of version 10, and lets these builds declare again when it is undone', async () => {
    const sandbox = postgresSandbox((await postgresForTests()).url);
    const { pool, schema } = sandbox;
    try {
      await migrateLedger(pool, { schema });
      for (let to = Infinity; to > 10;) ({ to } = await migrateLedger(pool, { schema, down: true }));
      const space = `${PLACE.prefix}:${PLACE.tenant}`;
      await declareAsFormer(sandbox, named('a', 'b'), { space });
      await declareAsFormer(sandbox, named('theirs'), { space, app: 'mail' });
      await declareAsFormer(sandbox, named('one'), { space, app: 'post/dist/main' });
      await declareAsFormer(sandbox, named('first'), { space, app: 'bank/dist/first' });
      await declareAsFormer(sandbox, named('second'), { space, app: 'bank/dist/second' });

      expect(await migrateLedger(pool, { schema })).toMatchObject({ from: 10 });
      const catalog = new PostgresCatalog({ pool, schema, redis: spaces.redis(), ...PLACE });
      const revision = await catalog.revisions.enrol(definitionSet({ app: 'shop' }, named('a')));
      expect(await catalog.declare(named('a'), by(revision))).toEqual([{ cron: 'a', word: 'noted' }]);
      for (const [app, ...names] of [
        ['post', 'one'],
        ['bank', 'first'],
      ] as const) {
        await catalog.revisions.enrol(definitionSet({ app }, named(...names)));
        await catalog.declare(named(...names), by(1, app));
      }
      const { version } = await catalog.read([]);

      for (let to = Infinity; to > 10;) ({ to } = await migrateLedger(pool, { schema, down: true }));
      const { rows: crons } = await pool.query(
        `select name, seq::float8, source from "${schema}".catalog_cron order by name`,
      );
      expect(crons).toEqual([
        { name: 'a', seq: 0, source: 'shop' },
        { name: 'b', seq: FORMER_SEQ, source: 'shop' },
        { name: 'first', seq: 0, source: '' },
        { name: 'one', seq: 0, source: 'post/dist/main' },
        { name: 'second', seq: FORMER_SEQ, source: 'bank/dist/second' },
        { name: 'theirs', seq: FORMER_SEQ, source: 'mail' },
      ]);
      const { rows: builds } = await pool.query(`select source, seq::float8 from "${schema}".catalog_build`);
      expect(builds).toEqual([{ source: 'mail', seq: FORMER_SEQ }]);

      await migrateLedger(pool, { schema });
      const again = new PostgresCatalog({ pool, schema, redis: spaces.redis(), ...PLACE });
      expect((await again.read([])).version).toBe(version);
      expect(await again.revisions.enrol(definitionSet({ app: 'shop' }, named('b')))).toBe(1);
      const reply = await again.declare([cron({ name: 'a', ...OTHER }), cron({ name: 'b' })], by(1));
      expect(reply.map(({ word }) => word)).toEqual(['changed', 'noted']);
    } finally {
      await sandbox.close();
    }
  });
});
