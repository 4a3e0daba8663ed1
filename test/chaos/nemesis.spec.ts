import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../support/seeded-random.js';
import type { Fault } from './fault.js';
import { unleash } from './nemesis.js';
import type { RecordedEvent } from './recording.js';
import { longestStall, type StallInput } from './stall.js';

const AT_ONCE = { process: { least: 0, most: 0 }, store: { least: 0, most: 0 } };

/** Faults that only say that they were called, until so many strikes are counted. */
function recorder(kinds: readonly string[], strikes: number) {
  const struck: string[] = [];
  const over = new AbortController();
  const faults: Fault[] = kinds.map((kind) => ({
    ...{ kind, target: 'process' },
    strike: () => {
      struck.push(kind);
      if (struck.length >= strikes) over.abort();
      return Promise.resolve(true);
    },
  }));
  return { faults, struck, signal: over.signal };
}

const KINDS = ['a', 'b', 'c', 'd', 'e', 'f'];

async function strikesOf(seed: number): Promise<string[]> {
  const { faults, struck, signal } = recorder(KINDS, 20);
  await unleash({ faults, signal, random: seededRandom(seed), pauseMs: AT_ONCE });
  return struck;
}

describe('the nemesis', () => {
  it('has every kind strike once before any strikes twice', async () => {
    const struck = await strikesOf(1);
    expect(struck.slice(0, KINDS.length).toSorted()).toEqual(KINDS);
  });

  it('strikes in the same order for the same seed, and in another for another', async () => {
    const first = await strikesOf(7);
    expect(await strikesOf(7)).toEqual(first);
    expect(await strikesOf(8)).not.toEqual(first);
  });

  it('resolves when everything is mended, and not before', async () => {
    const over = new AbortController();
    let isBroken = false;
    const slow: Fault = {
      ...{ kind: 'slow', target: 'store' },
      strike: async (_, signal) => {
        isBroken = true;
        over.abort();
        expect(signal.aborted).toBe(true);
        await new Promise((resolve) => setImmediate(resolve));
        isBroken = false;
        return true;
      },
    };
    await unleash({ faults: [slow], signal: over.signal, random: seededRandom(1), pauseMs: AT_ONCE });
    expect(isBroken).toBe(false);
  });

  it('has what is under way mended when a fault throws, and says why', async () => {
    let mended = false;
    const waiting: Fault = {
      ...{ kind: 'waiting', target: 'process' },
      strike: async (_, signal) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        mended = true;
        return true;
      },
    };
    const broken: Fault = {
      ...{ kind: 'broken', target: 'store' },
      strike: () => Promise.reject(new Error('no such server')),
    };
    const { signal } = new AbortController();
    const unleashed = unleash({ faults: [waiting, broken], signal, random: seededRandom(1), pauseMs: AT_ONCE });
    await expect(unleashed).rejects.toThrow('no such server');
    expect(mended).toBe(true);
  });
});

const S = 1_000_000;

function said(second: number, event: string, detail: RecordedEvent['detail']): RecordedEvent {
  return { at: second * S, process: 'p', event, detail: { cron: 'c', ...detail } };
}

const claimed = (second: number, runId = `c@${second}`) => said(second, 'occurrence.claimed', { runId });

const blocked = (second: number) => said(second, 'occurrence.skipped', { scheduledAt: second, reason: 'overlap' });

const begun = (second: number, runId: string) => said(second, 'attempt.begun', { runId, attempt: 1 });

const ended = (second: number, runId: string) => said(second, 'attempt.succeeded', { runId, attempt: 1 });

function stall(events: readonly RecordedEvent[], over: Partial<StallInput> = {}) {
  return longestStall({ events, allowing: new Set(), superseded: new Set(), from: 0, until: 100 * S, ...over });
}

describe('the longest stall', () => {
  it('lasts from the first instant that is blocked until the cron begins something', () => {
    expect(stall([claimed(1), blocked(2), blocked(3), begun(7, 'c@1')])).toEqual({ cron: 'c', ms: 5_000 });
  });

  it('lasts until the pods were stopped when nothing begins any more', () => {
    expect(stall([claimed(1), blocked(2)], { until: 20 * S })).toEqual({ cron: 'c', ms: 18_000 });
  });

  it('counts from when all was healed', () => {
    expect(stall([claimed(1), blocked(2), begun(9, 'c@1')], { from: 6 * S }).ms).toBe(3_000);
    expect(stall([claimed(1), blocked(2), begun(5, 'c@1')], { from: 6 * S }).ms).toBe(0);
  });

  it('is none while a worker is at work, however long it takes', () => {
    expect(stall([claimed(1), begun(2, 'c@1'), blocked(3), blocked(30), ended(31, 'c@1')]).ms).toBe(0);
  });

  it('is there too when a line stands still behind its head', () => {
    expect(stall([claimed(1), claimed(2), begun(6, 'c@1')]).ms).toBe(4_000);
    expect(stall([claimed(1), claimed(2), begun(6, 'c@1')], { superseded: new Set(['c@1']) }).ms).toBe(0);
  });
});

const RUNNER = new URL('../support/run-source.mjs', import.meta.url).pathname;

const PARENT = new URL('./parent-of-idlers.ts', import.meta.url).pathname;

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('an orphaned pod', () => {
  it('a process that was started for a test outlives nobody, not even when it is frozen', async () => {
    const parent = spawn(process.execPath, [RUNNER, PARENT], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(parent, 'exit');
    const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
    const pids = JSON.parse(line) as number[];
    expect(pids.map(isThere)).toEqual([true, true]);
    parent.kill('SIGKILL');
    await exited;
    try {
      await expect.poll(() => pids.map(isThere), { timeout: 10_000 }).toEqual([false, false]);
    } finally {
      // Or the proof that they stay would stay itself.
      for (const pid of pids.filter(isThere)) process.kill(pid, 'SIGKILL');
    }
  });
});
