const LEASE = 'libs/lease/src/';
const REDIS = 'test/lease/redis-lease-store.spec.ts';
const MANY = `${LEASE}holding/lease-keeper-many.spec.ts`;

/**
 * What makes it safe to take many leases at once, and to end one from outside.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const LEASE_CROWD_MUTANTS = [
  {
    name: 'evict: any term is ended',
    defence: 'only the term that was seen is ended, never its successor',
    file: `${LEASE}lua/evict-lease.lua`,
    find: "if not term or term:match('^%S+ %S+ (%d+) ') ~= ARGV[1] then",
    replace: 'if not term then',
    killedBy: REDIS,
    test: 'changes nothing for another fence',
  },
  {
    name: 'evict: nobody hears of it',
    defence: 'an eviction is announced as a release is',
    file: `${LEASE}lua/evict-lease.lua`,
    find: "redis.call('PUBLISH', ARGV[2], ARGV[3])",
    replace: '',
    killedBy: REDIS,
    test: 'is announced as a release is',
  },
  {
    name: 'many: one key that is none fails them all',
    defence: 'a stranger at one key costs one lease',
    file: `${LEASE}lua/acquire-leases.lua`,
    find: 'local taken, answer = pcall(takeLease,',
    replace: 'local taken, answer = true, (function(f, ...) return f(...) end)(takeLease,',
    killedBy: REDIS,
    test: 'costs its own lease alone',
  },
  {
    name: 'many: what was given unknowingly is kept',
    defence: 'a call that failed leaves no lease behind',
    file: `${LEASE}holding/asking.ts`,
    find: 'if (requests.length > 1 || !isFinal(error)) void this.giveBack(requests);',
    replace: '',
    killedBy: MANY,
    test: 'gives all of them back',
  },
  {
    name: 'many: what came too late is kept',
    defence: 'a term that is nearly over is given back',
    file: `${LEASE}holding/lease-keeper.ts`,
    find: 'if (unwanted.length > 0)',
    replace: 'if (false)',
    killedBy: MANY,
    test: 'keeps none when the reply comes too late',
  },
  {
    name: 'keeper: a loss is not told',
    defence: 'whoever holds a lease hears when it is lost',
    file: `${LEASE}holding/held-lease.ts`,
    find: 'if (onLost) tellWatcher',
    replace: 'if (false && onLost) tellWatcher',
    killedBy: MANY,
    test: 'tells of each that is lost',
  },
  {
    name: 'keeper: the next deadline is found in one call',
    defence: 'a pod may hold more leases than a call takes arguments',
    file: `${LEASE}holding/lease-keeper.ts`,
    find: '[...this.#kept].reduce((at, kept) => Math.min(at, stopAt(kept)), Infinity)',
    replace: 'Math.min(...[...this.#kept].map(stopAt))',
    killedBy: MANY,
    test: 'keeps more than fit on the stack past the first of their deadlines',
  },
];
