/** How much there is of each, and how much may go wrong. What is left out is 0. Read by the init of promela/fencepost.pml. */
export type Bounds = Readonly<
  Partial<
    Record<
      | 'schedulers'
      | 'members'
      | 'workers'
      | 'instants'
      | 'most'
      | 'asks'
      | 'inLine'
      | 'answers'
      | 'fused'
      | 'crashes'
      | 'expiries'
      | 'failovers'
      | 'rollbacks'
      | 'losses'
      | 'failures'
      | 'silences'
      | 'copies'
      | 'releases'
      | 'cancels',
      number
    >
  >
>;

export interface Configuration {
  readonly name: string;
  /** `fair` is the search for a run that never ends, under weak fairness; `safe` looks for a state that must not be. */
  readonly search: 'safe' | 'fair';
  readonly bounds: Bounds;
}

const ONE_RUN: Bounds = { schedulers: 1, workers: 2, instants: 1, most: 2 };
const TWO_RUNS: Bounds = { ...ONE_RUN, instants: 2 };
const TWO_PODS: Bounds = { ...ONE_RUN, schedulers: 2 };
/** Claim and enqueue are one step. */
const FUSED = { fused: 1 };
const PODS_ALONE: Bounds = { schedulers: 3, workers: 0, instants: 2, most: 1 };

const MEMBERS: Bounds = { schedulers: 0, members: 2, workers: 0, instants: 0, most: 1 };

function safe(name: string, bounds: Bounds): Configuration {
  return { name, search: 'safe', bounds };
}

function fair(name: string, bounds: Bounds): Configuration {
  return { name, search: 'fair', bounds };
}

/** A minute and a half on one core. Each is exhausted. */
export const CONFIGURATIONS: readonly Configuration[] = [
  safe('three pods, a failover that loses leases, a request that comes twice', {
    ...PODS_ALONE,
    ...{ expiries: 1, failovers: 1, crashes: 1, copies: 1 },
  }),
  safe('three pods that lose and release leases', { ...PODS_ALONE, expiries: 2, releases: 2, crashes: 1 }),
  safe('two pods, two workers, a crash, a lost lease', { ...TWO_PODS, crashes: 1, expiries: 1, losses: 1 }),
  safe('two pods, two workers, a failover that loses leases', { ...TWO_PODS, crashes: 1, failovers: 1 }),
  safe('two runs in line', { ...TWO_RUNS, inLine: 1 }),
  safe('two runs, overlap skip', TWO_RUNS),
  safe('an effect that is tried again, three attempts', { ...ONE_RUN, most: 3, crashes: 1, failures: 1, silences: 1 }),
  safe('an effect that is tried again, a request that comes twice', { ...ONE_RUN, crashes: 1, silences: 1, copies: 1 }),
  safe('an effect that asks', { ...ONE_RUN, asks: 1, answers: 2, crashes: 1, failures: 1, silences: 1 }),
  safe('an effect that asks, a request that comes twice, a cancelled run', {
    ...ONE_RUN,
    ...{ asks: 1, answers: 1, failures: 1, silences: 1, copies: 1, cancels: 1 },
  }),
  safe('two pods with sessions that expire, are lost and closed, a term that is taken without a notice', {
    ...MEMBERS,
    ...{ expiries: 2, crashes: 1, releases: 1, failovers: 1, losses: 1 },
  }),
  safe('one step: two pods, two workers, a crash, a lost lease', {
    ...TWO_PODS,
    ...FUSED,
    crashes: 1,
    expiries: 1,
    losses: 1,
  }),
  safe('one step: two runs in line, a request that comes twice', { ...TWO_RUNS, ...FUSED, inLine: 1, copies: 1 }),
  safe('one step: a ledger that fails over and loses what it had accepted', { ...TWO_PODS, ...FUSED, rollbacks: 1 }),
  safe('a ledger that fails over and loses what it had accepted', { ...TWO_PODS, rollbacks: 1 }),
  safe('a ledger that fails over together with the leases', { ...ONE_RUN, rollbacks: 1, failovers: 1 }),
  fair('every run ends: crashes and lost deliveries', { ...ONE_RUN, crashes: 1, losses: 1 }),
  fair('every run ends: two pods and a lost lease', { ...TWO_PODS, expiries: 1 }),
  fair('every run ends, one step: two pods, a crash and a lost delivery', {
    ...TWO_PODS,
    ...FUSED,
    crashes: 1,
    losses: 1,
  }),
  fair('every run ends: an effect that asks', { ...ONE_RUN, asks: 1, answers: 1, crashes: 1 }),
];

/** Some seconds. */
export const QUICK_CONFIGURATIONS: readonly Configuration[] = [
  safe('two pods, a failover that loses leases', { ...PODS_ALONE, schedulers: 2, expiries: 1, failovers: 1 }),
  safe('two pods with sessions that expire and are lost', { ...MEMBERS, expiries: 1, releases: 1, failovers: 1 }),
  safe('two pods, two workers', TWO_PODS),
  safe('one step: two pods, a request that comes twice', { ...TWO_PODS, ...FUSED, copies: 1 }),
  safe('an effect that is tried again', { ...ONE_RUN, silences: 1, crashes: 1 }),
  safe('an effect that asks', { ...ONE_RUN, asks: 1, answers: 1, silences: 1 }),
  safe('a ledger that loses what it had accepted', { ...ONE_RUN, rollbacks: 1 }),
  fair('every run ends', { ...ONE_RUN, losses: 1 }),
  fair('every run ends, one step', { ...ONE_RUN, ...FUSED, losses: 1 }),
];

/** What is claimed, by the names that promela/world.pml has for it. The I are those of the protocols. */
export const CLAIMS = {
  I1: 'one run per instant',
  I3: 'accepted scheduler fences never decrease, and an accepted fence belongs to one term',
  I4: 'run fences strictly increase',
  I5: 'only the current fence and nonce change a running run',
  I6: 'a terminal state is final',
  I7: 'an effect that asks never happens twice by itself',
  I8: 'done is never overwritten',
  I9: 'every claimed run ends',
  I10: 'attempts are bounded',
  LEASE: 'two pods trust their terms at once only if the store has lost an acknowledged write',
  TERM: 'a term that was followed by another one is never extended',
  FLOOR: 'a new term is refused only if a newer one has been accepted since it asked',
  ALONE: 'two workers never trust their run leases at once',
  SAME: 'a repeated begin is answered as the first one was',
  SINK: 'the fences of a row never go back, and an older attempt never writes after a newer one',
  KEY: 'a provider carries a key out once',
} as const;

export type Claim = keyof typeof CLAIMS;

export function isClaim(word: string): word is Claim {
  return Object.hasOwn(CLAIMS, word);
}
