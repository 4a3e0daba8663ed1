const SCHEDULING = 'libs/jobs/src/scheduling/';
const SWEEPER_SPEC = `${SCHEDULING}sweeper.spec.ts`;
const RECOVERY_SPEC = `${SCHEDULING}recovery.spec.ts`;
const OVERDUE = 'libs/jobs/src/ledger/lua/list-overdue.lua';
const REDIS = 'test/ledger/redis-ledger.spec.ts';
const BATCHES = 'test/ledger/redis-batches.spec.ts';

/**
 * What looks after open runs, of many crons at once.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const SWEEP_MUTANTS = [
  {
    name: 'sweep: a cron that was claimed for meanwhile counts as idle',
    defence: 'an open run is looked after',
    file: `${SCHEDULING}sweeper.ts`,
    find: 'for (const cron of quiet) this.#asked.delete(cron);',
    replace: 'for (const cron of quiet) this.leave(cron);',
    killedBy: SWEEPER_SPEC,
    test: 'asks again about a cron without open runs that was claimed for meanwhile',
  },
  {
    name: 'sweep: a cron that was given up while it was asked about is swept for ever',
    defence: 'a pod sweeps what it holds',
    file: `${SCHEDULING}sweeper.ts`,
    find: '    this.#asked.delete(cron);\n  }\n\n  /** Resolves',
    replace: '  }\n\n  /** Resolves',
    killedBy: SWEEPER_SPEC,
    test: 'asks no more about a cron that was given up while it was asked about',
  },
  {
    name: 'sweep: what was given up since the round began is asked about',
    defence: 'a pod sweeps what it holds',
    file: `${SCHEDULING}sweeper.ts`,
    find: 'if (this.#restless.delete(cron)) this.#asked.add(cron);',
    replace: 'this.#restless.delete(cron), this.#asked.add(cron);',
    killedBy: SWEEPER_SPEC,
    test: 'leaves out what was given up since the round began',
  },
  {
    name: 'sweep: an idle cron is never asked about',
    defence: 'a run that somebody made and told nobody of is delivered all the same',
    file: `${SCHEDULING}sweeper.ts`,
    find: 'if (isAll) for (const cron of this.#watched) this.#restless.add(cron);',
    replace: '',
    killedBy: SWEEPER_SPEC,
    test: 'asks about idle crons once in a dozen sweeps',
  },
  {
    name: 'sweep: thousands of crons are asked about at once',
    defence: 'a sweep leaves the store to the workers',
    file: `${SCHEDULING}sweeper.ts`,
    find: 'const AT_ONCE = 200;',
    replace: 'const AT_ONCE = 10_000;',
    killedBy: SWEEPER_SPEC,
    test: 'asks about two hundred crons in one call',
  },
  {
    name: 'sweep: what failed counts as idle',
    defence: 'a cron that could not be swept is swept again',
    file: `${SCHEDULING}recovery.ts`,
    find: "if (found?.status !== 'fulfilled') throw found?.reason;",
    replace: "if (found?.status !== 'fulfilled') return 0;",
    killedBy: RECOVERY_SPEC,
    test: 'counts a cron that could not be swept',
  },
  {
    name: 'sweep: nothing is forgotten',
    defence: 'the history of a cron is bounded',
    file: `${SCHEDULING}recovery.ts`,
    find: 'if (surplus) await',
    replace: 'if (watched < 0) await',
    killedBy: RECOVERY_SPEC,
    test: 'forgets the oldest finished runs',
  },
  {
    name: 'sweep: every cron is asked to forget',
    defence: 'a cron that keeps what it has costs no call',
    file: `${SCHEDULING}recovery.ts`,
    find: 'if (surplus) await',
    replace: 'await',
    killedBy: RECOVERY_SPEC,
    test: 'asks for it only where there are such',
  },
  {
    name: 'overdue: a cron that is broken stops the sweep of its neighbours',
    defence: 'a cron is its own trouble',
    file: OVERDUE,
    find: 'local read, keep = redis.pcall,',
    replace: 'local read, keep = redis.call,',
    killedBy: BATCHES,
    test: 'sweeps the neighbours of a cron whose record is broken',
  },
  {
    name: 'overdue: a call that failed takes the others with it',
    defence: 'a cron is its own trouble',
    file: 'libs/jobs/src/ledger/redis-overdue.ts',
    find: "return crons.map(() => ({ status: 'rejected', reason }));",
    replace: 'throw reason;',
    killedBy: BATCHES,
    test: 'sweeps the neighbours of a cron whose record is broken',
  },
  {
    name: 'overdue: thousands of crons are looked at by one script',
    defence: 'no script holds up the others for long',
    file: 'libs/jobs/src/ledger/redis-overdue.ts',
    find: 'const MOST_LOOKED_AT = 200;',
    replace: 'const MOST_LOOKED_AT = 10_000;',
    killedBy: BATCHES,
    test: 'claims, reads and confirms a thousand crons in a few calls',
  },
  {
    name: 'overdue: the ranges are not counted',
    defence: 'a cron that is never due to run does not remember its skips for ever',
    file: OVERDUE,
    find: 'runs > keep or ranges > keep',
    replace: 'runs > keep',
    killedBy: REDIS,
    test: 'tells of which crons more ranges are there than are kept',
  },
  {
    name: 'engine: what the ledger has forgotten is believed to be there',
    defence: 'an instant that was lost with a failover of the ledger is claimed again before the next one',
    file: 'libs/jobs/src/scheduling/engine.ts',
    find: 'for (const { entry } of await fallenBehind(still, this.deps)) this.nudge(entry.definition.name);',
    replace: 'void still;',
    killedBy: 'libs/jobs/src/scheduling/forgetful-ledger.spec.ts',
    test: 'what its ledger has forgotten',
  },
];
