const OPERATING = 'libs/jobs/src/operating/';
const STORES = `${OPERATING}doctor-stores.spec.ts`;
const PODS = `${OPERATING}doctor-pods.spec.ts`;
const CRONS = `${OPERATING}doctor-crons.spec.ts`;
const DOCTOR = `${OPERATING}doctor.spec.ts`;
const FACTS = 'test/jobs/doctor-stores.spec.ts';
const TOKENS = 'libs/pod/src/tokens.spec.ts';

/**
 * What keeps an examination from staying silent, or from crying wolf, and a stranger from the door.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const DOCTOR_MUTANTS = [
  {
    name: 'doctor: what has to last for some jobs need not',
    defence: 'a job for which a duplicate is damage makes demands on the store',
    file: `${OPERATING}doctor-stores.ts`,
    find: "critical && facts.ledger === 'redis' ? 'correctness' : 'efficiency'",
    replace: "critical && facts.ledger === 'none' ? 'correctness' : 'efficiency'",
    killedBy: STORES,
    test: 'and a duplicate is damage',
  },
  {
    name: 'doctor: one pod that waits for replicas speaks for all',
    defence: 'the pod that waits for the fewest decides',
    file: `${OPERATING}doctor-stores.ts`,
    find: 'Math.min(...waited)',
    replace: 'Math.max(...waited)',
    killedBy: STORES,
    test: 'and one pod does not',
  },
  {
    name: 'doctor: what could not be asked is fine',
    defence: 'what nobody knows is a finding',
    file: `${OPERATING}doctor-stores.ts`,
    find: '  unread,\n  servers,',
    replace: '  servers,',
    killedBy: STORES,
    test: 'the journal could not be asked',
  },
  {
    name: 'doctor: an uncertain measurement is a skewed clock',
    defence: 'half of a round trip is how far off a measurement may be',
    file: `${OPERATING}doctor-pods.ts`,
    find: 'Math.abs(clockSkewMs) - rttMs / 2',
    replace: 'Math.abs(clockSkewMs)',
    killedBy: PODS,
    test: 'a clock may be ahead, as far as that is known',
  },
  {
    name: 'doctor: a deployment that rolls is a broken one',
    defence: 'while a deployment rolls, versions are mixed',
    file: `${OPERATING}doctor-pods.ts`,
    find: 'now - newest < ROLLING_MS',
    replace: 'now - newest < 0',
    killedBy: PODS,
    test: 'versions are mixed while it rolls',
  },
  {
    name: 'doctor: pods with two ledgers are one deployment',
    defence: 'one instant may run once in each ledger',
    file: `${OPERATING}doctor-pods.ts`,
    find: '  differentLedgers,\n',
    replace: '',
    killedBy: PODS,
    test: 'one pod records elsewhere',
  },
  {
    name: 'doctor: a cron is carried out by whoever has its name only',
    defence: 'the handler that a cron names counts',
    file: `${OPERATING}doctor-crons.ts`,
    find: 'return definition.handler ?? definition.name;',
    replace: 'return definition.name;',
    killedBy: CRONS,
    test: 'a run-time cron names one that is there',
  },
  {
    name: 'doctor: a paused cron is overdue',
    defence: 'a pause is meant',
    file: `${OPERATING}doctor-crons.ts`,
    find: "state === 'firing' && !paused",
    replace: "state === 'firing'",
    killedBy: CRONS,
    test: 'a paused cron is late',
  },
  {
    name: 'doctor: a warning does not fail',
    defence: 'the exit code tells whether somebody has to do something',
    file: `${OPERATING}doctor.ts`,
    find: "level === 'bad' || level === 'warn'",
    replace: "level === 'bad'",
    killedBy: DOCTOR,
    test: 'needs care only where it is bad or a warning',
  },
  {
    name: 'doctor: a history that was lost is told once',
    defence: 'a second look tells it too',
    file: `${OPERATING}redis-facts.ts`,
    find: 'changes: [...kept, ...fresh] };',
    replace: 'changes: fresh };',
    killedBy: FACTS,
    test: 'is that another process answers',
  },
  {
    name: 'doctor: whoever is asked to look is overdue since 1970',
    defence: 'a nudge is no instant',
    file: `${OPERATING}redis-facts.ts`,
    find: 'const EARLIEST_DUE = 86_400_000;',
    replace: 'const EARLIEST_DUE = 0;',
    killedBy: FACTS,
    test: 'is which crons are overdue',
  },
  {
    name: 'tokens: any secret is the first one',
    defence: 'a secret is compared with the hash of a token',
    file: 'libs/pod/src/tokens.ts',
    find: "if (timingSafeEqual(digest, Buffer.from(token.sha256, 'hex'))) found = token;",
    replace: "if (timingSafeEqual(digest, digest) || token.sha256 === '') found = token;",
    killedBy: TOKENS,
    test: 'is known by its line and by no other secret',
  },
  {
    name: 'tokens: two people share a name',
    defence: 'a name stands for one token in the records',
    file: 'libs/pod/src/tokens.ts',
    find: 'if (names.has(name)) throw',
    replace: 'if (names.size < 0) throw',
    killedBy: TOKENS,
    test: 'has each name once',
  },
  {
    name: 'tokens: a viewer may what an admin may',
    defence: 'roles are ordered',
    file: 'libs/pod/src/tokens.ts',
    find: 'ROLES.indexOf(role) >= ROLES.indexOf(needed)',
    replace: 'ROLES.indexOf(role) >= 0 || needed === role',
    killedBy: TOKENS,
    test: 'may what the roles before it may',
  },
];
