/** The fences of claims never go back in PostgreSQL. */

/** @type {readonly import('./mutation-lab.mjs').Mutant[]} */
export default [
  {
    name: 'postgres ledger: a lower fence is accepted',
    guards: 'G3',
    defence: 'a holder that was replaced claims nothing any more',
    file: 'libs/ledger/src/postgres/sql/functions/refuse-claim.sql',
    find: 'asked_by < this.fence or (',
    replace: '(',
    killedBy: 'libs/testing/src/ledger-contract/ledger-adapters.spec.ts',
    test: 'refuses a lower fence as stale',
  },
  {
    name: 'postgres ledger: the accepted fence is not kept',
    guards: 'G3',
    defence: 'accepted fences never decrease',
    file: 'libs/ledger/src/postgres/sql/functions/claim-plain-occurrences.sql',
    find: ' fence = plain.fence,',
    replace: '',
    killedBy: 'libs/testing/src/ledger-contract/ledger-adapters.spec.ts',
    test: 'never goes back to a smaller fence',
  },
  {
    name: 'PostgreSQL plain: a claim with a lower fence is accepted',
    guards: 'G3',
    defence: 'accepted fences never decrease',
    file: 'libs/ledger/src/postgres/sql/functions/claim-plain-occurrences.sql',
    find: '(asked.fence > cron.fence or (asked.fence = cron.fence and asked.term = cron.term))',
    replace: 'true',
    killedBy: 'libs/testing/src/ledger-contract/ledger-adapters.spec.ts',
    test: 'refuses a lower fence as stale',
  },
];
