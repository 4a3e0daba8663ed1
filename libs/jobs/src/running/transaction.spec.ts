import { afterEach, describe, expect, it } from 'vitest';
import { inHandler, makeTransactional } from './effect.stage.js';
import { WorkerStage } from '../../../../test/support/worker-stage.js';
import type { TransactionalRunContext } from './run-context.js';

let stage: WorkerStage;
afterEach(() => expect(stage.manual.pending).toBe(0));

async function transactional() {
  stage = await WorkerStage.with();
  return makeTransactional(stage);
}

describe('a transaction', () => {
  it('is given the connection, and brings its result as JSON makes it', async () => {
    const { requests, tx: mine } = await transactional();
    const result = await inHandler(stage, (run) => run.transaction((tx) => ({ mine: tx === mine, at: new Date(0) })));
    expect(result).toEqual({ mine: true, at: '1970-01-01T00:00:00.000Z' });
    expect(requests).toEqual([{ name: 'transaction', payloadHash: null }]);
    expect(stage.events.names.filter((name) => name.startsWith('effect'))).toEqual([
      ...['effect.beginning', 'effect.begun', 'effect.acted', 'effect.finished'],
    ]);
  });

  it('that is committed is not carried out again', async () => {
    await transactional();
    let worked = 0;
    const once = (run: TransactionalRunContext) => run.transaction(() => (worked += 1), { name: 'book' });
    await stage.deliver(async (run) => {
      await once(run);
      throw new Error('after the commit');
    });
    await stage.manual.advance(1_000);
    expect(await inHandler(stage, once)).toBe(1);
    expect(worked).toBe(1);
    expect(stage.events.of('effect.known')).toHaveLength(1);
  });

  it('with another payload than the committed one is refused', async () => {
    await transactional();
    const book = (payload: string) => (run: TransactionalRunContext) => run.transaction(() => 1, { payload });
    await stage.deliver(async (run) => {
      await book('ada')(run);
      throw new Error('after the commit');
    });
    await stage.manual.advance(1_000);
    await expect(inHandler(stage, book('bob'))).rejects.toMatchObject({ code: 'EFFECT_PAYLOAD' });
  });

  it('hands on what its work throws', async () => {
    await transactional();
    await expect(inHandler(stage, (run) => run.transaction(() => expect.fail('no row')))).rejects.toThrow('no row');
  });

  it('says that it is rolled back when its result can not be recorded', async () => {
    await transactional();
    const met = inHandler(stage, (run) => run.transaction(() => 1n));
    await expect(met).rejects.toThrow(/"transaction" was rolled back because its result cannot be recorded: .*BigInt/);
  });

  it('of a stale attempt is refused, and nothing more begins', async () => {
    await transactional();
    const met = inHandler(stage, async (run) => {
      stage.manual.jumpWall(60_000);
      await stage.takenOver();
      stage.manual.jumpWall(-60_000);
      await expect(run.transaction(() => expect.unreachable())).rejects.toMatchObject({ code: 'STALE_FENCE' });
      await run.effect('mail', () => expect.unreachable());
    });
    await expect(met).rejects.toMatchObject({ code: 'STALE_FENCE' });
  });

  it('needs a ledger that has transactions, and says so', async () => {
    stage = await WorkerStage.with();
    const met = inHandler(stage, (run) => run.transaction(() => expect.unreachable()));
    await expect(met).rejects.toMatchObject({ code: 'TRANSACTION_UNAVAILABLE' });
    await expect(met).rejects.toThrow('The transaction "transaction" needs the ledger in PostgreSQL');
  });

  it.each([
    [{ pool: {} }, 'Expected option pool of the transaction "transaction" to be a pool of pg'],
    [{ timeout: '1s' }, 'to be one of name, payload, pool'],
    [{ name: '' }, 'as the name of an effect'],
  ])('refuses an option that can not be: %j', async (options, message) => {
    await transactional();
    const met = inHandler(stage, (run) => run.transaction(() => expect.unreachable(), options as never));
    await expect(met).rejects.toThrow(message);
  });
});
