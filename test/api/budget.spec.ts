import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { LEDGER } from '@fencepost/jobs';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import type { Ledger } from '@fencepost/ledger';
import { RedisCatalog } from '@fencepost/ledger/redis';
import { CronOperator } from '@fencepost/operations';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cron } from '../contracts/catalog/stage.js';
import { givePast } from '../support/past-runs.js';
import { privateRedis, type PrivateRedis } from '../support/redis.js';
import { startSchedulerApp, type RunningApp } from '../support/scheduler-app.js';
import { until } from '../support/until.js';

const CRONS = 5_000;
const RUNS = 100_000;
const EVERY_MS = 5_000;
const HOUR_MS = 3_600_000;
const BY = { by: 'test', reason: 'a test' };
const MANY = 'cron-0000';

/** What one question of a person may cost the server that claims are made on: commands, and of each what a script does. */
const MAX_COMMANDS = 100;
/** So many take about three milliseconds. Counted, because on a busy machine every command takes long. */
const MAX_CALLS = 1_000;

const FORGOTTEN_MS = 2_100;

let server: PrivateRedis;
let redis: RedisClient;
let running: RunningApp;
let oneRun = '';

beforeAll(async () => {
  server = await privateRedis();
  redis = await connectRedis({ url: server.url, commandTimeoutMs: 20_000, name: 'test' });
  running = await startSchedulerApp({ redis: server.url, settings: { keepRuns: 2 * RUNS } });
  const space = { redis, prefix: running.prefix, tenant: 'default' };
  const named = (n: number) =>
    cron({ name: `cron-${String(n).padStart(4, '0')}`, expression: '0 3 1 1 *', tags: ['few'] });
  await new RedisCatalog(space).declare(
    Array.from({ length: CRONS }, (_, n) => named(n)),
    { seq: 1, source: 'test' },
  );
  oneRun = await endedRun();
  const last = Math.floor(Date.now() / EVERY_MS) * EVERY_MS - 60_000;
  const instants = Array.from({ length: RUNS }, (_, n) => last - (RUNS - 1 - n) * EVERY_MS);
  await givePast(space, { cron: MANY, instants, like: oneRun });
}, 120_000);
afterAll(async () => {
  await running.close();
  await closeRedis(redis);
  await server.stop();
});

async function endedRun(): Promise<string> {
  const operator = running.app.get(CronOperator, { strict: false });
  const ledger = running.app.get<Ledger>(LEDGER, { strict: false });
  const reply = await operator.trigger('cron-0001', { ...BY, force: true });
  if (reply.verdict !== 'claimed') throw new Error(`Expected a run, got ${reply.verdict}.`);
  const { runId } = reply;
  const nonce = randomUUID();
  const begun = await ledger.begin({ runId, nonce, worker: 'w/123456789', ttlMs: 60_000, maxAttempts: 1 });
  if (begun.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${begun.verdict}.`);
  await ledger.finish({ runId, nonce, fence: begun.fence }, { kind: 'succeeded' });
  return runId;
}

const now = Date.now();
const at = (ms: number) => new Date(now + ms).toISOString();

/** Those that look at all crons keep what they saw for two seconds. */
const AFRESH: readonly string[] = ['/api/crons?limit=500', '/api/crons?tag=few&search=cron-4&limit=50', '/api/triage'];

const ROUTES: readonly string[] = [
  ...AFRESH,
  `/api/crons/${MANY}`,
  `/api/crons/${MANY}/runs?limit=500`,
  `/api/crons/${MANY}/timeline?from=${at(-24 * HOUR_MS)}&to=${at(HOUR_MS)}&limit=5000`,
  `/api/crons/${MANY}/why?at=last`,
  `/api/crons/${MANY}/journal`,
  '/api/overview',
  '/api/doctor',
  '/api/runs?limit=500',
  '/api/runs?state=failed&limit=500',
  `/api/runs?from=${at(-24 * HOUR_MS)}&limit=500`,
  `/api/runs?cron=${MANY}&limit=500`,
  '/api/runs/failures',
  '/api/leases?limit=500',
  '/api/own-leases',
  '/api/upcoming?hours=168',
  `/api/upcoming/at?at=${at(HOUR_MS)}`,
  '/api/pods',
  '/api/receivers',
  '/api/audit',
  '/api/journal',
];

interface Sent {
  /** Where it came from; `lua`: from the script above. */
  readonly source: string;
  /** The last word of the command. */
  readonly word: string;
}

describe('a question of the API', () => {
  let monitor: Redis;
  let sent: Sent[] = [];
  beforeAll(async () => {
    // Histories are read in the background while somebody looks.
    await until('every history is read', async () => {
      const response = await running.ask('/api/triage');
      return ((await response.json()) as { unread: number }).unread === 0;
    });
    monitor = await new Redis(server.url).monitor();
    monitor.on('monitor', (_time: string, words: string[], source: string) =>
      sent.push({ source, word: words.at(-1) ?? '' }),
    );
  });
  afterAll(() => monitor.disconnect());

  /** What the connection that looks had the server do for an answer. */
  async function costOf(path: string): Promise<{ commands: number; mostCalls: number }> {
    if (AFRESH.includes(path)) await pause(FORGOTTEN_MS);
    sent = [];
    const response = await running.ask(path, { as: 'admin' });
    const body = await response.text();
    if (!response.ok) throw new Error(`Expected an answer to ${path}, got ${response.status}: ${body}`);
    // What the monitor hears is in order: this comes after all of that.
    const end = randomUUID();
    await redis.echo(end);
    await until('the monitor has heard all of it', async () => sent.some(({ word }) => word === end));
    const list = String(await redis.client('LIST'));
    const own = new Set([...list.matchAll(/ addr=(\S+) .* name=fencepost-reads/g)].map(([, address = '']) => address));
    const calls: number[] = [];
    let isOwn = false;
    for (const { source } of sent) {
      if (source !== 'lua') isOwn = own.has(source);
      if (isOwn && source !== 'lua') calls.push(0);
      if (isOwn && source === 'lua') calls.push((calls.pop() ?? 0) + 1);
    }
    return { commands: calls.length, mostCalls: Math.max(0, ...calls) };
  }

  it.each(ROUTES)('%s costs a bounded number of commands, and each of them little', async (path) => {
    const { commands, mostCalls } = await costOf(path);
    expect(commands).toBeLessThanOrEqual(MAX_COMMANDS);
    expect(mostCalls).toBeLessThanOrEqual(MAX_CALLS);
  });
});
