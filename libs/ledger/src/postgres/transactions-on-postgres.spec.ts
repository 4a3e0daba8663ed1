import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SqlConnection } from '@fencepost/lease/postgres';
import type { AttemptRef } from '../base/attempting.js';
import type { PostgresAttemptLog } from './postgres-attempt-log.js';
import { attemptSandbox, type AttemptSandbox } from './attempt-sandbox.stage.js';
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
const STALE = { verdict: 'stale' };
const LEVELS = ['read committed', 'repeatable read', 'serializable'];
const LONG_MS = 60_000;

const insert = (tx: SqlConnection) => sandbox.insert(tx);
const happened = (times: 0 | 1) => sandbox.happened(times);

async function overtake(): Promise<AttemptRef> {
  await sandbox.lapse(attempt);
  return sandbox.begun(attempt.runId);
}

describe('a transaction over items', () => {
  const batch = (...items: string[]) => ({ name: 'items', items });
  const done = async () => {
    const items = await ledger.items(attempt.runId, 'items');
    return items.map(({ key, state }) => `${key} ${state}`);
  };
  const rows = () => sandbox.value('select count(*)::int from :schema.orders');

  it('commits its rows and the record that each item is done', async () => {
    const reply = { verdict: 'done', result: '{"id":1}', payloadHash: null };
    expect(await ledger.transaction(attempt, batch('a', "b'\\"), insert)).toEqual(reply);
    expect(await done()).toEqual(['a done', "b'\\ done"]);
    expect(await ledger.effects(attempt.runId)).toEqual([]);
    expect(await rows()).toBe(1);
  });

  it('leaves nothing behind when one of its items is done already', async () => {
    await ledger.transaction(attempt, batch('a'), insert);
    expect(await ledger.transaction(attempt, batch('a', 'b'), insert)).toEqual(STALE);
    expect(await done()).toEqual(['a done']);
    expect(await rows()).toBe(1);
  });

  it('of an attempt that is overtaken while it works leaves nothing behind', async () => {
    const work = async (tx: SqlConnection) => {
      await overtake();
      return insert(tx);
    };
    expect(await ledger.transaction(attempt, batch('a'), work)).toEqual(STALE);
    expect([await done(), await rows()]).toEqual([[], 0]);
  });

  it('is recalled as done if all of its items are, and else as gone', async () => {
    await ledger.transaction(attempt, batch('a'), insert);
    const lost = { session: 0, since: new Date(0).toISOString() };
    const recall = (...items: string[]) => sandbox.recall(attempt, batch(...items), lost);
    expect(await recall('a')).toEqual({ verdict: 'done', result: 'null', payloadHash: null });
    expect(await recall('a', 'b')).toEqual({ verdict: 'gone' });
  });
});

/** Every commit of a user's row waits, all its statements done, until the transaction returned here commits. */
async function commitHeld() {
  await sandbox.pool.query(
    `create table "${sandbox.schema}".gate ();
     create function "${sandbox.schema}".pass() returns trigger language plpgsql as
       $$ begin lock table "${sandbox.schema}".gate in share mode; return null; end $$;
     create constraint trigger pass after insert on "${sandbox.schema}".orders deferrable initially deferred
     for each row execute function "${sandbox.schema}".pass()`,
  );
  return sandbox.transaction(`lock table "${sandbox.schema}".gate in exclusive mode`);
}

describe('a transaction', () => {
  it('commits the rows and the record that they are written', async () => {
    expect(await ledger.transaction(attempt, ORDER, insert)).toEqual(DONE);
    await happened(1);
    const [record] = await ledger.effects(attempt.runId);
    expect(record).toMatchObject({ name: 'order', state: 'done', fence: attempt.fence, payloadHash: 'h1' });
  });

  it('of one statement sends three messages', async () => {
    const pool = sandbox.another();
    const sent: unknown[] = [];
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (asked: unknown, ...rest: unknown[]) => unknown;
      const counted = (asked: unknown, ...rest: unknown[]) => {
        sent.push(asked);
        return query(asked, ...rest);
      };
      Object.assign(client, { query: counted });
    });
    expect(await ledger.transaction(attempt, { ...ORDER, pool }, insert)).toEqual(DONE);
    expect(sent).toHaveLength(3);
  });

  it('that has committed is not carried out again: its recorded result is the answer, for every later attempt', async () => {
    await ledger.transaction(attempt, ORDER, insert);
    const never = () => Promise.reject(new Error('carried out again'));
    expect(await ledger.transaction(attempt, ORDER, never)).toEqual(DONE);
    expect(await ledger.transaction(await overtake(), { name: 'order', payloadHash: 'h2' }, never)).toEqual(DONE);
    await happened(1);
  });

  it('leaves nothing behind when its work fails, and its connection is used again', async () => {
    const pool = sandbox.another({ max: 1 });
    const failure = new Error('out of stock');
    const work = async (tx: SqlConnection) => {
      await insert(tx);
      throw failure;
    };
    await expect(ledger.transaction(attempt, { ...ORDER, pool }, work)).rejects.toBe(failure);
    expect([pool.totalCount, pool.idleCount]).toEqual([1, 1]);
    await happened(0);
    expect(await ledger.transaction(attempt, { ...ORDER, pool }, insert)).toEqual(DONE);
    await happened(1);
  });

  it('of a stale attempt is not even begun', async () => {
    await overtake();
    const work = () => Promise.reject(new Error('carried out'));
    expect(await ledger.transaction(attempt, ORDER, work)).toEqual(STALE);
    expect(await sandbox.value(`select refusals from :schema.cron`)).toBe('1');
  });

  it('of two under one name commits once, and the other hears of it', async () => {
    let arrive = () => {};
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    const slow = ledger.transaction(attempt, ORDER, async (tx) => {
      await arrived;
      return insert(tx);
    });
    expect(await ledger.transaction(attempt, ORDER, insert)).toEqual(DONE);
    arrive();
    expect(await slow).toEqual(DONE);
    await happened(1);
  });

  it('whose lease has expired while it worked leaves nothing behind', async () => {
    const work = async (tx: SqlConnection) => {
      await sandbox.lapse(attempt);
      return insert(tx);
    };
    expect(await ledger.transaction(attempt, ORDER, work)).toEqual(STALE);
    await happened(0);
  });

  it('hears that the pool has no connection to give', async () => {
    const pool = sandbox.another({ max: 1 });
    const taken = await pool.connect();
    const impatient = sandbox.attempts({ patienceMs: 50 });
    const refused = { code: 'POOL_EXHAUSTED' };
    await expect(impatient.transaction(attempt, { ...ORDER, pool }, insert)).rejects.toMatchObject(refused);
    taken.release();
    await happened(0);
  });
});

