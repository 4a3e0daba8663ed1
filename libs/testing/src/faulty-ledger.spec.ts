import { describe, expect, it } from 'vitest';
import { parseFence } from '@fencepost/lease';
import { ManualClock } from '@fencepost/lease/testing';
import type { AttemptRef } from '@fencepost/ledger';
import { MemoryLedger } from '@fencepost/ledger/memory';
import { FailPoints, type FailPoint } from './fail-points.js';
import { faultyLedger } from './faulty-ledger.js';
import { WorkerProcess } from './worker-process.js';

/** An attempt that has begun two effects, in a process to which something is going to happen. */
async function stage(point: FailPoint) {
  const clock = new ManualClock();
  const ledger = new MemoryLedger(clock);
  const at = clock.now();
  const occurrence = { scheduledAt: at, dueAt: at, reason: 'schedule', missed: null } as const;
  await ledger.claim({
    ...{ cron: 'c', fence: parseFence('1'), term: 't', holder: 'h', generation: 1, nonce: 'claim' },
    ...{ cursor: null, skips: [], occurrence, overlap: 'skip' },
  });
  const runId = `c@${at}`;
  const begun = await ledger.begin({ runId, nonce: 'a', worker: 'w', ttlMs: 60_000, maxAttempts: 3 });
  if (begun.verdict !== 'begun') throw new Error(`Expected the run to begin, got ${begun.verdict}.`);
  const attempt: AttemptRef = { runId, nonce: 'a', fence: begun.fence };
  for (const name of ['charge', 'mail']) await ledger.beginEffect(attempt, { name, ifUnknown: 'go' });
  const points = new FailPoints();
  const fault = points.plan(point);
  const process = new WorkerProcess(clock);
  const faulty = faultyLedger(ledger, { process, points });
  const finish = (name: string) => faulty.finishEffect(attempt, name, { kind: 'done', result: '1' });
  const states = async () => (await ledger.effects(runId)).map(({ state }) => state);
  return { clock, process, fault, faulty, finish, states, attempt };
}

/** What has become of a promise once everything that can happen has happened. */
async function fate(promise: Promise<unknown>, clock: ManualClock): Promise<string> {
  let now = 'pending';
  promise.then(
    () => (now = 'resolved'),
    () => (now = 'rejected'),
  );
  await clock.advance(60_000);
  return now;
}

describe('a worker over a faulty ledger', () => {
  it('writes nothing any more when it was killed before it', async () => {
    const { clock, finish, states, fault } = await stage({ mishap: 'crash', when: 'before', write: 'finishEffect' });
    expect(fault.reached).toBe(false);
    expect(await fate(finish('charge'), clock)).toBe('pending');
    expect(await fate(finish('mail'), clock)).toBe('pending');
    expect([fault.reached, await states()]).toEqual([true, ['begun', 'begun']]);
  });

  it('hears nothing of what it wrote when it was killed after it', async () => {
    const { clock, finish, states } = await stage({ mishap: 'crash', when: 'after', write: 'finishEffect' });
    expect(await fate(finish('charge'), clock)).toBe('pending');
    expect(await states()).toEqual(['done', 'begun']);
  });

  it('sends what it was about to send when it is thawed, and not before', async () => {
    const { clock, process, finish, states } = await stage({ mishap: 'freeze', when: 'before', write: 'finishEffect' });
    const finishing = finish('charge');
    expect(await fate(finishing, clock)).toBe('pending');
    expect(await states()).toEqual(['begun', 'begun']);
    process.thaw();
    expect(await finishing).toBe('recorded');
    expect(await states()).toEqual(['done', 'begun']);
  });

  it.each([
    ['before', 'request', 'begun'],
    ['after', 'reply', 'done'],
  ] as const)('that loses a message %s the write hears that the %s is lost', async (when, what, state) => {
    const { finish, states } = await stage({ mishap: 'lose', when, write: 'finishEffect' });
    await expect(finish('charge')).rejects.toThrow(`the test lost the ${what} of finishEffect`);
    expect(await states()).toEqual([state, 'begun']);
    expect(await finish('charge')).toBe('recorded');
  });

  it('happens at its own effect, and happens once', async () => {
    const point = { mishap: 'lose', when: 'before', write: 'finishEffect', effect: 'mail' } as const;
    const { finish, fault } = await stage(point);
    expect(await finish('charge')).toBe('recorded');
    expect(fault.reached).toBe(false);
    await expect(finish('mail')).rejects.toThrow('lost');
    expect(await finish('mail')).toBe('recorded');
  });

  it('has timers that stop with it, and come late when it was frozen', async () => {
    const { clock, process } = await stage({ mishap: 'crash', when: 'before', write: 'begin' });
    const heard: string[] = [];
    process.clock.after(10, () => void heard.push('first'));
    process.clock.after(20, () => void heard.push('cancelled'))();
    process.freeze();
    await clock.advance(15);
    expect(heard).toEqual([]);
    process.thaw();
    expect(heard).toEqual(['first']);
    process.clock.after(10, () => void heard.push('never'));
    process.crash();
    expect(clock.pending).toBe(0);
    await clock.advance(100);
    expect(heard).toEqual(['first']);
  });

  it('is a ledger in every other respect', async () => {
    const { faulty, attempt } = await stage({ mishap: 'crash', when: 'before', write: 'begin' });
    expect(await faulty.heartbeat(attempt, 60_000)).toBe('extended');
    expect((await faulty.readRun(attempt.runId))?.state).toBe('running');
    expect(faulty).toBeInstanceOf(MemoryLedger);
  });
});
