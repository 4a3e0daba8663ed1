const LEDGER = 'libs/jobs/src/ledger/';
const MEMORY = `${LEDGER}memory-ledger.spec.ts`;

/**
 * The twins that everybody else's tests stand on: what they don't refuse, those tests don't see.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const MEMORY_MUTANTS = [
  {
    name: 'memory ledger: a lower fence is accepted',
    defence: 'a holder that was replaced claims nothing any more',
    file: `${LEDGER}memory-claim.ts`,
    find: 'if (request.fence < cron.fence || (',
    replace: 'if ((',
    killedBy: MEMORY,
  },
  {
    name: 'memory ledger: the instant at the cursor is accepted',
    defence: 'one run per instant',
    file: `${LEDGER}memory-claim.ts`,
    find: 'endOf(request) <= cron.cursor',
    replace: 'endOf(request) < cron.cursor',
    killedBy: MEMORY,
  },
  {
    name: 'memory ledger: the fence of an attempt is not compared',
    defence: 'only the current attempt changes a run',
    file: `${LEDGER}memory-attempt.ts`,
    find: 'run.record.fence === attempt.fence && ',
    replace: '',
    killedBy: MEMORY,
  },
  {
    name: 'memory ledger: the fence follows the clock alone',
    defence: 'run fences strictly increase',
    file: `${LEDGER}memory-attempt.ts`,
    find: 'Math.max(cron.runFence + 1, now * 1000)',
    replace: 'now * 1000',
    killedBy: MEMORY,
  },
  {
    name: 'memory ledger: a living worker is not noticed',
    defence: 'one run has one attempt at a time',
    file: `${LEDGER}memory-ledger-record.ts`,
    find: "return record.state === 'running' && leaseUntil > now;",
    replace: "return record.state === 'running' && leaseUntil < now;",
    killedBy: MEMORY,
  },
  {
    name: 'memory ledger: a done is overwritten',
    defence: 'done is never overwritten',
    file: `${LEDGER}memory-effect.ts`,
    find: 'if (!done) endEffect(',
    replace: 'endEffect(',
    killedBy: MEMORY,
  },
  {
    name: 'memory lease store: the nonce is not compared',
    defence: 'a stale holder neither renews nor releases',
    file: 'libs/lease/src/store/memory-lease-store.ts',
    find: 'return current?.nonce === nonce ? current : undefined;',
    replace: 'return nonce ? current : undefined;',
    killedBy: 'libs/lease/src/store/memory-lease-store.spec.ts',
  },
];
