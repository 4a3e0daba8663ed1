import { setImmediate as turn } from 'node:timers/promises';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { CronCatalog, CronOperator } from '@fencepost/operations';
import { RedisLedger } from '@fencepost/ledger/redis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { mapInSlices } from '@fencepost/operations/internal';
import { view } from '../../bench/viewers/routes.mjs';
import { ensureBuilt } from '../../scripts/build.mjs';
import { usePods } from '../support/pods.js';
import { monitorOf } from '../support/monitor.js';
import { freshPrefix, testRedis } from '../support/redis.js';
import { startSchedulerApp, TOKENS, type RunningApp } from '../support/scheduler-app.js';
import { until } from '../support/until.js';

const BY = { by: 'a test', reason: 'a test' };
const DAY = 86_400_000;

let redis: RedisClient;
beforeAll(async () => {
  redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 10_000, name: 'test' });
});
afterAll(() => closeRedis(redis));

describe('50 viewers of a scheduler pod', { timeout: 120_000 }, () => {
  const pods = usePods();
  beforeAll(() => ensureBuilt({ pods: true }), 600_000);

  it('cost no lease and no instant of a cron of each second', async () => {
    const prefix = freshPrefix();
    Object.assign(pods.env, { REDIS_URL: testRedis(), FENCEPOST_PREFIX: prefix, FENCEPOST_RATE_LIMIT: '1000000' });
    const scheduler = await pods.scheduler('scheduler-1');
    await pods.worker('worker-1', { env: { CRONS: 'tick' } });
    const ledger = new RedisLedger({ redis, prefix, tenant: 'default' });
    await until('the cron runs', async () => (await ledger.runs('tick', 3)).length === 3);
    const [before] = await ledger.runs('tick', 1);
    const watch = await view({ url: scheduler.url, crons: ['tick'], viewers: 50, ms: 6_000 });
    const from = before?.scheduledAt ?? 0;
    const until6 = from + 6_000;
    await until('six instants later', async () => ((await ledger.runs('tick', 1))[0]?.scheduledAt ?? 0) >= until6);
    const { runs } = await ledger.account('tick', from, until6);
    expect(runs.map(({ scheduledAt, skipped }) => [scheduledAt, skipped])).toEqual(
      Array.from({ length: 6 }, (_, n) => [from + n * 1_000, null]),
    );
    expect(scheduler.eventsOf('lease_lost')).toEqual([]);
    // It was really asked, and nothing failed: a refusal says when to come again.
    expect(watch.answered).toBeGreaterThan(10);
    expect(Object.keys(watch.statuses).filter((status) => !['200', '400', '429', '503'].includes(status))).toEqual([]);
    expect(watch.refusedWithoutRetryAfter).toBe(0);
    await pods.terminateAll();
  });
});

describe('the event loop', () => {
  /** Takes a millisecond or more, by a clock that also counts when the process waits. */
  function busy(): void {
    const end = performance.now() + 1;
    while (performance.now() < end);
  }

  it('goes on after a few milliseconds of a long computation, and of several of them together', async () => {
    let [steps, longest] = [0, 0];
    const over = new AbortController();
    const others = (async () => {
      for (; !over.signal.aborted; steps = 0) {
        await turn();
        longest = Math.max(longest, steps);
      }
    })();
    const step = () => {
      busy();
      steps += 1;
    };
    await Promise.all([1, 2, 3].map(() => mapInSlices(Array.from({ length: 40 }), step)));
    over.abort();
    await others;
    expect(longest).toBeGreaterThan(0);
    expect(longest).toBeLessThanOrEqual(6);
  });
});

