const NEST = 'libs/jobs/src/nest/';
const HANDLER = `${NEST}handler-options.ts`;
const HANDLER_SPEC = `${NEST}handler-options.spec.ts`;
const CLASSIFICATION = `${NEST}classification.ts`;
const DURABILITY = `${NEST}durability.ts`;
const CLASSIFICATION_SPEC = `${NEST}classification.spec.ts`;

/**
 * What handlers may say of themselves, and what keeps a job for which a duplicate is damage off a store that may cause one.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const CLASSIFICATION_MUTANTS = [
  {
    name: 'handler options: a number of places without a key',
    defence: 'an option that would do nothing is refused',
    file: HANDLER,
    find: 'if (maxPerKey === undefined || concurrencyKey !== undefined) return null;',
    replace: 'if (maxPerKey !== null) return null;',
    killedBy: HANDLER_SPEC,
    test: 'is refused where it can not be',
  },
  {
    name: 'classification: what was found refuses nobody',
    defence: 'a job for which a duplicate is damage does not start where the store may lose what it acknowledged',
    file: CLASSIFICATION,
    find: '  if (refused.length === 0) return;\n',
    replace: '  if (refused.length >= 0) return;\n',
    killedBy: CLASSIFICATION_SPEC,
    test: 'refuses to start with one sentence',
  },
  {
    name: 'classification: the store is asked as for any job',
    defence: 'what has to last is asked about, and the replicas that are waited for are counted',
    file: CLASSIFICATION,
    find: "{ criticality: 'correctness', awaitedReplicas: waitReplicas }",
    replace: "{ criticality: 'efficiency' }",
    killedBy: CLASSIFICATION_SPEC,
    test: 'asks what the store can promise',
  },
  {
    name: 'classification: warnings are swallowed',
    defence: 'what nearly suffices is told',
    file: CLASSIFICATION,
    find: "if (danger === 'warn') telemetry",
    replace: "if (danger !== 'warn' && danger !== 'refuse') telemetry",
    killedBy: CLASSIFICATION_SPEC,
    test: 'starts with a warning',
  },
  {
    name: 'classification: commits that come before the disk are fine',
    defence: 'a PostgreSQL that acknowledges before it has written keeps no such ledger',
    file: DURABILITY,
    find: "name === 'full_page_writes' ? 'warn' : 'refuse'",
    replace: "'warn'",
    killedBy: CLASSIFICATION_SPEC,
    test: 'refuses a PostgreSQL',
  },
];
