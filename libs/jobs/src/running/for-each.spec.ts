import { afterEach, describe, expect, it } from 'vitest';
import { inHandler } from './effect.stage.js';
import { RUN, WorkerStage } from '../../../../test/support/worker-stage.js';
import { EffectNameError, ForEachError, ForEachKeyError } from './errors.js';
import type { RunContext } from './run-context.js';

let stage: WorkerStage;
afterEach(() => expect(stage.manual.pending).toBe(0));

const keys = (count: number) => Array.from({ length: count }, (_, n) => `k${n}`);
const self = (key: string) => key;

/** An act that notes what it was called with, and throws for some. */
function noting(fails: (key: string) => boolean = () => false) {
  const called: string[] = [];
  const act = (key: string) => {
    called.push(key);
    if (fails(key)) throw new Error(`no ${key}`);
  };
  return { called, act };
}

async function states(name = 'items') {
  const items = await stage.memoryLedger.items(RUN, name);
  return Object.fromEntries(items.map(({ key, state }) => [key, state]));
}

describe('forEach', () => {
  it('carries out each item once with a key and a fence of its own, and says how many', async () => {
    stage = await WorkerStage.with();
    const given: unknown[] = [];
    const counts = await inHandler(stage, async (run) =>
      run.forEach(['a', 'b'], self, (item, { fence, idempotencyKey }) => {
        given.push([item, idempotencyKey, fence === run.fence]);
      }),
    );
    expect(counts).toEqual({ done: 2, failed: 0, skipped: 0 });
    expect(given).toEqual([
      ['a', `${RUN}/items/a`, true],
      ['b', `${RUN}/items/b`, true],
    ]);
    expect(await states()).toEqual({ a: 'done', b: 'done' });
  });

  it('asks the ledger at most 30 times for 1,000 items', async () => {
    stage = await WorkerStage.with();
    const { called, act } = noting();
    await inHandler(stage, (run) => run.forEach(keys(1_000), self, act));
    expect(called).toHaveLength(1_000);
    expect(stage.ledger.calls.filter((call) => call === 'advanceItems')).toHaveLength(21);
    // A call, too: of the first batch and of the last, because the time stands still.
    expect(stage.progress).toHaveLength(2);
    expect(stage.ledger.calls.length + stage.progress.length).toBeLessThanOrEqual(30);
    expect(stage.progress.at(-1)).toEqual({ name: 'items', done: 1_000, failed: 0, skipped: 0 });
  });

  it('reads an asynchronous source no further than its batch', async () => {
    stage = await WorkerStage.with();
    let read = 0;
    async function* source() {
      for (const key of keys(6)) {
        read += 1;
        yield key;
      }
    }
    const ahead: number[] = [];
    await inHandler(stage, (run) => run.forEach(source(), self, () => ahead.push(read), { batchSize: 2 }));
    expect(ahead).toEqual([2, 2, 4, 4, 6, 6]);
  });

  it('takes as many items at once as it may, and no more', async () => {
    stage = await WorkerStage.with();
    let [now, most] = [0, 0];
    const act = async () => {
      most = Math.max(most, (now += 1));
      await Promise.resolve();
      now -= 1;
    };
    await inHandler(stage, (run) => run.forEach(keys(20), self, act, { concurrency: 3 }));
    expect(most).toBe(3);
  });

  it('records an item that throws as failed, goes on, and says which failed; the next attempt does only those', async () => {
    stage = await WorkerStage.with();
    const { act } = noting((key) => key === 'k1' || key === 'k3');
    const met = inHandler(stage, (run) => run.forEach(keys(5), self, act, { batchSize: 2 }));
    await expect(met).rejects.toThrow(ForEachError);
    await expect(met).rejects.toThrow('2 items of "items" failed: "k1", "k3". The first one: no k1');
    await expect(met).rejects.toMatchObject({ code: 'FOR_EACH_FAILED', failed: ['k1', 'k3'] });
    expect(await states()).toEqual({ k0: 'done', k1: 'failed', k2: 'done', k3: 'failed', k4: 'done' });
  });

  it('that failed is continued by the next attempt where it stopped', async () => {
    stage = await WorkerStage.with();
    const { called, act } = noting((key) => key === 'k1' && called.length === 2);
    const handle = (run: RunContext) => run.forEach(keys(3), self, act);
    expect(await stage.deliver(handle)).toMatchObject({ kind: 'later' });
    await stage.manual.advance(1_000);
    expect(await inHandler(stage, handle)).toEqual({ done: 1, failed: 0, skipped: 2 });
    expect(called).toEqual(['k0', 'k1', 'k2', 'k1']);
  });

  it.each([
    ['empty', '', 'a text of 1 to 200 characters'],
    ['a number', 7 as never, 'a text of 1 to 200 characters'],
    ['one with a NUL', 'a\0b', 'without NUL'],
    ['one that comes twice', 'a', 'a key that no other item has'],
  ])('refuses a key that is %s, and records what it has done', async (_what, key, expected) => {
    stage = await WorkerStage.with();
    const { called, act } = noting();
    const met = inHandler(stage, (run) => run.forEach(['a', 'b', key, 'c'], self, act, { batchSize: 2 }));
    await expect(met).rejects.toThrow(ForEachKeyError);
    await expect(met).rejects.toThrow(expected);
    expect(called).toEqual(['a', 'b']);
    expect(await states()).toEqual({ a: 'done', b: 'done' });
  });

  it('has names of its own, under which no effect can take the key of an item', async () => {
    stage = await WorkerStage.with();
    await inHandler(stage, async (run) => {
      await run.effect('bills/k0', () => {});
      await expect(run.forEach(keys(1), self, () => {}, { name: 'bills' })).rejects.toThrow(EffectNameError);
      await expect(run.forEach(keys(1), self, () => {}, { name: 'a/b' })).rejects.toThrow(EffectNameError);
      await run.forEach(keys(1), self, () => {});
      await expect(run.forEach(keys(1), self, () => {})).rejects.toThrow('a name not yet used');
      await expect(run.effect('items/k0', () => {})).rejects.toThrow('does not begin with "items/"');
    });
  });
});
