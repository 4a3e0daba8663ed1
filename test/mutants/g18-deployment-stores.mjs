/** What the stores decide of the definitions of live revisions; a part of g18-deployments.mjs. */

const REDIS = 'test/jobs/redis-stores.spec.ts';
const JUDGE = 'libs/ledger/src/redis/lua/judge-declaration.lua';

/** @type {readonly import('./mutation-lab.mjs').Mutant[]} */
export default [
  {
    name: 'redis catalog: an older revision replaces a newer one',
    guards: 'G18',
    defence: 'a straggler changes no definition while the newer revision has a live pod',
    file: JUDGE,
    find: "if newer and not gone then return same and 'same' or 'superseded ' .. text end",
    replace: '',
    killedBy: REDIS,
    test: 'is superseded by a newer one, and defines only the crons that no newer one has',
  },
  {
    name: 'redis catalog: an app defines the crons of another',
    guards: 'G18',
    defence: 'a name belongs to the app that declared it first',
    file: JUDGE,
    find: "if not gone then return 'foreign ' .. app end",
    replace: '',
    killedBy: REDIS,
    test: 'is told whose it is, and keeps its others',
  },
  {
    name: 'redis catalog: what was removed stays removed',
    guards: 'G18',
    defence: 'a removed cron comes back when a pod declares it again',
    file: JUDGE,
    find: "if state == 'dropped' then return 'restored' end",
    replace: "if state == 'dropped' then return 'same' end",
    killedBy: REDIS,
    test: 'comes back when any revision declares it again',
  },
  {
    name: 'redis catalog: a cron is removed that a live revision has declared meanwhile',
    guards: 'G18',
    defence: 'a removal is decided in the store: what was declared since the decision is left alone',
    file: 'libs/ledger/src/redis/lua/drop-crons.lua',
    find: "if state == 'live' and owns(app, tonumber(order), by) and is_gone(app, tonumber(order), by) then",
    replace: "if state == 'live' and owns(app, tonumber(order), by) then",
    killedBy: REDIS,
    test: 'is left alone when a live revision, another app or a person has it meanwhile',
  },
  {
    name: 'redis catalog: a declaration sent again is another one',
    guards: 'G18',
    defence: 'a client that repeats a request hears what the first one has changed',
    file: 'libs/ledger/src/redis/lua/declare-crons.lua',
    find: 'if kept == nonce then return WORDS[tonumber(digit)] end',
    replace: '',
    killedBy: REDIS,
    test: 'answers a call that is repeated with its nonce as it did before, and begins nothing twice',
  },
  {
    name: 'postgres catalog: an older revision replaces a newer one',
    guards: 'G18',
    defence: 'a straggler changes no definition while the newer revision has a live pod',
    file: 'libs/ledger/src/postgres/sql/functions/judge-declaration.sql',
    find: 'when known.seq > the_order and not is_former(known.seq) and not gone then',
    replace: 'when known.seq > the_order and not is_former(known.seq) and not gone and false then',
    killedBy: 'test/jobs/postgres-catalog.spec.ts',
    test: 'is superseded by a newer one, and defines only the crons that no newer one has',
  },
  {
    name: 'redis pods: a revision is forgotten with its last pod',
    guards: 'G18',
    defence: 'pods know since when a revision has had no live pod',
    file: 'libs/jobs/src/pods/lua/leave-pod.lua',
    find: "redis.call('ZADD', KEYS[5], 'XX', string.format('%.0f', now), revision)",
    replace: "redis.call('ZREM', KEYS[5], revision)",
    killedBy: 'test/jobs/redis-pod-registry.spec.ts',
    test: 'counts a pod as heard until it leaves',
  },
];
