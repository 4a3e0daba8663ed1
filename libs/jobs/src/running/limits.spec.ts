import { MemorySemaphoreStore } from '@fencepost/lease/coordination';
import { ManualClock } from '@fencepost/lease/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Limits } from './delivery.js';
import { Limiter, type AdmitReply, type LimitedRun, type Admission } from './limits.js';

const TTL_MS = 12_000;
const START = Date.UTC(2030, 0, 1);

let clock: ManualClock;
let store: MemorySemaphoreStore;
let troubles: string[];
let woken: string[];
let workers: Limiter[];

/** A worker of its own, as far as the store can tell. */
function worker(holder: string, random = () => 0): Limiter {
  const onTrouble = (doing: string) => void troubles.push(doing);
  const wake = (jobId: string) => void woken.push(jobId);
  const limiter = new Limiter({ store, clock, random, holder, ttlMs: TTL_MS, onTrouble, wake });
  workers.push(limiter);
  return limiter;
}

const run = (runId: string, limits: Limits = {}, key: string | null = 'ada'): LimitedRun => ({
  ...{ runId, jobId: `job of ${runId}`, name: 'mail', limits, key },
});

const rated = (runId: string, max: number, perMs: number) => run(runId, { rate: { max, perMs } }, null);

function expectAdmission(admission: AdmitReply): Admission {
  if (admission.verdict !== 'admitted') throw new Error(`Expected to be admitted, got ${admission.verdict}.`);
  return admission.admission;
}

let one: Limiter;
let other: Limiter;

beforeEach(() => {
  clock = new ManualClock(START);
  store = new MemorySemaphoreStore({ clock });
  [troubles, woken, workers] = [[], [], []];
  [one, other] = [worker('one'), worker('other')];
});

afterEach(async () => {
  for (const limiter of workers) await limiter.close();
  expect(clock.pending).toBe(0);
});

describe('runs with the same key', () => {
  it('go on one at a time over all workers, and the next one when it has ended', async () => {
    const admission = expectAdmission(await one.admit(run('a')));
    expect(await other.admit(run('b'))).toEqual({ verdict: 'key-limit', waitMs: 500 });
    await admission.end();
    expect(await other.admit(run('b'))).toMatchObject({ verdict: 'admitted' });
  });

  it('do not hold up runs with another key, or of another handler', async () => {
    expectAdmission(await one.admit(run('a')));
    expectAdmission(await one.admit(run('b', {}, 'bob')));
    expectAdmission(await one.admit({ ...run('c'), name: 'report' }));
  });

  it('come in the order in which they asked first, whichever worker they come to', async () => {
    const admission = expectAdmission(await one.admit(run('a')));
    for (const id of ['b', 'c', 'd']) await one.admit(run(id));
    await admission.end();
    expect(await other.admit(run('new'))).toMatchObject({ verdict: 'key-limit' });
    expect(await other.admit(run('d'))).toMatchObject({ verdict: 'key-limit' });
    expect(await other.admit(run('c'))).toMatchObject({ verdict: 'key-limit' });
    await expectAdmission(await other.admit(run('b'))).end();
    await expectAdmission(await one.admit(run('c'))).end();
    await expectAdmission(await one.admit(run('d'))).end();
    expect(await one.admit(run('new'))).toMatchObject({ verdict: 'admitted' });
  });

  it('are asked for again the later, the more wait before them, and not all at once', async () => {
    expectAdmission(await one.admit(run('a')));
    const waits = [];
    for (let n = 0; n < 60; n += 1) waits.push(await one.admit(run(`w${n}`)));
    const ms = waits.map((admission) => ('waitMs' in admission ? admission.waitMs : 0));
    expect(ms.slice(0, 4)).toEqual([500, 500, 1_000, 1_500]);
    expect(Math.max(...ms)).toBe(10_000);
    const jittery = worker('jittery', () => 0.5);
    expect(await jittery.admit(run('w0'))).toEqual({ verdict: 'key-limit', waitMs: 563 });
  });

  it('find no room in a line of a hundred, and come again', async () => {
    expectAdmission(await one.admit(run('a')));
    for (let n = 0; n < 100; n += 1) await one.admit(run(`w${n}`));
    expect(await one.admit(run('late'))).toEqual({ verdict: 'key-limit', waitMs: 30_000 });
  });

  it('do not wait for one that lost its delivery: its turn ends by itself', async () => {
    const admission = expectAdmission(await one.admit(run('a')));
    await one.admit(run('gone'));
    await admission.end();
    expect(await one.admit(run('b'))).toMatchObject({ verdict: 'key-limit' });
    await clock.advance(5_500);
    expect(await one.admit(run('b'))).toMatchObject({ verdict: 'admitted' });
  });

  it('are woken one after the other, in their order, when a place is free', async () => {
    const admission = expectAdmission(await one.admit(run('a')));
    for (const id of ['b', 'c']) await one.admit(run(id));
    await admission.end();
    await clock.advance(0);
    expect(woken).toEqual(['job of b']);
    await one.leave(run('b'));
    await clock.advance(0);
    expect(woken).toEqual(['job of b', 'job of c']);
  });

  it('are notified of a lost permit, but not after they have ended', async () => {
    const lost: unknown[] = [];
    const [admission, ended] = [
      expectAdmission(await one.admit(run('a'))),
      expectAdmission(await one.admit(run('b', {}, 'bob'))),
    ];
    admission.watch((reason) => lost.push(reason));
    ended.watch((reason) => lost.push(reason));
    await ended.end();
    store.clear();
    await clock.advance(TTL_MS);
    expect(lost).toMatchObject([{ code: 'LEASE_LOST' }]);
    await admission.end();
  });
});

