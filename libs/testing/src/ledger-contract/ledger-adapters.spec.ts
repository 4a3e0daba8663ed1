import { describe, expect } from 'vitest';
import { ManualClock } from '@fencepost/lease/testing';
import { RedisLedger } from '@fencepost/ledger/redis';
import type { AttemptRef, Ledger, LedgerTiming, OverdueRuns } from '@fencepost/ledger';
import { MemoryLedger } from '@fencepost/ledger/memory';
import type { LedgerHarness } from './stage.js';
import { ledgerContract } from './index.js';
import { invariantsContract } from './invariants.contract.js';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { usePostgresLedger } from '../../../../test/support/postgres-ledger-sandbox.js';

/** By the clock of one of the two, and so in neither the same. */
const OF_A_CLOCK = new Set([
  'waitMs',
  'ageMs',
  'fence',
  'at',
  'until',
  'since',
  'scheduledAt',
  'dueAt',
  'notBefore',
  'forgotten',
]);

/** What has to be the same on both sides: every word and count, and of the times only whether there are any. */
function withoutTimes(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (key, inner: unknown) => {
      // Those of an overdue list come by the time of their next look, which on one side may be the same for several.
      if (key === 'runs') return (inner as OverdueRuns['runs']).toSorted((a, b) => (a.runId < b.runId ? -1 : 1));
      return typeof inner === 'number' && (OF_A_CLOCK.has(key) || key.endsWith('At')) ? 'a time' : inner;
    }),
  );
}

type Call = Exclude<keyof Ledger, 'claimStep' | 'steps'>;

/** Asks both ledgers everything, and fails at the first answer in which they differ. */
function adapters(store: Ledger, memory: Ledger): Ledger {
  const fences = new Map<string, AttemptRef['fence']>();
  /** The same attempt has another fence on the other side. */
  const onTheOtherSide = (argument: unknown): unknown => {
    if (typeof argument !== 'object' || argument === null || !('nonce' in argument)) return argument;
    const { nonce } = argument as AttemptRef;
    return fences.has(nonce) ? { ...argument, fence: fences.get(nonce) } : argument;
  };
  const ask = async (name: Call, args: unknown[]): Promise<unknown> => {
    const call = (ledger: Ledger, given: unknown[]) => Reflect.apply(ledger[name], ledger, given) as Promise<unknown>;
    const answer = await call(store, args);
    const other = await call(memory, args.map(onTheOtherSide));
    expect({ [name]: withoutTimes(other) }).toEqual({ [name]: withoutTimes(answer) });
    if (name === 'begin') {
      const [{ nonce }, begun] = [args[0] as AttemptRef, other as Partial<AttemptRef>];
      if (begun.fence !== undefined) fences.set(nonce, begun.fence);
    }
    return answer;
  };
  return new Proxy(store, {
    get:
      (_store, name) =>
      (...args: unknown[]) =>
        ask(name as Call, args),
  });
}

interface Adapter {
  readonly ledger: Ledger;
  readonly timing: Partial<LedgerTiming>;
  /** The clock of the ledger's store, epoch milliseconds. */
  readonly now: () => Promise<number>;
}

/** A ledger and one in memory that goes by the same time, asked as one. */
async function adapterHarness({ ledger, timing, now }: Adapter): Promise<LedgerHarness> {
  const clock = new ManualClock(await now());
  return {
    ledger: adapters(ledger, new MemoryLedger(clock, timing)),
    cron: 'nightly-report',
    now,
    advance: async (ms) => {
      const end = (await now()) + ms;
      await expect.poll(now, { interval: 1, timeout: 10_000 }).toBeGreaterThanOrEqual(end);
      await clock.advance(Math.max(0, (await now()) - clock.now()));
    },
    clockGoesBack: () => Promise.reject(new Error('Expected no history to turn the clock back.')),
  };
}

describe('ledger adapters', () => {
  const spaces = redisSpaces();

  describe('the memory ledger answers as the Redis ledger does', () => {
    invariantsContract(async (timing = {}) => {
      const redis = spaces.redis();
      const now = async () => {
        const [seconds, micros] = await redis.time();
        return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
      };
      return adapterHarness({ ledger: new RedisLedger({ redis, ...spaces.fresh(), timing }), timing, now });
    }, 40);
  });

  describe('the memory ledger answers as the PostgreSQL ledger does', () => {
    const postgres = usePostgresLedger();

    invariantsContract(
      async (timing = {}) =>
        adapterHarness({ ledger: postgres.sandbox.ledger({ timing }), timing, now: () => postgres.sandbox.now() }),
      40,
    );
  });
});

describe('postgres ledger', () => {
  const postgres = usePostgresLedger();

  ledgerContract('the PostgreSQL ledger', (timing) => postgres.sandbox.harness(timing), { histories: 15 });
});
