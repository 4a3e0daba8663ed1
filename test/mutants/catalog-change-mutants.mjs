const LUA = 'libs/jobs/src/catalog/lua/';
const CHANGE = `${LUA}change-cron.lua`;
const OUTGROW = `${LUA}outgrow-generation.lua`;
const SPEC = 'test/jobs/redis-catalog.spec.ts';
const WRITES = 'test/jobs/redis-catalog-writes.spec.ts';

/**
 * What people change while everything runs, and what a ledger tells of a catalog that was lost.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const CATALOG_CHANGE_MUTANTS = [
  {
    name: 'change: what somebody else changed meanwhile is overwritten',
    defence: 'a person changes what they have seen, and nothing else',
    file: CHANGE,
    find: 'if present ~= ARGV[2] or (',
    replace: 'if (',
    killedBy: SPEC,
    test: 'is accepted from one of many who saw the same',
  },
  {
    name: 'change: one that is sent again is refused as moved by itself',
    defence: 'a lost reply and a change that is sent again are one change',
    file: CHANGE,
    find: 'if nonce == ARGV[3] then',
    replace: 'if false then',
    killedBy: WRITES,
    test: 'accepts a change once when its reply got lost',
  },
  {
    name: 'change: what a person brought back is removed by the next build',
    defence: 'a cron that the code has left out belongs to who brought it back',
    file: CHANGE,
    find: "if was == 'dropped' or (was == 'removed' and left_out) then",
    replace: "if was == 'dropped' then",
    killedBy: SPEC,
    test: 'brings a cron back that was removed by hand, then left out',
  },
  {
    name: 'change: the next declaration is compared with what a person changed',
    defence: 'the code is not in conflict with a change at run time',
    file: CHANGE,
    find: "if source == '' and not removes then hash = ARGV[5] end",
    replace: 'if not removes then hash = ARGV[5] end',
    killedBy: SPEC,
    test: 'survives that the same build declares what was declared before',
  },
  {
    name: 'change: a cron that a person brought back keeps its tombstone',
    defence: 'a cron that fires is not deleted a day after it was brought back',
    file: CHANGE,
    find: "redis.call('ZREM', KEYS[4], ARGV[1])",
    replace: '',
    killedBy: SPEC,
    test: 'brings a cron back that was removed by hand, and code that declares it',
  },
  {
    name: 'catalog: a lost catalog counts from one again',
    defence: 'a cron goes on after its catalog was lost, although the ledger has seen higher generations',
    file: OUTGROW,
    find: "redis.call('HSET', KEYS[1], ARGV[1], table.concat(known, '\\n'))",
    replace: '',
    killedBy: SPEC,
    test: 'begins a generation above the one a ledger has accepted',
  },
  {
    name: 'catalog: only the newest generation outgrows the ledger',
    defence: 'the instants that an earlier generation left over are not refused for ever',
    file: OUTGROW,
    find: 'number_of(known[#known])',
    replace: 'number_of(known[1])',
    killedBy: SPEC,
    test: 'counts all of its generations on',
  },
  {
    name: 'catalog: a build whose number is none is written down',
    defence: 'every later build can be compared with the ones before',
    file: 'libs/jobs/src/catalog/declaring.ts',
    find: 'if (!Number.isSafeInteger(seq) || seq < 0) {',
    replace: 'if (false) {',
    killedBy: 'libs/jobs/src/catalog/memory-catalog.spec.ts',
    test: 'as the number of a build',
  },
];
