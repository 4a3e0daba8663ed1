import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inHandler, lostAttempt, makeTransactional } from './effect.stage.js';
import type { TransactionalRunContext } from './run-context.js';
import { RUN, WorkerStage } from '../../../../test/support/worker-stage.js';

let stage: WorkerStage;
let transactions: ReturnType<typeof makeTransactional>;
beforeEach(async () => {
  stage = await WorkerStage.with();
  transactions = makeTransactional(stage);
});
afterEach(() => expect(stage.manual.pending).toBe(0));

const ITEMS = ['a', 'b', 'c', 'd', 'e'];
const keyOf = (item: string) => item;

async function states() {
  const records = await stage.memoryLedger.items(RUN, 'items');
  return records.map(({ key, state }) => `${key} ${state}`);
}

describe('forEachTransaction', () => {
  it('commits its items in batches, each with one connection and all of its items', async () => {
    const batches: (readonly string[])[] = [];
    const counts = await inHandler(stage, (run) =>
      run.forEachTransaction(ITEMS, { keyOf, batchSize: 2 }, (tx, items) => {
        expect(tx).toBe(transactions.tx);
        batches.push(items);
      }),
    );
    expect(counts).toEqual({ done: 5, failed: 0, skipped: 0 });
    expect(batches).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(await states()).toEqual(ITEMS.map((item) => `${item} done`));
    expect(transactions.requests[0]).toEqual({ name: 'items', items: ['a', 'b'] });
  });

  it('goes on after a batch that failed, and the next attempt executes only the items of that batch', async () => {
    let broken = true;
    const seen: string[] = [];
    const work = (run: TransactionalRunContext) =>
      run.forEachTransaction(ITEMS, { keyOf, batchSize: 2 }, (_tx, items) => {
        if (broken && items.includes('c')) throw new Error('a bad row');
        seen.push(...items);
      });
    let met: unknown;
    await stage.deliver(async (run) => {
      met = await work(run).catch((error: unknown) => error);
      throw met;
    });
    expect(met).toMatchObject({ code: 'FOR_EACH_FAILED', failed: ['c', 'd'], cause: { message: 'a bad row' } });
    expect(await states()).toEqual(['a done', 'b done', 'e done']);
    broken = false;
    await stage.manual.advance(1_000);
    expect(await inHandler(stage, work)).toEqual({ done: 2, failed: 0, skipped: 3 });
    expect(seen).toEqual(['a', 'b', 'e', 'c', 'd']);
  });

  it('stops at the first batch of a stale attempt', async () => {
    const met = inHandler(stage, (run) =>
      run.forEachTransaction(ITEMS, { keyOf, batchSize: 2 }, async () => {
        stage.manual.jumpWall(60_000);
        await stage.takenOver();
        stage.manual.jumpWall(-60_000);
      }),
    );
    await expect(met).rejects.toMatchObject({ code: 'STALE_FENCE' });
    expect(transactions.requests).toHaveLength(1);
  });

  it('asks an operator about an item that was begun outside a transaction, after the others', async () => {
    await lostAttempt(stage, (attempt) =>
      stage.memoryLedger.advanceItems(attempt, 'items', { finished: [], begun: ['b'] }),
    );
    const met = inHandler(stage, (run) => run.forEachTransaction(ITEMS, { keyOf }, () => {}));
    await expect(met).rejects.toMatchObject({ code: 'EFFECT_ASKED' });
    expect(transactions.requests).toMatchObject([{ items: ['a', 'c', 'd', 'e'] }]);
  });

  it.each([
    [{ batchSize: 2 }, 'Expected option keyOf of the items "items" to be a function'],
    [{ keyOf, batchSize: 0 }, 'a whole number from 1 to 1000'],
    [{ keyOf, concurrency: 2 }, 'to be one of keyOf, name, batchSize, pool'],
    [{ keyOf: () => 'a' }, 'a key that no other item has'],
    [{ keyOf, name: 'a/b' }, 'or /, for items'],
  ])('refuses what can not be: %j', async (options, message) => {
    const met = inHandler(stage, (run) => run.forEachTransaction(ITEMS, options as never, () => {}));
    await expect(met).rejects.toThrow(message);
    expect(transactions.requests).toEqual([]);
  });

  it('needs a ledger that has transactions, and says so', async () => {
    stage = await WorkerStage.with();
    const met = inHandler(stage, (run) => run.forEachTransaction(ITEMS, { keyOf }, () => {}));
    await expect(met).rejects.toMatchObject({ code: 'TRANSACTION_UNAVAILABLE' });
  });
});
