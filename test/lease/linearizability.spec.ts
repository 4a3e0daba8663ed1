import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_FENCE, type LeaseStore } from '@fencepost/lease';
import { RedisLeaseStore, closeRedis } from '@fencepost/lease/redis';
import type { AcquireReply, AcquireRequest, Term } from '@fencepost/lease/store';
import { MemoryLeaseStore } from '@fencepost/lease/testing';
import { isLinearizable } from '../support/linearizability.js';
import { freshPrefix, testRedis } from '../support/redis.js';
import { replyDroppingProxy, type ReplyDroppingProxy } from '../support/reply-dropping-proxy.js';
import type { Model, Operation } from '../support/linearizability.js';

type LeaseInput =
  | { readonly ask: 'acquire' | 'renew' | 'release'; readonly nonce: string; readonly id: number }
  /** The term that operation `of` has begun or extended runs out. */
  | { readonly ask: 'expire'; readonly of: number };

type LeaseOutput = { readonly fence: number } | 'busy' | boolean;
type LeaseOperation = Operation<LeaseInput, LeaseOutput>;

interface LeaseState {
  readonly nonce: string | null;
  /** Of the present term; `null` where the reply that told it got lost. */
  readonly fence: number | null;
  /** The largest that is known to have been issued. */
  readonly last: number;
  /** The operation by which the term lasts as long as it does. */
  readonly lastsBy: number;
}

/** One lease as it has to behave, whoever asks and however often. */
const LEASE_MODEL: Model<LeaseState, LeaseInput, LeaseOutput> = {
  initial: { nonce: null, fence: null, last: 0, lastsBy: -1 },
  step(state, input, output) {
    if (input.ask === 'expire') return state.lastsBy === input.of && state.nonce !== null ? free(state) : null;
    if (input.ask === 'acquire') return acquire(state, input, output);
    const ours = state.nonce === input.nonce;
    // Where nobody knows whether it happened, one that changes nothing need not be tried.
    if (output === undefined ? !ours : output !== ours) return null;
    if (!ours) return state;
    return input.ask === 'release' ? free(state) : { ...state, lastsBy: input.id };
  },
};

function acquire(
  state: LeaseState,
  { nonce, id }: { readonly nonce: string; readonly id: number },
  output: LeaseOutput | undefined,
): LeaseState | null {
  const held = state.nonce !== null;
  if (held && state.nonce !== nonce) return output === 'busy' ? state : null;
  if (output === 'busy' || typeof output === 'boolean') return null;
  if (output === undefined) return { ...state, nonce, fence: held ? state.fence : null, lastsBy: id };
  // The same term keeps its fence, a new one gets a larger one.
  const fits = held && state.fence !== null ? output.fence === state.fence : output.fence > state.last;
  return fits ? { nonce, fence: output.fence, last: output.fence, lastsBy: id } : null;
}

function free(state: LeaseState): LeaseState {
  return { ...state, nonce: null, fence: null, lastsBy: -1 };
}

/** A server may be late by so much: its clock counts whole milliseconds. */
const SLACK_MS = 5;

/**
 * The history with what nobody called: that terms run out, their ttl after they were last asked for. Whether one has is not
 * answered by anybody, so it need not have happened.
 */
function withExpiries(history: readonly LeaseOperation[], ttlMs: number): LeaseOperation[] {
  const expiries = history.flatMap(({ input, output, calledAt, returnedAt }): LeaseOperation[] => {
    const lasts = input.ask !== 'expire' && input.ask !== 'release' && output !== 'busy' && output !== false;
    if (!lasts) return [];
    const [from, until] = [calledAt + ttlMs - SLACK_MS, returnedAt + ttlMs + SLACK_MS];
    return [{ input: { ask: 'expire', of: input.id }, output: undefined, calledAt: from, returnedAt: until }];
  });
  return [...history, ...expiries];
}

const RESOURCE = 'r';
const CLIENTS = 5;
const TERMS = 12;
/** How long a command may still take effect whose connection has ended. */
const ON_ITS_WAY_MS = 100;

/** Notes what is asked and answered, and when. */
class Recorder {
  readonly history: LeaseOperation[] = [];

  constructor(private readonly ttlMs: number) {}

  async term(store: LeaseStore): Promise<void> {
    const term: Term = { resource: RESOURCE, nonce: randomUUID() };
    const request = { ...term, holder: 'pod/1', ttlMs: this.ttlMs, floor: NO_FENCE };
    const got = await this.#note('acquire', term, async () => answer(await store.acquire(request)));
    // Lost: asked again, as a client does.
    const again = got ?? (await this.#note('acquire', term, async () => answer(await store.acquire(request))));
    if (again === 'busy') return pause(Math.random() * this.ttlMs);
    for (let n = 0; n < 2; n++) {
      // Now and then for longer than the term lasts.
      await pause(Math.random() * this.ttlMs * 1.3);
      await this.#note('renew', term, async () => (await store.renew([term], this.ttlMs))[0] ?? false);
    }
    if (Math.random() < 0.7) await this.#note('release', term, async () => (await store.release([term]))[0] ?? false);
  }

  async #note(
    ask: 'acquire' | 'renew' | 'release',
    { nonce }: Term,
    call: () => Promise<LeaseOutput>,
  ): Promise<LeaseOutput | undefined> {
    const input: LeaseInput = { ask, nonce, id: this.history.length };
    const calledAt = performance.now();
    // Its place is taken at once: the id has to be unique also while others call.
    const place = this.history.push({ input, output: undefined, calledAt, returnedAt: Infinity }) - 1;
    const output = await call().catch(() => undefined);
    // Nothing is sent again here, so what reached the server did so before the connection ended.
    const returnedAt = performance.now() + (output === undefined ? ON_ITS_WAY_MS : 0);
    this.history[place] = { input, output, calledAt, returnedAt };
    return output;
  }
}

