/** Definitions are as safe as the ledger. */

/** @type {readonly import('./mutation-lab.mjs').Mutant[]} */
export default [
  {
    name: 'catalog in PostgreSQL: a later boot takes over Redis again',
    guards: 'G16',
    defence: 'definitions that Redis still has from before the move never replace newer ones',
    file: 'libs/ledger/src/postgres/sql/functions/adopt-catalog.sql',
    find: "if this.version > 0 or this.audit_number > 0 then return 'null'; end if;",
    replace:
      'delete from catalog_cron where space = the_space; delete from catalog_generation where space = the_space;',
    killedBy: 'test/jobs/postgres-catalog.spec.ts',
    test: 'moves nothing when another pod has moved them',
  },
  {
    name: 'definitions: the catalog stays in Redis',
    guards: 'G16',
    defence: 'with the ledger in PostgreSQL a wiped Redis takes no definition with it',
    file: 'libs/jobs/src/nest/stores.ts',
    find: 'if (!place) {',
    replace: 'if (place || !place) {',
    killedBy: 'test/truth/01-lost-definitions.spec.ts',
    test: 'undoes no change, no removal, no pause',
  },
  {
    name: 'redis catalog: pages of two versions are one reading',
    guards: 'G16',
    defence: 'a catalog that changed while it was read in pages is read again',
    file: 'libs/ledger/src/redis/redis-catalog.ts',
    find: 'if (reading.version === Number(version)) return reading;',
    replace: 'return reading;',
    killedBy: 'test/jobs/redis-catalog-writes.spec.ts',
    test: 'is read again when it was changed between two pages',
  },
];
