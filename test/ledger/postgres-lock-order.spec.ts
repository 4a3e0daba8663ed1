import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SqlPool, SqlQuery } from '@fencepost/lease/postgres';
import type { BeginRequest } from '../../libs/ledger/src/base/ledger.js';
import { attemptSandbox, type AttemptSandbox } from '../support/attempt-sandbox.js';
import { postgresForTests, type TestPostgres } from '../support/postgres.js';

const LONG_MS = 60_000;

let server: TestPostgres;
let sandbox: AttemptSandbox;
beforeAll(async () => {
  server = await postgresForTests();
  sandbox = await attemptSandbox(server.url);
});
afterAll(async () => {
  await sandbox.close();
  await server.stop();
});

function attempt(runId: string): BeginRequest {
  return { runId, nonce: randomUUID(), worker: 'worker/1', ttlMs: LONG_MS, maxAttempts: 3 };
}

/**
 * A pool whose server looks for circles almost at once, and which counts them: of each, one side is told that it was given
 * up. The server's own counter is no measure, because it is behind, and counts what happens in other tests as well.
 */
function circleCounter() {
  const own = sandbox.another({ max: 12, options: '-c deadlock_timeout=10ms' });
  const counted = { circles: 0 };
  const asked = async (connection: PoolClient, query: SqlQuery) => {
    try {
      return await connection.query(query);
    } catch (error) {
      if (Reflect.get(Object(error), 'code') === '40P01') counted.circles += 1;
      throw error;
    }
  };
  const connect: SqlPool['connect'] = async () => {
    const connection = await own.connect();
    const query = (text: SqlQuery) => asked(connection, text);
    return new Proxy(connection, { get: (target, key) => (key === 'query' ? query : Reflect.get(target, key)) });
  };
  return { counted, pool: { connect, query: (query: SqlQuery) => own.query(query) } };
}

describe('the attempts of one turn, of many crons', () => {
  it.each(['begin', 'heartbeat', 'finish'] as const)('lock them in the order of their names (%s)', async (call) => {
    const names = 'hcajedbigf'.split('').map((name) => `${call}-${name}`);
    const runs = await Promise.all(names.map((cron) => sandbox.enqueued({ cron })));
    const attempts = call === 'begin' ? [] : await Promise.all(runs.map((runId) => sandbox.begun(runId)));
    const ledger = sandbox.attempts();
    const held = await sandbox.transaction(`select from "${sandbox.schema}".cron where name = '${call}-e' for update`);
    const asked = {
      begin: () => runs.map((runId) => ledger.begin(attempt(runId))),
      heartbeat: () => attempts.map((one) => ledger.heartbeat(one, LONG_MS)),
      finish: () => attempts.map((one) => ledger.finish(one, { kind: 'succeeded' })),
    }[call]();
    await sandbox.untilBlocked(1);
    const free = `select name from :schema.cron where name like $1 order by name for update skip locked`;
    const unlocked = await sandbox.value(`select array_agg(name) from (${free}) as free`, `${call}-%`);
    await held.commit();
    await Promise.all(asked);
    expect(unlocked).toEqual('fghij'.split('').map((name) => `${call}-${name}`));
  });

  it('never wait for each other in a circle, however many share their crons', async () => {
    const crons = Array.from({ length: 12 }, (_, n) => `shared-${n}`);
    const { pool, counted } = circleCounter();
    // A ledger each, so that the batches don't wait in one line; every second one asks in the opposite order.
    const workers = Array.from({ length: 12 }, async (_, n) => {
      const ledger = sandbox.attempts({ pool });
      const runs = await Promise.all(
        (n % 2 === 0 ? crons : crons.toReversed()).map((cron) => sandbox.enqueued({ cron })),
      );
      const requests = runs.map(attempt);
      const begun = await Promise.all(requests.map((request) => ledger.begin(request)));
      const refs = begun.map((reply, at) => {
        if (reply.verdict !== 'begun') throw new Error(`Expected to begin, got ${reply.verdict}.`);
        return { runId: reply.run.id, fence: reply.fence, nonce: requests[at]?.nonce ?? '' };
      });
      await Promise.all(refs.map((ref) => ledger.heartbeat(ref, LONG_MS)));
      return Promise.all(refs.map((ref) => ledger.finish(ref, { kind: 'succeeded' })));
    });
    const ended = await Promise.all(workers);
    expect(ended.flat()).toEqual(Array.from({ length: 144 }, () => 'succeeded'));
    expect(counted.circles).toBe(0);
  });
});