describe.each(LEVELS)('a transaction at %s', (level) => {
  const working = (meanwhile: () => Promise<unknown>) => async (tx: SqlConnection) => {
    await tx.query({ text: `set transaction isolation level ${level}` });
    const result = await insert(tx);
    await meanwhile();
    return result;
  };

  it('commits, however often its attempt has shown meanwhile that it is alive', async () => {
    const beat = () => ledger.heartbeat(attempt, LONG_MS);
    expect(await ledger.transaction(attempt, ORDER, working(beat))).toEqual(DONE);
    await happened(1);
  });

  it('of an attempt that is overtaken between its work and its commit leaves nothing behind', async () => {
    const reply = await ledger.transaction(attempt, ORDER, working(overtake)).catch((error: unknown) => error);
    // Above READ COMMITTED the server finds out first, and nothing happened either.
    expect(reply).toMatchObject(level === 'read committed' ? STALE : { code: '40001' });
    await happened(0);
  });

  it('of a run that was cancelled meanwhile leaves nothing behind', async () => {
    const cancel = async () => {
      await sandbox.lapse(attempt);
      await ledger.cancel(attempt.runId, { by: 'ada', graceMs: 0 });
    };
    const reply = await ledger.transaction(attempt, ORDER, working(cancel)).catch((error: unknown) => error);
    expect(reply).toMatchObject(level === 'read committed' ? STALE : { code: '40001' });
    await happened(0);
  });

  it('that was said not to have happened does not happen, though its session lives on', async () => {
    const recall = async (tx: SqlConnection) => {
      await tx.query({ text: `set transaction isolation level ${level}` });
      const { rows } = await tx.query({ text: 'select pg_backend_pid() as pid' });
      const result = await insert(tx);
      const since = new Date(0).toISOString();
      expect(await sandbox.recall(attempt, ORDER, { session: (rows[0] as { pid: number }).pid, since })).toEqual({
        verdict: 'gone',
      });
      return result;
    };
    const reply = await ledger.transaction(attempt, ORDER, recall).catch((error: unknown) => error);
    expect(reply).toMatchObject(level === 'read committed' ? STALE : { code: '40001' });
    await happened(0);
    expect(await ledger.transaction(attempt, ORDER, insert)).toEqual(DONE);
    await happened(1);
  });

  it('lets no successor begin between the comparison and the commit', async () => {
    const held = await commitHeld();
    const committing = ledger.transaction(
      attempt,
      ORDER,
      working(async () => {}),
    );
    await sandbox.untilBlocked(1);
    const next = overtake();
    const order = await Promise.race([
      next.then(() => 'the successor began'),
      sandbox.untilBlocked(2).then(() => 'it waits'),
    ]);
    await held.commit();
    expect(await committing).toEqual(DONE);
    expect(order).toBe('it waits');
    const never = () => Promise.reject(new Error('carried out again'));
    expect(await ledger.transaction(await next, ORDER, never)).toEqual(DONE);
    await happened(1);
  });
});

describe('a transaction whose commit the server refuses', () => {
  it('did not happen, and fails with the server’s reason: rows of others', async () => {
    await sandbox.pool.query(
      `create table "${sandbox.schema}".stock (n int); insert into "${sandbox.schema}".stock values (1)`,
    );
    const pool = sandbox.another({ max: 2 });
    const other = await sandbox.begun(await sandbox.enqueued());
    let arrived = 0;
    let goOn = () => {};
    const both = new Promise<void>((resolve) => (goOn = resolve));
    const skewed = async (tx: SqlConnection) => {
      await tx.query({ text: 'set transaction isolation level serializable' });
      await tx.query({ text: `select sum(n) from "${sandbox.schema}".stock` });
      await tx.query({ text: `insert into "${sandbox.schema}".stock values (1)` });
      arrived += 1;
      if (arrived === 2) goOn();
      await both;
      return insert(tx);
    };
    const outcomes = await Promise.allSettled(
      [attempt, other].map((one) => ledger.transaction(one, { ...ORDER, pool }, skewed)),
    );
    const failed = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(failed).toMatchObject([{ code: '40001' }]);
    await happened(1);
    expect([pool.totalCount, pool.idleCount]).toEqual([2, 2]);
  });
});