describe('a page', { timeout: 60_000 }, () => {
  let running: RunningApp;
  beforeAll(async () => {
    running = await startSchedulerApp({ access: { rateLimit: 100_000, tokens: TOKENS } });
    const crons = running.app.get(CronCatalog, { strict: false });
    await crons.set('seconds', { expression: '* * * * * *' }, BY);
    await crons.set('by-hand', { expression: '@manual' }, BY);
  }, 30_000);
  afterAll(() => running.close());

  it('of ten years is refused with what to ask instead', async () => {
    const response = await running.ask('/api/crons/seconds/timeline?from=2020-01-01T00:00:00Z&to=2030-01-01T00:00:00Z');
    const problem = (await response.json()) as { detail: string };
    expect([response.status, problem]).toMatchObject([400, { code: 'OPERATOR_INPUT' }]);
    expect(problem.detail).toBe(
      'Expected "from" and "to" at most 92 days apart, got 3653. Request a shorter range, such as ' +
        'from=2020-01-01T00:00:00.000Z&to=2020-04-02T00:00:00.000Z, then the next.',
    );
  });

  it('of very many runs is answered part by part, and each run is in one of them', async () => {
    const operator = running.app.get(CronOperator, { strict: false });
    const made: string[] = [];
    for (let n = 0; n < 1_200; n += 100) {
      const replies = await Promise.all(
        Array.from({ length: 100 }, () => operator.trigger('by-hand', { by: 'a test', force: true })),
      );
      made.push(...replies.flatMap((reply) => (reply.verdict === 'claimed' ? [reply.runId] : [])));
    }
    const seen = new Set<string>();
    let parts = 0;
    for (let from: string | null = new Date(Date.now() - DAY).toISOString(); from !== null; parts += 1) {
      const to = new Date(Date.now() + DAY).toISOString();
      const response = await running.ask(`/api/crons/by-hand/timeline?from=${from}&to=${to}`);
      const body = (await response.json()) as { items: { runId: string | null }[]; more: string | null };
      for (const { runId } of body.items) if (runId !== null) seen.add(runId);
      from = body.more;
    }
    expect(parts).toBeGreaterThan(1);
    expect([...seen].toSorted()).toEqual(made.toSorted());
  });

  it('reads histories over a connection that neither leases nor claims use, and so do metrics', async () => {
    const sources = new Set<string>();
    let [sender, isOver] = ['', false];
    const end = await monitorOf(testRedis(), ([command = '', ...words], source) => {
      if (source !== 'lua') sender = source;
      const isOfHistory = words[0]?.includes(running.prefix) && /:(runs|skips|failed|uncertain)$/.test(words[0]);
      if (isOfHistory && /^z(rev)?rangebyscore$/i.test(command)) sources.add(sender);
      isOver ||= words[0] === running.prefix;
    });
    for (const path of ['timeline', 'timeline?bucket=1h', 'runs', 'why?at=last']) {
      expect((await running.ask(`/api/crons/seconds/${path}`)).status).toBe(200);
    }
    for (const path of ['/metrics', '/api/runs', '/api/triage']) await running.ask(path, { as: 'admin' });
    await redis.echo(running.prefix);
    await until('the monitor has heard all of it', async () => isOver);
    end();
    const clients = String(await redis.client('LIST'));
    const reads = [...clients.matchAll(/ addr=(\S+) .* name=fencepost-reads/g)].map(([, address = '']) => address);
    expect(sources.size).toBe(1);
    expect(reads).toContain([...sources][0]);
  });
});

describe('a ledger in Redis', () => {
  it('reads many runs some at a time', async () => {
    const space = { prefix: freshPrefix(), tenant: 'default' };
    const ids = Array.from({ length: 450 }, (_, n) => `dense@${n + 1}`);
    const runs = redisKeys(space)('dense', 'runs');
    await redis.zadd(runs, ...ids.flatMap((id, n) => [n + 1, id]));
    let [now, most, all] = [0, 0, 0];
    const counting = new Proxy(redis, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        if (typeof name !== 'string' || !name.startsWith('fencepost:read-runs:')) return member.bind(target) as unknown;
        return async (...words: unknown[]) => {
          const asked = Number(words[0]);
          all += asked;
          most = Math.max(most, (now += asked));
          return Promise.resolve(Reflect.apply(member, target, words)).finally(() => (now -= asked));
        };
      },
    });
    await new RedisLedger({ redis: counting, ...space }).account('dense', 0, 1_000);
    await redis.del(runs);
    expect([all, most]).toEqual([450, 250]);
  });
});

describe('a listener', { timeout: 60_000 }, () => {
  const aborters: AbortController[] = [];
  let running: RunningApp | null = null;
  afterEach(async () => {
    for (const aborter of aborters.splice(0)) aborter.abort();
    await running?.close();
  });

  it('has 50 places, and leaves the others theirs', async () => {
    running = await startSchedulerApp();
    const listen = (as: 'viewer' | 'operator') => {
      const aborter = new AbortController();
      aborters.push(aborter);
      return running!.ask('/api/events', { as, signal: aborter.signal });
    };
    const mine = await Promise.all(Array.from({ length: 50 }, () => listen('viewer')));
    expect(new Set(mine.map(({ status }) => status))).toEqual(new Set([200]));
    const refused = await listen('viewer');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await listen('operator')).status).toBe(200);
  });
});
