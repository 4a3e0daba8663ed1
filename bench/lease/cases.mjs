import { BATCH, CONTENDERS, DELAYS_MS } from './settings.mjs';
import { quantile } from './statistics.mjs';

const ROUND_TRIP =
  'two round trips written by hand to a socket cost over four fifths of what redlock does, so nobody can be 5 times better';
const LONGER_VALUE =
  'the best one can write by hand compares a value that is nothing but the nonce; ours also holds ttl, fence and holder';
const SAME_FREEZE = 'how much of the tail is the machine: nothing waits for the frozen node here either';
const NO_DISTANCE =
  'a round trip without a distance is processor time, of seven processes on the processors of one machine';
const AWAY = `${DELAYS_MS.join(', ')} ms away`;

/**
 * What is measured and what is claimed. A claim's number is ours divided by the other one's, or for `timesBetter` how many
 * times less ours costs. `claim: null` is a comparison that is only shown, and says why.
 */
export const CASES = [
  {
    name: 'alone',
    unit: 'µs of node CPU for acquire + release, one at a time, uncontended',
    ours: 'Leases',
    peers: ['bare', 'raw socket', 'redlock 4.2', 'redlock 5 beta', 'redlock-universal'],
    work: { workload: 'alone', count: 1_000, warmUp: 4 },
    value: ({ cpuUs }, count) => cpuUs / count,
    claims: [
      { against: 'bare', atMost: 1.4 },
      { against: 'redlock 4.2', claim: null, because: ROUND_TRIP },
      { against: 'redlock 5 beta', claim: null, because: ROUND_TRIP },
    ],
  },
  {
    name: 'together',
    unit: `µs of node CPU until ${CONTENDERS} contenders that try once all know, and the winner has released`,
    ours: 'Leases',
    peers: ['bare', 'raw socket', 'redlock 4.2', 'redlock 5 beta', 'redlock-universal'],
    work: { workload: 'together', count: 30, warmUp: 3 },
    value: ({ cpuUs }, count) => cpuUs / count,
    claims: [
      { against: 'bare', atMost: 1.25 },
      { against: 'redlock 4.2', timesBetter: 5 },
      {
        against: 'redlock 5 beta',
        claim: null,
        because: 'the latest release is 4.2.0; the bare scripts on ioredis are not 5 times better than this one either',
      },
    ],
  },
  {
    name: 'renewals',
    unit: `leases renewed per second, ${BATCH} in one call of the store`,
    ours: 'RedisLeaseStore',
    peers: ['bare', 'bare, GET'],
    work: { workload: 'renewals', count: 20, warmUp: 12 },
    value: ({ wallUs }, count) => (count * BATCH * 1e6) / wallUs,
    claims: [
      { against: 'bare, GET', atLeast: 0.85 },
      { against: 'bare', claim: null, because: LONGER_VALUE },
    ],
  },
  {
    name: 'renewals-kept',
    unit: `leases renewed per second, ${BATCH} in one call of renewMany`,
    ours: 'Leases',
    peers: ['bare', 'bare, GET'],
    work: { workload: 'renewals', count: 20, warmUp: 12 },
    value: ({ wallUs }, count) => (count * BATCH * 1e6) / wallUs,
    claims: [
      { against: 'bare, GET', atLeast: 0.85 },
      { against: 'bare', claim: null, because: LONGER_VALUE },
    ],
  },
  {
    name: 'quorum',
    unit: `µs until a majority of 5 has granted, p50, one at a time, the nodes ${AWAY}`,
    ours: 'Leases on a quorum',
    peers: ['bare majority', 'redlock 4.2', 'redlock 5 beta', 'redlock-universal'],
    work: { workload: 'quorum', count: 60, warmUp: 3 },
    quorum: true,
    away: true,
    value: ({ timesUs }) => quantile(timesUs, 0.5),
    claims: [{ against: 'bare majority', atMost: 1.3 }],
  },
  {
    name: 'quorum-loopback',
    unit: 'µs until a majority of 5 has granted, p50, one at a time, the nodes on the loopback interface',
    ours: 'Leases on a quorum',
    peers: ['bare majority', 'redlock 4.2', 'redlock 5 beta', 'redlock-universal'],
    work: { workload: 'quorum', count: 100, warmUp: 3 },
    quorum: true,
    value: ({ timesUs }) => quantile(timesUs, 0.5),
    claims: [{ against: 'bare majority', claim: null, because: NO_DISTANCE }],
  },
  {
    name: 'quorum-frozen',
    unit: 'µs until a majority of 5 has granted from the moment the nearest was frozen, p99 of all rounds, else as quorum',
    ours: 'Leases on a quorum',
    peers: ['bare majority'],
    /** In one round at the end, because they may never answer. */
    patient: ['redlock 4.2', 'redlock 5 beta', 'redlock-universal'],
    work: { workload: 'quorum', count: 100, warmUp: 3 },
    quorum: true,
    away: true,
    frozen: true,
    value: ({ timesUs }) => timesUs,
    overall: (rounds) => quantile(rounds.flat(), 0.99),
    claims: [
      { against: 'its own p50 while all are well', case: 'quorum', atMost: 2 },
      { against: 'bare majority', claim: null, because: SAME_FREEZE },
    ],
  },
];