function answer(reply: AcquireReply): LeaseOutput {
  return reply.acquired ? { fence: reply.fence } : 'busy';
}

type Enough = (history: readonly LeaseOperation[]) => boolean;

async function record(stores: readonly LeaseStore[], ttlMs: number, enough: Enough = () => true) {
  const recorder = new Recorder(ttlMs);
  await Promise.all(
    stores.map(async (store) => {
      for (let n = 0; n < TERMS || !enough(recorder.history); n++) await recorder.term(store);
    }),
  );
  return recorder.history;
}

/** Granted, busy, yes, no, and lost: without them it would be too easy. */
const hasEveryAnswer: Enough = (history) =>
  new Set(history.map(({ output }) => (typeof output === 'object' ? 'granted' : output))).size === 5;

function holds(history: readonly LeaseOperation[], ttlMs: number): boolean {
  return isLinearizable(LEASE_MODEL, withExpiries(history, ttlMs));
}

describe('what clients of one Redis saw', () => {
  let prefix: string;
  let proxy: ReplyDroppingProxy;
  let connections: Redis[];
  beforeAll(async () => {
    prefix = freshPrefix();
    proxy = await replyDroppingProxy(testRedis());
    const options = {
      ...{ commandTimeout: 2_000, maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false },
      ...{ enableReadyCheck: false, retryStrategy: () => 1 },
    };
    connections = Array.from({ length: CLIENTS }, (_, n) => new Redis(n % 2 ? proxy.url : testRedis(), options));
    for (const connection of connections) connection.on('error', () => {});
  });
  afterAll(async () => {
    const [redis] = connections;
    const keys = (await redis?.keys(`${prefix}:*`)) ?? [];
    if (keys.length > 0) await redis?.del(keys);
    await Promise.all(connections.map(closeRedis));
    await proxy.close();
  });

  async function dropNowAndThen(): Promise<void> {
    if (Math.random() < 0.15) proxy.dropNextReply();
  }

  it.each([20, 200])('could have come from one lease of %d ms, whatever replies got lost', async (ttlMs) => {
    const tenant = `${ttlMs}`;
    const stores = connections.map((redis) => new RedisLeaseStore({ redis, prefix, tenant }));
    const history = await record(
      stores.map((store, n) => (n % 2 ? before(store, dropNowAndThen) : store)),
      ttlMs,
      hasEveryAnswer,
    );
    expect(holds(history, ttlMs)).toBe(true);
  });
});

describe('the check itself', () => {
  /** Asks and answers a while later, so that calls overlap. */
  const late = (store: LeaseStore) => before(store, aWhile, aWhile);
  const aWhile = () => pause(Math.random() * 3);

  const BROKEN: Record<string, (store: MemoryLeaseStore) => Partial<LeaseStore>> = {
    'lets a second holder in now and then': (store) => ({
      acquire: async (request: AcquireRequest) => {
        if (Math.random() < 0.3) store.clear();
        return store.acquire(request);
      },
    }),
    'releases whoever holds it': (store) => ({
      release: async () => {
        store.clear();
        return [true];
      },
    }),
    'renews what is over': () => ({ renew: async () => [true] }),
    'issues the same fence again': (store) => ({
      acquire: async (request: AcquireRequest) => {
        const reply = await store.acquire(request);
        return reply.acquired ? { ...reply, fence: 7 as never } : reply;
      },
    }),
  };

  it('passes a sound store', async () => {
    const store = new MemoryLeaseStore();
    expect(
      holds(
        await record(
          Array.from({ length: CLIENTS }, () => late(store)),
          20,
        ),
        20,
      ),
    ).toBe(true);
  });

  it.each(Object.entries(BROKEN))('turns down a store that %s', async (_what, breaks) => {
    const sound = new MemoryLeaseStore();
    const broken = { ...before(sound, async () => {}), ...breaks(sound) };
    const clients = Array.from({ length: CLIENTS }, () => late(broken));
    // Whether a defect shows depends on who meets whom: one history in some hundred looks sound all the same.
    let passed = 0;
    while (passed < 20 && holds(await record(clients, 20), 20)) passed += 1;
    expect(passed).toBeLessThan(20);
  });
});

/** The store, with something else to do before each call, and after it. */
function before(store: LeaseStore, first: () => Promise<void>, then: () => Promise<void> = async () => {}): LeaseStore {
  const wrapped = async <T>(call: () => Promise<T>): Promise<T> => {
    await first();
    const reply = await call();
    await then();
    return reply;
  };
  return {
    acquire: (request) => wrapped(() => store.acquire(request)),
    renew: (terms, ttlMs) => wrapped(() => store.renew(terms, ttlMs)),
    release: (terms) => wrapped(() => store.release(terms)),
    inspect: (resources) => store.inspect(resources),
    watchReleases: (onReleased) => store.watchReleases(onReleased),
  };
}
