import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SqlConnection } from '@fencepost/lease/postgres';
import type { AttemptRef } from '../base/attempting.js';
import type { PostgresAttemptLog } from './postgres-attempt-log.js';
import { attemptSandbox, type AttemptSandbox } from './attempt-sandbox.stage.js';
import { commitProxy, type CommitFault, type CommitProxy } from '../../../../test/support/commit-proxy.js';
import { postgresForTests, type TestPostgres } from '../../../../test/support/postgres.js';

let server: TestPostgres;
let sandbox: AttemptSandbox;
let ledger: PostgresAttemptLog;
let attempt: AttemptRef;
beforeAll(async () => {
  server = await postgresForTests();
});
beforeEach(async () => {
  sandbox = await attemptSandbox(server.url);
  ledger = sandbox.attempts();
  attempt = await sandbox.begun(await sandbox.enqueued());
});
afterEach(() => sandbox.close());

const ORDER = { name: 'order', payloadHash: 'h1' };
const DONE = { verdict: 'done', result: '{"id":1}', payloadHash: 'h1' };
/** Class 57 of PostgreSQL's error codes: `admin_shutdown`; its time-outs have others. */
const ENDED_BY_ORDER = '57P01';
const insert = (tx: SqlConnection) => sandbox.insert(tx);
const happened = (times: 0 | 1) => sandbox.happened(times);

describe('a transaction whose connection is lost', () => {
  let proxy: CommitProxy;
  const lossy = () => sandbox.another({ connectionString: proxy.url, max: 1 });
  beforeEach(async () => {
    proxy = await commitProxy(server.url);
  });
  afterEach(() => proxy.close());

  const NOT_HAPPENED: CommitFault[] = ['instead', 'silently', 'later'];
  it.each(NOT_HAPPENED)('at the commit, which arrives %s, has not happened, and says so', async (fault) => {
    const pool = lossy();
    proxy.arm(fault);
    const lost = { code: 'TRANSACTION_LOST', cause: expect.any(Error) };
    await expect(ledger.transaction(attempt, { ...ORDER, pool }, insert)).rejects.toMatchObject(lost);
    // A commit that was still on its way comes too late.
    proxy.release();
    await happened(0);
    expect(await ledger.transaction(attempt, { ...ORDER, pool }, insert)).toEqual(DONE);
    await happened(1);
    expect(proxy.faults).toBe(1);
  });

  it('at the commit is ended at once, and not when the server has heard nothing for long enough', async () => {
    proxy.arm('later');
    const transaction = ledger.transaction(attempt, { ...ORDER, pool: lossy() }, insert);
    await expect(transaction).rejects.toMatchObject({ code: 'TRANSACTION_LOST' });
    await expect.poll(() => proxy.unheard).toContain(ENDED_BY_ORDER);
    await happened(0);
  });

  it('before the reply to its commit has happened, and is known to', async () => {
    const pool = lossy();
    proxy.arm('reply');
    expect(await ledger.transaction(attempt, { ...ORDER, pool }, insert)).toEqual(DONE);
    await happened(1);
    expect(proxy.faults).toBe(1);
  });

  it('before the reply to its commit is known to have happened also to a ledger with one connection in all', async () => {
    const own = sandbox.attempts({ pool: lossy() });
    proxy.arm('reply');
    expect(await own.transaction(attempt, ORDER, insert)).toEqual(DONE);
    await happened(1);
  });

  it.each(['instead', 'reply'] as const)(
    'at the commit (%s) with nobody to ask leaves its outcome unknown, and is safe to repeat',
    async (fault) => {
      const own = sandbox.attempts({ pool: lossy(), patienceMs: 1_000 });
      proxy.arm(fault);
      const work = async (tx: SqlConnection) => {
        proxy.refuse();
        return insert(tx);
      };
      await expect(own.transaction(attempt, ORDER, work)).rejects.toMatchObject({ code: 'TRANSACTION_UNKNOWN' });
      expect(await ledger.transaction(attempt, ORDER, insert)).toEqual(DONE);
      await happened(1);
    },
  );

  it('for ever, with the pod that had it, keeps nobody from its run', async () => {
    const own = sandbox.attempts({ pool: lossy(), patienceMs: 1_000 });
    proxy.arm('silently');
    const work = async (tx: SqlConnection) => {
      proxy.refuse();
      return insert(tx);
    };
    await expect(own.transaction(attempt, ORDER, work)).rejects.toMatchObject({ code: 'TRANSACTION_UNKNOWN' });
    expect(await ledger.transaction(attempt, ORDER, insert)).toEqual(DONE);
    await happened(1);
  });

  it('at a commit that is never answered is closed, not used again', async () => {
    const destroyed: unknown[] = [];
    const pool = sandbox.another({ connectionString: proxy.url, max: 1, query_timeout: 200 });
    pool.on('release', (failure: unknown) => destroyed.push(failure));
    proxy.arm('held');
    const lost = { code: 'TRANSACTION_LOST' };
    await expect(ledger.transaction(attempt, { ...ORDER, pool }, insert)).rejects.toMatchObject(lost);
    expect(destroyed).toEqual([true]);
    await happened(0);
  });

  // Which error comes first is a race: the server's farewell, the closed socket, or the driver that knows of either.
  it.each(['before the driver notices', 'after the driver noticed'])(
    'while it works (%s) leaves nothing behind, and no broken connection in the pool',
    async (moment) => {
      const pool = sandbox.another({ max: 1 });
      const noticed = new Promise((resolve) => pool.once('connect', (client) => client.once('end', resolve)));
      const work = async (tx: SqlConnection) => {
        const { rows } = await tx.query({ text: 'select pg_backend_pid() as pid' });
        const result = await insert(tx);
        await sandbox.pool.query('select pg_terminate_backend($1)', [(rows[0] as { pid: number }).pid]);
        if (moment === 'after the driver noticed') await noticed;
        return result;
      };
      await expect(ledger.transaction(attempt, { ...ORDER, pool }, work)).rejects.toBeInstanceOf(Error);
      await happened(0);
      expect(pool.totalCount).toBe(0);
      expect(await ledger.effects(attempt.runId)).toEqual([]);
      expect(await ledger.transaction(attempt, { ...ORDER, pool }, insert)).toEqual(DONE);
      await happened(1);
    },
  );
});

