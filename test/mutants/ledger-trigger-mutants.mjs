const LEDGER = 'libs/jobs/src/ledger/';
const LUA = `${LEDGER}lua/`;
const CLAIM = `${LUA}claim-occurrences.lua`;
const TRIGGER = `${LUA}trigger-run.lua`;
const REDIS = 'test/ledger/redis-ledger.spec.ts';
const BATCHES = 'test/ledger/redis-batches.spec.ts';

/**
 * Runs that somebody asks for, what became of the instants of a stretch of time, and many crons at once.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const LEDGER_TRIGGER_MUTANTS = [
  {
    name: 'trigger: the same order is another one',
    defence: 'a lost reply and an order that is sent again are one run',
    file: TRIGGER,
    find: 'if earlier[1] and earlier[2] == ARGV[2] then',
    replace: 'if false then',
    killedBy: REDIS,
    test: 'is one run, and noted once, when the call is sent again',
  },
  {
    name: 'trigger: a run that is there is written over',
    defence: 'an instant that ran is left alone',
    file: TRIGGER,
    find: "if earlier[1] then return { 'EXISTS', earlier[1] } end",
    replace: '',
    killedBy: REDIS,
    test: 'is left alone by another order of the same id',
  },
  {
    name: 'trigger: an instant that is still to come is accepted',
    defence: 'the schedule’s own instants run once',
    file: TRIGGER,
    find: "if tonumber(instant) > (tonumber(cron[1] or '') or 0) then return { 'AHEAD' } end",
    replace: '',
    killedBy: REDIS,
    test: 'belongs to the schedule while it is still to come',
  },
  {
    name: 'trigger: a forgotten instant is accepted',
    defence: 'what may have run is not run again',
    file: TRIGGER,
    find: 'if not known or redis',
    replace: 'if redis',
    killedBy: REDIS,
    test: 'is left alone when it may have run',
  },
  {
    name: 'trigger: an instant that was asked for is accepted again',
    defence: 'a backfill that is asked for again runs nothing twice, whatever retention deleted',
    file: TRIGGER,
    find: "or redis.call('SISMEMBER', KEYS[8], instant) == 1 then",
    replace: 'then',
    killedBy: REDIS,
    test: 'runs once, also when its run was forgotten meanwhile',
  },
  {
    name: 'trigger: any range will do',
    defence: 'only a range that the instant lies in says that it was skipped',
    file: TRIGGER,
    find: 'local known = after < tonumber(instant) or',
    replace: "local known = range ~= '' or",
    killedBy: REDIS,
    test: 'is left alone when it lies between what was accounted for',
  },
  {
    name: 'trigger: what was before the beginning is forgotten',
    defence: 'a new cron can be backfilled',
    file: TRIGGER,
    find: " or tonumber(instant) <= (tonumber(cron[2] or '') or 0)",
    replace: '',
    killedBy: REDIS,
    test: 'may run when it lies before the first that was accounted for',
  },
  {
    name: 'claim: the beginning moves with every claim',
    defence: 'what the ledger has accounted for since its first claim is not before its beginning',
    file: CLAIM,
    find: "if not cron[4] then call('HSET', record, 'began'",
    replace: "if true then call('HSET', record, 'began'",
    killedBy: REDIS,
    test: 'is left alone when it may have run',
  },
  {
    name: 'trigger: overlap is not looked at',
    defence: 'who triggers a cron gets no second run beside the first unless they force it',
    file: TRIGGER,
    find: 'overlap_of(KEYS[3], ARGV[5], ARGV[6])',
    replace: 'false, 0',
    killedBy: REDIS,
    test: 'is skipped where overlap is not allowed',
  },
  {
    name: 'account: the range that the end lies in is left out',
    defence: 'an instant that was skipped is not taken for missed',
    file: `${LEDGER}redis-history.ts`,
    find: "zrangebyscore(skips, to, '+inf', 'LIMIT', 0, 1)",
    replace: "zrangebyscore(skips, to, '+inf', 'LIMIT', 0, 0)",
    killedBy: REDIS,
    test: 'tells every range that an instant of it lies in',
  },
  {
    name: 'account: what retention deleted counts as missing',
    defence: 'nobody takes a forgotten instant for one that was missed',
    file: `${LUA}forget-runs.lua`,
    find: "if forgotten > before then redis.call('HSET'",
    replace: "if false then redis.call('HSET'",
    killedBy: REDIS,
    test: 'says up to where runs were forgotten',
  },
  {
    name: 'account: what is gone by itself counts as missing',
    defence: 'a record that expired is a forgotten one',
    file: `${LEDGER}redis-history.ts`,
    find: 'Math.max(forgotten, gone.at(-1) ?? 0) || null',
    replace: 'forgotten || null',
    killedBy: REDIS,
    test: 'says up to where runs are gone by themselves',
  },
  {
    name: 'claimAll: a claim that is none rejects its neighbours',
    defence: 'each claim has its own outcome',
    file: `${LEDGER}redis-claim.ts`,
    find: "outcomes[index] = { status: 'rejected', reason };",
    replace: 'throw reason;',
    killedBy: REDIS,
    test: 'rejects a claim that is none, and no other',
  },
  {
    name: 'claimAll: each claim is a call',
    defence: 'a thousand crons at noon are a few calls',
    file: `${LEDGER}redis-claim.ts`,
    find: 'const MOST_CLAIMS = 200;',
    replace: 'const MOST_CLAIMS = 1;',
    killedBy: BATCHES,
    test: 'in a few calls',
  },
];
