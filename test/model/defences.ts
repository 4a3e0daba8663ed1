import type { Claim, Bounds } from './bounds.js';

export interface Defence {
  /** As it is called in promela/defences.pml. */
  readonly name: string;
  readonly does: string;
  /** What breaks first without it. */
  readonly property: Claim;
  /** The smallest room in which it does. */
  readonly bounds: Bounds;
}

const PODS: Bounds = { schedulers: 2, workers: 0, instants: 2, most: 1 };
const HANDS: Bounds = { schedulers: 1, workers: 2, instants: 1, most: 2 };
const RUNS: Bounds = { ...HANDS, instants: 2 };
const ASKED: Bounds = { ...HANDS, asks: 1, answers: 1 };

const MEMBERS: Bounds = { schedulers: 0, members: 2, workers: 0, instants: 0, most: 1 };

function defence(name: string, does: string, [property, bounds]: readonly [Claim, Bounds]): Defence {
  return { name, does, property, bounds };
}

/** In the order of their numbers in promela/defences.pml. */
export const DEFENCES: readonly Defence[] = [
  defence('LEASE_BUSY', 'a lease that is held is not given away', ['LEASE', PODS]),
  defence('RENEW_NONCE', 'a renewal extends the term of its own nonce alone', ['TERM', { ...PODS, expiries: 1 }]),
  defence('RENEW_CREATES', 'a renewal never creates a lease', ['TERM', { ...PODS, expiries: 2 }]),
  defence('RELEASE_NONCE', 'a release ends the term of its own nonce alone', [
    'LEASE',
    { ...PODS, expiries: 1, releases: 1 },
  ]),
  defence('LEASE_FLOOR', 'a new fence is above every one that the ledger has accepted', [
    'FLOOR',
    { ...PODS, failovers: 1 },
  ]),
  defence('CLAIM_FENCE', 'a claim with a lower fence is stale', ['I3', { ...PODS, expiries: 1 }]),
  defence('CLAIM_TERM', 'a claim with the fence of another term is stale', ['I3', { ...PODS, failovers: 1 }]),
  defence('CLAIM_CURSOR', 'a claim starts from where the cursor stands', ['I1', { ...PODS, expiries: 1 }]),
  defence('CONFIRM_PENDING', 'only a pending run is confirmed', ['ALONE', HANDS]),
  defence('BEGIN_TERMINAL', 'a run that is over does not begin again', ['I6', HANDS]),
  defence('BEGIN_NONCE', 'a repeated begin is recognised', ['SAME', { ...HANDS, copies: 1 }]),
  defence('BEGIN_BUSY', 'a run that a living worker has is not begun', ['ALONE', HANDS]),
  defence('BEGIN_ATTEMPTS', 'attempts that are used up end the run', ['I10', HANDS]),
  defence('BEGIN_TURN', 'a run waits for the one of its cron that goes on', ['ALONE', { ...RUNS, inLine: 1 }]),
  defence('BEGIN_FENCE', 'the fence of an attempt is larger than every one before', ['I4', HANDS]),
  defence('BEAT_EXPIRED', 'a heartbeat does not revive an expired run lease', ['ALONE', RUNS]),
  defence('SWEEP_ALIVE', 'the sweep leaves a run with a living worker alone', ['ALONE', HANDS]),
  defence('SWEEP_DELIVERS', 'the sweep delivers again what got lost', ['I9', { ...HANDS, losses: 1 }]),
  defence('EFFECT_FENCE', 'only the current attempt begins an effect', ['I5', HANDS]),
  defence('EFFECT_DONE', 'an effect that is done is not begun again', ['I8', HANDS]),
  defence('EFFECT_ASK', 'an effect of unknown outcome is asked about', ['I7', ASKED]),
  defence('FINISH_EFFECT_FENCE', 'only the current attempt says that an effect failed', [
    'I5',
    { ...HANDS, failures: 1 },
  ]),
  defence('FINISH_EFFECT_DONE', 'the record of another attempt does not replace a done', [
    'I8',
    { ...ASKED, silences: 1 },
  ]),
  defence('ANSWER_DONE', 'the answer of a person does not replace a done', ['I8', ASKED]),
  defence('FINISH_FENCE', 'a stale attempt does not end the run', ['I5', HANDS]),
  defence('SINK_FENCE', 'the sink compares fences; without that, the lease alone lets a paused worker write', [
    'SINK',
    HANDS,
  ]),
  defence('SINK_KEY', 'the provider knows keys; without that, a retry does again what was done', ['KEY', HANDS]),
  defence('SESSION_BUSY', 'a term whose session is live is not given away', ['LEASE', MEMBERS]),
  defence('SESSION_CAS', 'a term is replaced only while it names the session that was found to be over', [
    'LEASE',
    { ...MEMBERS, crashes: 2 },
  ]),
  defence('SESSION_CREATES', 'a renewal never creates a session', ['LEASE', { ...MEMBERS, expiries: 1 }]),
  defence('SESSION_FENCE', 'a new fence is above that of the term before', ['FLOOR', { ...MEMBERS, expiries: 1 }]),
  defence('SESSION_RELEASE', 'a release ends the term of its own nonce alone', [
    'LEASE',
    { ...MEMBERS, expiries: 1, releases: 1 },
  ]),
  defence('CLAIM_AGAIN', 'a claim that arrives once more leaves its run where it is', [
    'ALONE',
    { ...HANDS, copies: 1, fused: 1 },
  ]),
];

/** 0 for one that does not exist: then all are kept. */
export function numberOf(name: string): number {
  return DEFENCES.findIndex((one) => one.name === name) + 1;
}