describe('a limit of runs in a time', () => {
  it('lets so many begin in any span of it, whatever the runs take', async () => {
    for (const id of ['a', 'b']) {
      const admission = expectAdmission(await one.admit(rated(id, 2, 1_000)));
      admission.begun();
      await admission.end();
    }
    expect(await other.admit(rated('c', 2, 1_000))).toEqual({ verdict: 'rate-limit', waitMs: 1_000 });
    await clock.advance(999);
    expect(await other.admit(rated('c', 2, 1_000))).toEqual({ verdict: 'rate-limit', waitMs: 1 });
    await clock.advance(1);
    expectAdmission(await other.admit(rated('c', 2, 1_000)));
  });

  it('counts from when the attempt began, however long the ledger took', async () => {
    const admission = expectAdmission(await one.admit(rated('a', 1, 1_000)));
    await clock.advance(900);
    admission.begun();
    await clock.advance(999);
    expect(await one.admit(rated('b', 1, 1_000))).toMatchObject({ verdict: 'rate-limit' });
    await clock.advance(1);
    expectAdmission(await one.admit(rated('b', 1, 1_000)));
  });

  it('does not count a run that did not begin', async () => {
    await expectAdmission(await one.admit(rated('a', 1, 60_000))).end();
    expectAdmission(await one.admit(rated('b', 1, 60_000)));
  });

  it('has those further back in line come later', async () => {
    expectAdmission(await one.admit(rated('a', 1, 1_000)));
    const waits = [];
    for (const id of ['b', 'c', 'd']) waits.push(await one.admit(rated(id, 1, 1_000)));
    expect(waits).toMatchObject([{ waitMs: 1_000 }, { waitMs: 1_000 }, { waitMs: 2_000 }]);
    await clock.advance(1_000);
    expect(await one.admit(rated('c', 1, 1_000))).toMatchObject({ verdict: 'rate-limit' });
    expectAdmission(await one.admit(rated('b', 1, 1_000)));
  });

  it('makes no run wait longer than ten seconds at a time', async () => {
    expectAdmission(await one.admit(rated('a', 1, 3_600_000)));
    expect(await one.admit(rated('b', 1, 3_600_000))).toEqual({ verdict: 'rate-limit', waitMs: 10_000 });
  });

  it('takes no place away from runs that may begin', async () => {
    const limits = { rate: { max: 1, perMs: 1_000 } };
    expectAdmission(await one.admit(run('a', limits, 'ada')));
    expect(await one.admit(run('b', limits, 'bob'))).toMatchObject({ verdict: 'rate-limit' });
    expect(await store.holders('job:mail:bob')).toEqual([]);
  });
});

describe('a store that is away', () => {
  it('lets no run begin, and keeps no permit', async () => {
    const limits = { rate: { max: 1, perMs: 1_000 } };
    const acquire = store.acquire.bind(store);
    store.acquire = async (request) => {
      if (request.resource.startsWith('job-rate:')) throw new Error('Connection is closed.');
      return acquire(request);
    };
    await expect(one.admit(run('a', limits))).rejects.toThrow('Connection is closed.');
    expect(await store.holders('job:mail:ada')).toEqual([]);
  });

  it('fails no run that has ended: what it held runs out', async () => {
    const admission = expectAdmission(await one.admit(run('a', { rate: { max: 1, perMs: 1_000 } })));
    store.release = async () => Promise.reject(new Error('Connection is closed.'));
    await admission.end();
    expect(troubles).toContain('permit.release');
  });
});
