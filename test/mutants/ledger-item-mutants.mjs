const LUA = 'libs/jobs/src/ledger/lua/';
const REDIS = 'test/ledger/redis-ledger.spec.ts';

/**
 * How far a forEach has come.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const LEDGER_ITEM_MUTANTS = [
  {
    name: 'items: the length of the name is left out',
    defence: 'no two items share a field, whatever their names and keys contain',
    file: `${LUA}item-record.lua`,
    find: "return #effect .. '/' .. effect .. key",
    replace: "return '1/' .. effect .. key",
    killedBy: REDIS,
    test: 'keep keys that look like something else',
  },
  {
    name: 'items: a done is overwritten',
    defence: 'done is never overwritten',
    file: `${LUA}advance-items.lua`,
    find: "if state ~= 'done' and kept and",
    replace: 'if kept and',
    killedBy: REDIS,
    test: 'that are done stay done, whoever says what',
  },
  {
    name: 'items: what is done begins again',
    defence: 'an item that is done is not done again',
    file: `${LUA}advance-items.lua`,
    find: "if state ~= 'done' and state ~= 'begun' then",
    replace: "if state ~= 'begun' then",
    killedBy: REDIS,
    test: 'that are done stay done, whoever says what',
  },
  {
    name: 'items: since when starts anew with every attempt',
    defence: 'a person is told since when an outcome is unknown',
    file: `${LUA}advance-items.lua`,
    find: "if state ~= 'done' and state ~= 'begun' then",
    replace: "if state ~= 'done' then",
    killedBy: REDIS,
    test: 'the next attempt finds which are unknown, and since when',
  },
  {
    name: 'items: a stale attempt begins them',
    defence: 'whoever lost the run begins nothing',
    file: `${LUA}advance-items.lua`,
    find: 'if stale then\n',
    replace: 'if false then\n',
    killedBy: REDIS,
    test: 'begins nothing, and says so',
  },
  {
    name: 'items: an expired lease is enough',
    defence: 'no item begins when a successor may begin the same',
    file: `${LUA}advance-items.lua`,
    find: 'local stale = not current or tonumber(run[4]) <= now',
    replace: 'local stale = not current',
    killedBy: REDIS,
    test: 'begins nothing once its lease has expired',
  },
  {
    name: 'items: a late failure counts',
    defence: 'of a stale attempt nothing but a done is a fact',
    file: `${LUA}advance-items.lua`,
    find: " and (ARGV[i + 1] == 'done' or not stale) then",
    replace: ' then',
    killedBy: REDIS,
    test: 'has its dones kept as facts, and no failure',
  },
  {
    name: 'items: a late done is thrown away',
    defence: 'a done is a fact about the world, whoever reports it',
    file: `${LUA}advance-items.lua`,
    find: "local kept = not stale or redis.call('HGET', KEYS[3], may) == ARGV[2]",
    replace: 'local kept = not stale',
    killedBy: REDIS,
    test: 'has its dones kept as facts, and no failure',
  },
  {
    name: 'items: a late done is taken from anybody',
    defence: 'a late done counts only from an attempt that was once allowed to begin',
    file: `${LUA}advance-items.lua`,
    find: "local kept = not stale or redis.call('HGET', KEYS[3], may) == ARGV[2]",
    replace: 'local kept = true',
    killedBy: REDIS,
    test: 'has no done kept when it was never allowed to begin any',
  },
];
