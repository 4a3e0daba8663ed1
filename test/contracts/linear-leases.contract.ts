import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { NO_FENCE, type LeaseStore } from '@fencepost/lease';
import type { AcquireReply, Term } from '@fencepost/lease/store';
import type { LeaseStoreHarness } from '@fencepost/lease/testing';
import { searchOrder, type Model, type Operation } from '../support/linearizability.js';
import { isLong } from '../support/run-length.js';

type LeaseInput =
  | { readonly ask: 'acquire' | 'renew' | 'release'; readonly nonce: string; readonly id: number }
  /** The term that operation `of` has begun or extended runs out. */
  | { readonly ask: 'expire'; readonly of: number };
type LeaseOutput = { readonly fence: number } | 'busy' | boolean;
type LeaseOperation = Operation<LeaseInput, LeaseOutput>;

interface LeaseState {
  readonly nonce: string | null;
  /** Of the present term; `null` where the reply with it was lost. */
  readonly fence: number | null;
  /** The largest that is known to have been issued. */
  readonly last: number;
  /** The operation by which the term lasts as long as it does. */
  readonly lastsBy: number;
}

/** What a store may do beyond that: in a quorum, contenders may split the votes and all be refused. */
export interface LinearOptions {
  readonly refusesInRaces?: boolean;
}

/** One lease as it has to behave, whoever asks and however often. */
function modelOf({ refusesInRaces = false }: LinearOptions): Model<LeaseState, LeaseInput, LeaseOutput> {
  return {
    initial: { nonce: null, fence: null, last: 0, lastsBy: -1 },
    step(state, input, output) {
      if (input.ask === 'expire') return state.lastsBy === input.of && state.nonce !== null ? free(state) : null;
      if (input.ask === 'acquire') return output === 'busy' && refusesInRaces ? state : acquired(state, input, output);
      const isOurs = state.nonce === input.nonce;
      // A lost reply of a call that changed nothing need not be tried.
      if (output === undefined ? !isOurs : output !== isOurs) return null;
      if (!isOurs) return state;
      return input.ask === 'release' ? free(state) : { ...state, lastsBy: input.id };
    },
  };
}

function acquired(
  state: LeaseState,
  { nonce, id }: { readonly nonce: string; readonly id: number },
  output: LeaseOutput | undefined,
): LeaseState | null {
  const isHeld = state.nonce !== null;
  if (isHeld && state.nonce !== nonce) return output === 'busy' ? state : null;
  if (output === 'busy' || typeof output === 'boolean') return null;
  if (output === undefined) return { ...state, nonce, fence: isHeld ? state.fence : null, lastsBy: id };
  // The same term keeps its fence, a new one gets a larger one.
  const fits = isHeld && state.fence !== null ? output.fence === state.fence : output.fence > state.last;
  return fits ? { nonce, fence: output.fence, last: output.fence, lastsBy: id } : null;
}

function free(state: LeaseState): LeaseState {
  return { ...state, nonce: null, fence: null, lastsBy: -1 };
}

/** A server may be late by this much: its clock counts whole milliseconds. */
const SLACK_MS = 5;

/** With what no client calls: terms run out, their ttl after they were last asked for. Each may have, or not yet. */
function withExpiries(history: readonly LeaseOperation[], { ttlMs, coarsenessMs }: Terms): LeaseOperation[] {
  const expiries = history.flatMap(({ input, output, calledAt, returnedAt }): LeaseOperation[] => {
    const lasts = input.ask !== 'expire' && input.ask !== 'release' && output !== 'busy' && output !== false;
    if (!lasts) return [];
    const until = returnedAt + ttlMs + coarsenessMs + SLACK_MS;
    return [
      {
        input: { ask: 'expire', of: input.id },
        output: undefined,
        calledAt: calledAt + ttlMs - SLACK_MS,
        returnedAt: until,
      },
    ];
  });
  return [...history, ...expiries];
}

interface Terms {
  readonly ttlMs: number;
  readonly coarsenessMs: number;
  /** The longest that a client waits between two calls. */
  readonly pauseMs: number;
  readonly perClient: number;
}

const CLIENTS = 4;
const MAX_STEPS = 500_000;
const LOST_REPLIES = 0.1;

/** Notes the calls and replies of one history. */
class Recorder {
  readonly history: LeaseOperation[] = [];

  constructor(
    private readonly store: LeaseStore,
    private readonly terms: Terms,
  ) {}

  async client(): Promise<void> {
    for (let n = 0; n < this.terms.perClient; n += 1) await this.#term();
  }

  async #term(): Promise<void> {
    const { store } = this;
    const { ttlMs, pauseMs } = this.terms;
    const term: Term = { resource: 'linear', nonce: randomUUID() };
    const request = { ...term, holder: 'pod/1', ttlMs, floor: NO_FENCE };
    const acquire = () => this.#note('acquire', term, async () => outputOf(await store.acquire(request)));
    const got = (await acquire()) ?? (await acquire());
    if (got === 'busy') return pause(Math.random() * pauseMs);
    await pause(Math.random() * pauseMs);
    await this.#note('renew', term, async () => (await store.renew([term], ttlMs))[0] ?? false);
    await pause(Math.random() * pauseMs);
    await this.#note('release', term, async () => (await store.release([term]))[0] ?? false);
  }

  /** The caller doesn't learn some of the replies, as after a lost connection. */
  async #note(ask: 'acquire' | 'renew' | 'release', { nonce }: Term, call: () => Promise<LeaseOutput>) {
    const input: LeaseInput = { ask, nonce, id: this.history.length };
    const calledAt = performance.now();
    // Its place is taken at once: the id has to be unique also while others call.
    const place = this.history.push({ input, output: undefined, calledAt, returnedAt: Infinity }) - 1;
    const reply = await call();
    const output = Math.random() < LOST_REPLIES ? undefined : reply;
    this.history[place] = { input, output, calledAt, returnedAt: performance.now() };
    return output;
  }
}

function outputOf(reply: AcquireReply): LeaseOutput {
  return reply.acquired ? { fence: reply.fence } : 'busy';
}

/** Whether what some clients of the store saw could have come from one lease. */
export async function isLinear(store: LeaseStore, terms: Terms, options: LinearOptions = {}): Promise<boolean> {
  const recorder = new Recorder(store, terms);
  await Promise.all(Array.from({ length: CLIENTS }, () => recorder.client()));
  return searchOrder(modelOf(options), withExpiries(recorder.history, terms), MAX_STEPS) !== 'none';
}

/** How many histories, and whether terms run out meanwhile; a store whose shortest term lasts seconds lets none run out. */
export function linearLeases(makeHarness: () => Promise<LeaseStoreHarness>, options: LinearOptions = {}): void {
  it('answers all clients as one lease would, whatever replies are lost', async () => {
    for (let n = 0; n < (isLong ? 20 : 1); n += 1) {
      const harness = await makeHarness();
      const { store, shortTtlMs = 50, coarsenessMs = 0 } = harness;
      const runsOut = isLong && n % 2 === 1 && shortTtlMs <= 100;
      const terms = runsOut ? { ttlMs: shortTtlMs, pauseMs: shortTtlMs * 1.3 } : { ttlMs: 60_000, pauseMs: 3 };
      const isSound = await isLinear(store, { ...terms, coarsenessMs, perClient: 8 }, options);
      await harness.close();
      expect(isSound).toBe(true);
    }
  });
}
