import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FenceExhaustedError } from '@fencepost/lease';
import type { SqlPool, SqlQuery } from '@fencepost/lease/postgres';
import type { AttemptOutcome, AttemptRef, BeginRequest } from '../base/attempting.js';
import { functionOf } from './postgres-ledger-version.js';
import { attemptSandbox, type AttemptSandbox } from './attempt-sandbox.stage.js';
import { postgresForTests, type TestPostgres } from '../../../../test/support/postgres.js';
import { replyDroppingProxy } from '../../../../test/support/proxies.js';

let server: TestPostgres;
let sandbox: AttemptSandbox;
beforeAll(async () => {
  server = await postgresForTests();
  sandbox = await attemptSandbox(server.url);
});
afterAll(async () => {
  await sandbox.close();
});

const LONG_MS = 60_000;

function attempt(runId: string, over: Partial<BeginRequest> = {}): BeginRequest {
  return { runId, nonce: randomUUID(), worker: 'worker/1', ttlMs: LONG_MS, maxAttempts: 3, ...over };
}

async function manyRuns(number: number, crons: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < number; n += 1) ids.push(await sandbox.enqueued({ cron: crons[n % crons.length] ?? '' }));
  return ids;
}

/** A pool whose connections tell which functions of the ledger they call. */
function watchedPool(): { readonly pool: SqlPool; readonly called: string[] } {
  const called: string[] = [];
  const watched = (connection: PoolClient, query: SqlQuery) => {
    const [, name] = /^select "[^"]+"\."([^"]+)"\(/.exec(query.text) ?? [];
    if (name) called.push(name);
    return connection.query(query);
  };
  const connect = async () => {
    const connection = await sandbox.pool.connect();
    const query = (asked: SqlQuery) => watched(connection, asked);
    return new Proxy(connection, {
      get: (target, key) => (key === 'query' ? query : Reflect.get(target, key)),
    });
  };
  return { pool: { connect, query: (query) => sandbox.pool.query(query) }, called };
}

const TRACKED = `select coalesce(json_object_agg(funcname, calls), '{}') from pg_stat_user_functions where schemaname = $1`;

/** How often the server calls each procedural function while attempts end in these ways, all of which somebody is told of. */
async function callsOf(outcomes: readonly AttemptOutcome[]): Promise<Record<string, number>> {
  const runs = await manyRuns(outcomes.length, ['a', 'b', 'c']);
  const refs = await Promise.all(runs.map((runId) => sandbox.begun(runId, { notify: 'succeeded,failed,uncertain' })));
  const pool = sandbox.another({ connectionString: server.url, max: 1, options: '-c track_functions=pl' });
  const before = await sandbox.value<Record<string, number>>(TRACKED, sandbox.schema);
  const ledger = sandbox.attempts({ pool });
  const states = await Promise.all(outcomes.map((outcome, n) => ledger.finish(refs[n] as AttemptRef, outcome)));
  expect(states).toEqual(outcomes.map(({ kind }) => (kind === 'retry' ? 'enqueued' : kind)));
  await pool.query('select pg_stat_force_next_flush()');
  const after = await sandbox.value<Record<string, number>>(TRACKED, sandbox.schema);
  return Object.fromEntries(Object.entries(after).map(([name, calls]) => [name, calls - (before[name] ?? 0)]));
}

describe('the attempts of one turn of the event loop', () => {
  it('are one statement: begins, heartbeats and ends each', async () => {
    const { pool, called } = watchedPool();
    const ledger = sandbox.attempts({ pool });
    const runs = await manyRuns(40, ['a', 'b', 'c']);
    const requests = runs.map((runId) => attempt(runId));
    const begun = await Promise.all(requests.map((request) => ledger.begin(request)));
    expect(begun.map((reply) => reply.verdict === 'begun' && reply.run.id)).toEqual(runs);
    const refs = begun.map((reply, n): AttemptRef => {
      if (reply.verdict !== 'begun') throw new Error(reply.verdict);
      return { runId: reply.run.id, fence: reply.fence, nonce: requests[n]?.nonce ?? '' };
    });
    expect(await Promise.all(refs.map((ref) => ledger.heartbeat(ref, LONG_MS)))).toEqual(runs.map(() => 'extended'));
    const ended = await Promise.all(refs.map((ref) => ledger.finish(ref, { kind: 'succeeded' })));
    expect(ended).toEqual(runs.map(() => 'succeeded'));
    expect(called).toEqual(['begin_attempts', 'heartbeat_attempts', 'finish_attempts'].map(functionOf));
  });

  it('end in as many calls of functions as one does, whatever becomes of each', async () => {
    const outcomes: readonly AttemptOutcome[] = [
      { kind: 'succeeded' },
      { kind: 'failed', error: 'it broke' },
      { kind: 'retry', error: 'again', delayMs: 0 },
      { kind: 'cancelled', error: 'told to stop' },
      {
        kind: 'uncertain',
        error: 'unknown',
        unresolvedEffect: { effect: 'mail', item: null, since: 1, unknownReason: 'timeout' },
      },
    ];
    const one = await callsOf(outcomes.slice(0, 1));
    expect(one).toMatchObject({ [functionOf('finish_attempts')]: 1, [functionOf('note_notifications')]: 1 });
    expect(await callsOf(Array.from({ length: 10 }, () => outcomes).flat())).toEqual(one);
  });

  it('answer the second end of a run by what the first has made of it', async () => {
    const ledger = sandbox.attempts();
    const [twice] = await manyRuns(1, ['twice']);
    const first = await sandbox.begun(twice ?? '');
    expect(await ledger.finish(first, { kind: 'retry', error: 'again', delayMs: 0 })).toBe('enqueued');
    const second = await sandbox.begun(twice ?? '');
    const ended = await Promise.all([
      ledger.finish({ ...second, nonce: 'nobody’s' }, { kind: 'failed', error: 'not mine' }),
      ledger.finish(first, { kind: 'retry', error: 'again', delayMs: 0 }),
      ledger.finish(second, { kind: 'succeeded' }),
      ledger.finish(second, { kind: 'failed', error: 'too late' }),
    ]);
    expect(ended).toEqual([null, 'enqueued', 'succeeded', 'succeeded']);
    expect(await sandbox.value(`select refusals from :schema.cron where name = 'twice'`)).toBe('1');
  });

  it('leave a result in a table of its own, which goes with the run whatever build deletes it', async () => {
    const ledger = sandbox.attempts();
    const [kept, deleted, without] = await manyRuns(3, ['returned']);
    const results = () => sandbox.value<string[]>('select array_agg(result order by result) from :schema.run_result');
    await Promise.all([
      ledger.finish(await sandbox.begun(kept ?? ''), { kind: 'succeeded', result: '1' }),
      ledger.finish(await sandbox.begun(deleted ?? ''), { kind: 'succeeded', result: '2' }),
      ledger.finish(await sandbox.begun(without ?? ''), { kind: 'succeeded' }),
    ]);
    expect(await results()).toEqual(['1', '2']);
    await sandbox.value('delete from :schema.run where id = any($1)', [deleted, without]);
    expect(await results()).toEqual(['1']);
  });

  it('get an answer each, whatever the others of the batch are', async () => {
    const ledger = sandbox.attempts();
    const [good, held, over] = await manyRuns(3, ['mixed']);
    const holder = await sandbox.begun(held ?? '');
    await ledger.finish(await sandbox.begun(over ?? ''), { kind: 'succeeded' });
    const replies = await Promise.allSettled([
      ledger.begin(attempt('nobody-knows@1')),
      ledger.begin(attempt('mixed@1')),
      ledger.begin(attempt(good ?? '', { ttlMs: Number.NaN })),
      ledger.begin(attempt(`mixed@\0\ud800`)),
      ledger.begin(attempt(held ?? '')),
      ledger.begin(attempt(over ?? '')),
      ledger.begin(attempt(good ?? '', { worker: 'of \0 and \udc00' })),
    ]);
    expect(replies).toMatchObject([
      { value: { verdict: 'missing' } },
      { value: { verdict: 'missing' } },
      { status: 'rejected', reason: expect.any(RangeError) },
      { value: { verdict: 'missing' } },
      { value: { verdict: 'busy' } },
      { value: { verdict: 'terminal', state: 'succeeded' } },
      { value: { verdict: 'begun', run: { worker: 'of \u{fffd} and \u{fffd}' } } },
    ]);
    const mixed = await Promise.all([
      ledger.heartbeat({ ...holder, nonce: 'another' }, LONG_MS),
      ledger.heartbeat({ ...holder, runId: 'nobody-knows@1' }, LONG_MS),
      ledger.heartbeat(holder, LONG_MS),
    ]);
    expect(mixed).toEqual(['stale', 'stale', 'extended']);
    const ended = await Promise.all([
      ledger.finish({ ...holder, nonce: 'another' }, { kind: 'succeeded' }),
      ledger.finish({ ...holder, runId: 'nobody-knows@1' }, { kind: 'succeeded' }),
      ledger.finish(holder, { kind: 'failed', error: 'it said "\0"' }),
    ]);
    expect(ended).toEqual([null, null, 'failed']);
    const refusals = await sandbox.value<string>(`select refusals from :schema.cron where name = 'mixed'`);
    expect(refusals).toBe('2');
  });

  it('respect each other’s turn: of two runs of a cron that skips, one begins', async () => {
    const ledger = sandbox.attempts();
    const runs = [
      await sandbox.enqueued({ cron: 'one', overlap: 'skip' }),
      await sandbox.enqueued({ cron: 'one', overlap: 'skip' }),
    ];
    const replies = await Promise.all(runs.map((runId) => ledger.begin(attempt(runId))));
    expect(replies.map(({ verdict }) => verdict)).toEqual(['begun', 'busy']);
  });
});

describe('fences', () => {
  it('are larger than every earlier one of the cron, over all runs of a batch', async () => {
    const ledger = sandbox.attempts();
    const runs = await manyRuns(20, ['fences']);
    const replies = await Promise.all(runs.map((runId) => ledger.begin(attempt(runId))));
    const fences = replies.map((reply) => (reply.verdict === 'begun' ? reply.fence : 0));
    expect(fences).toEqual([...new Set(fences)].toSorted((a, b) => a - b));
  });

  it('go to 2^53 − 1 and no further, and the run stays as it was', async () => {
    const [last, beyond] = await manyRuns(2, ['exhausted']);
    await sandbox.value(`update :schema.cron set run_fence = 9007199254740990 where name = 'exhausted'`);
    expect((await sandbox.begun(last ?? '')).fence).toBe(2 ** 53 - 1);
    await expect(sandbox.attempts().begin(attempt(beyond ?? ''))).rejects.toThrow(FenceExhaustedError);
    expect(await sandbox.value(`select state from :schema.run where id = $1`, beyond)).toBe('enqueued');
  });
});

describe('a worker whose connections break', () => {
  it('takes each step once when it sends it again after its reply got lost', async () => {
    const { hostname, port } = new URL(server.url);
    const proxy = await replyDroppingProxy(`postgres://${hostname}:${port}`);
    const lossy = sandbox.another({ connectionString: server.url.replace(`:${port}`, `:${new URL(proxy.url).port}`) });
    const ledger = sandbox.attempts({ pool: lossy });
    const runId = await sandbox.enqueued({ cron: 'lossy' });
    const request = attempt(runId);
    const again = async <T>(call: () => Promise<T>): Promise<T> => {
      await ledger.effects(runId);
      proxy.dropNextReply();
      await expect(call()).rejects.toBeInstanceOf(Error);
      return call();
    };
    const begun = await again(() => ledger.begin(request));
    expect(begun).toMatchObject({ verdict: 'begun', attempt: 1 });
    const ref = {
      runId,
      nonce: request.nonce,
      fence: begun.verdict === 'begun' ? begun.fence : (0 as AttemptRef['fence']),
    };
    const mail = { name: 'mail', ifUnknown: 'tell' } as const;
    expect(await again(() => ledger.beginEffect(ref, mail))).toEqual({ verdict: 'go', unknown: null });
    expect(await again(() => ledger.finishEffect(ref, 'mail', { kind: 'done', result: '1' }))).toBe('recorded');
    expect(await again(() => ledger.finish(ref, { kind: 'retry', error: 'again', delayMs: 0 }))).toBe('enqueued');
    expect(proxy.dropped).toBe(4);
    expect(await sandbox.value(`select attempt from :schema.run where id = $1`, runId)).toBe(1);
    expect(await sandbox.value(`select refusals from :schema.cron where name = 'lossy'`)).toBe('0');
    await proxy.close();
  });
});

describe('names', () => {
  it('with NUL are refused, because PostgreSQL would make two of them one', async () => {
    const ref = await sandbox.begun(await sandbox.enqueued());
    const ledger = sandbox.attempts();
    await expect(ledger.beginEffect(ref, { name: 'a\0b', ifUnknown: 'go' })).rejects.toThrow(RangeError);
    await expect(ledger.advanceItems(ref, 'rows', { finished: [], begun: ['a\0b'] })).rejects.toThrow(RangeError);
  });
});
