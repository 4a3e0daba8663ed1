import { createHash } from 'node:crypto';
import { MemorySemaphoreStore } from '@fencepost/lease/coordination';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CRON, RUN, RUN_LEASE_MS, standing, WorkerStage } from '../../../../test/support/worker-stage.js';
import type { Disposition, CronHandler, Limits } from './delivery.js';
import { execute } from './execute.js';
import { LazyAbort } from './lazy-abort.js';
import { Limiter } from './limits.js';

let stage: WorkerStage;
let store: MemorySemaphoreStore;
let limiter: Limiter;

const RETRY = { attempts: 3, delayMs: 1_000, maxDelayMs: 60_000 };
const KEYED: Limits = { key: (payload) => (payload as { customer: string }).customer };

beforeEach(async () => {
  stage = await WorkerStage.with({ payload: '{"customer":"ada"}' });
  store = new MemorySemaphoreStore({ clock: stage.manual });
  limiter = limiterOf('worker/1');
});

afterEach(async () => {
  await limiter.close();
  expect(stage.manual.pending).toBe(0);
});

function limiterOf(holder: string): Limiter {
  const onTrouble = () => {};
  return new Limiter({ store, clock: stage.manual, random: () => 0, holder, ttlMs: RUN_LEASE_MS, onTrouble });
}

/** Brings the run to a worker with this handler and these limits. */
function deliver(handle: CronHandler['handle'], limits: Limits, over: Partial<CronHandler> = {}): Promise<Disposition> {
  const handler: CronHandler = { handle, retry: RETRY, limits, ...over };
  const { manual: clock, telemetry, ledger } = stage;
  const shared = { clock, telemetry, random: () => 0, worker: 'worker/1', ttlMs: RUN_LEASE_MS };
  return execute(
    { ledger: ledger.port, ...shared, handlerOf: () => handler, limiter },
    { runId: RUN, givenUp: new LazyAbort(), log: () => {}, progress: async () => {} },
  );
}

/** Somebody else goes on with this key, until they are told to end. */
async function expectPermit(): Promise<() => Promise<void>> {
  const about = { runId: 'other', name: CRON, key: ADA, limits: {} };
  const admission = await limiterOf('worker/2').admit(about);
  if (admission.verdict !== 'admitted') throw new Error('Expected the place to be free.');
  return () => admission.admission.end();
}

const ADA = createHash('sha256').update('ada').digest('hex').slice(0, 32);
const NOTHING = () => {};

describe('a run whose handler has limits', () => {
  it('is carried out as any other when it finds a place, and gives it back', async () => {
    expect(await deliver(NOTHING, KEYED)).toEqual({ kind: 'settled' });
    expect(await stage.state()).toBe('succeeded');
    expect(stage.events.names).toEqual(['attempt.begun', 'attempt.succeeded']);
    await (
      await expectPermit()
    )();
  });

  it('comes again later when it finds none, without an attempt', async () => {
    const free = await expectPermit();
    expect(await deliver(NOTHING, KEYED)).toEqual({ kind: 'later', waitMs: 500 });
    expect(stage.events.of('attempt.postponed')).toMatchObject([{ verdict: 'key-limit', waitMs: 500 }]);
    expect(await stage.memoryLedger.readRun(RUN)).toMatchObject({ state: 'enqueued', attempt: 0 });
    await free();
    expect(await deliver(NOTHING, KEYED)).toEqual({ kind: 'settled' });
  });

  it('has used its permit once its attempt began, whatever came of it', async () => {
    const rate = { max: 1, perMs: 60_000 };
    await deliver(() => Promise.reject(new Error('no')), { rate });
    await stage.manual.advance(500);
    expect(await deliver(NOTHING, { rate })).toMatchObject({ kind: 'later' });
    expect(stage.events.of('attempt.postponed')).toMatchObject([{ verdict: 'rate-limit' }]);
  });

  it('is aborted when its permit is lost', async () => {
    const { handle, goOn, signal } = standing();
    const disposition = deliver(handle, KEYED);
    await stage.manual.advance(0);
    store.clear();
    await stage.manual.advance(RUN_LEASE_MS / 2);
    expect(signal().reason).toMatchObject({ code: 'LEASE_LOST' });
    expect(await stage.state()).toBe('running');
    goOn();
    await disposition;
  });

  it('that is cancelled while it waits is not executed, and blocks no other run', async () => {
    const free = await expectPermit();
    await deliver(NOTHING, KEYED);
    await stage.memoryLedger.cancel(RUN, { by: 'ada', graceMs: 0 });
    await free();
    expect(await deliver(NOTHING, KEYED)).toEqual({ kind: 'settled' });
    expect(stage.events.of('attempt.needless')).toMatchObject([{ state: 'cancelled' }]);
    await (
      await expectPermit()
    )();
  });

  it('comes again soon if the store fails, and has not begun', async () => {
    store.holders = async () => Promise.reject(new Error('Connection is closed.'));
    expect(await deliver(NOTHING, KEYED)).toEqual({ kind: 'later', waitMs: 1_000 });
    stage.ledger.next('readRun', 'fail');
    expect(await deliver(NOTHING, KEYED)).toEqual({ kind: 'later', waitMs: 1_000 });
    expect(stage.events.of('store.failed').map(({ operation, runId }) => [operation, runId])).toEqual([
      ['permit.acquire', RUN],
      ['run.read', RUN],
    ]);
    expect(await stage.state()).toBe('enqueued');
  });
});

describe('a concurrency key', () => {
  it('is asked for what the handler would be given', async () => {
    const given: unknown[] = [];
    const key = (payload: unknown) => `${given.push(payload)}`;
    await deliver(NOTHING, { key }, { readPayload: async (payload) => ({ read: payload }) });
    expect(given).toEqual([{ read: { customer: 'ada' } }]);
  });

  it.each<[string, NonNullable<Limits['key']>, RegExp]>([
    ['is none yet', () => Promise.reject(new Error('x')) as never, /got Promise/],
    [
      'throws',
      () => {
        throw new TypeError('no customer');
      },
      /for the payload of the run, it threw TypeError: no customer\. Correct it/,
    ],
    ['is no text', () => 7 as never, /got 7\. Correct it/],
    ['is empty', () => '', /got ''\. Correct it/],
  ])('that %s fails the run for good, with a sentence', async (_what, key, sentence) => {
    expect(await deliver(NOTHING, { key })).toMatchObject({ kind: 'failed' });
    const run = await stage.memoryLedger.readRun(RUN);
    expect(run).toMatchObject({ state: 'failed', error: expect.stringMatching(/^ConcurrencyKeyError: Expected/) });
    expect(run?.error).toMatch(sentence);
  });

  it('stands in no store: only a hash of it does', async () => {
    const { handle, goOn } = standing();
    const disposition = deliver(handle, KEYED);
    await stage.manual.advance(0);
    expect(await store.holders('job:nightly-report:ada')).toEqual([]);
    expect(await store.holders(`job:nightly-report:${ADA}`)).toHaveLength(1);
    goOn();
    await disposition;
  });
});