describe('a callback that does what is the ledger’s to do', () => {
  const misused = (reason: string) => ({ code: 'TRANSACTION_MISUSED', message: expect.stringContaining(reason) });

  it.each(['commit', 'rollback', 'commit; begin', 'rollback and chain'])(
    'is told so when it sends %s',
    async (text) => {
      const pool = sandbox.another({ max: 1 });
      const work = async (tx: SqlConnection) => {
        await tx.query({ text });
        return '1';
      };
      const refused = misused('the callback has ended it itself');
      await expect(ledger.transaction(attempt, { ...ORDER, pool }, work)).rejects.toMatchObject(refused);
      expect(await ledger.effects(attempt.runId)).toEqual([]);
      expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    },
  );

  it('is told so when it goes on after a statement that failed', async () => {
    const work = async (tx: SqlConnection) => {
      await insert(tx);
      await tx.query({ text: 'select 1 / 0' }).catch(() => {});
      return '1';
    };
    await expect(ledger.transaction(attempt, ORDER, work)).rejects.toMatchObject(misused('SAVEPOINT'));
    await happened(0);
  });

  it('is told so when it gives the connection back', async () => {
    const work = async (tx: SqlConnection) => {
      const result = await insert(tx);
      tx.release();
      return result;
    };
    await expect(ledger.transaction(attempt, ORDER, work)).rejects.toMatchObject(misused('release()'));
    await happened(0);
  });
});
