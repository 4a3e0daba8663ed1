import { describe, expect, it } from 'vitest';
import { seededRandom } from '../support/seeded-random.js';
import type { Fault } from './fault.js';
import { unleash } from './nemesis.js';

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

  it('counts what struck, and tries again what could not', async () => {
    const over = new AbortController();
    let tries = 0;
    const shy: Fault = {
      ...{ kind: 'shy', target: 'store' },
      strike: () => Promise.resolve((tries += 1) === 3 && (over.abort(), true)),
    };
    const { signal } = over;
    expect(await unleash({ faults: [shy], signal, random: seededRandom(1), pauseMs: AT_ONCE })).toEqual({ shy: 1 });
    expect(tries).toBe(3);
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
