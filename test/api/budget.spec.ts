import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { LEDGER } from '@fencepost/jobs';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import type { Ledger } from '@fencepost/ledger';
import { RedisCatalog } from '@fencepost/ledger/redis';
import { CronOperator } from '@fencepost/operations';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cron } from '../contracts/catalog/stage.js';
import { monitorOf } from '../support/monitor.js';
import { givePast } from '../support/past-runs.js';
import { privateRedis, type PrivateRedis } from '../support/redis.js';
import { startSchedulerApp, type RunningApp } from '../support/scheduler-app.js';
import { until } from '../support/until.js';

const CRONS = 5_000;
const RUNS = 100_000;
const EVERY_MS = 1_000;
const HOUR_MS = 3_600_000;
const BY = { by: 'test', reason: 'a test' };
const MANY = 'cron-0000';

/** What one question of a person may cost the server that claims are made on: commands, and of each what a script does. */
const MAX_COMMANDS = 100;
/** So many take about three milliseconds. Counted, because on a busy machine every command takes long. */
const MAX_CALLS = 1_250;

const FORGOTTEN_MS = 2_100;

let server: PrivateRedis;
let redis: RedisClient;
let running: RunningApp;
let oneRun = '';
let lastRun = 0;

beforeAll(async () => {
  server = await privateRedis();
  redis = await connectRedis({ url: server.url, commandTimeoutMs: 20_000, name: 'test' });
  running = await startSchedulerApp({ redis: server.url, settings: { keepRuns: 2 * RUNS } });
  const space = { redis, prefix: running.prefix, tenant: 'default' };
  const named = (n: number) =>
    cron({ name: `cron-${String(n).padStart(4, '0')}`, expression: '0 3 1 1 *', tags: ['few'] });
  await new RedisCatalog(space).declare(
    Array.from({ length: CRONS }, (_, n) => named(n)),
    { revision: 1, app: 'test' },
  );
  oneRun = await endedRun();
  const last = Math.floor(Date.now() / EVERY_MS) * EVERY_MS - 60_000;
  lastRun = last;
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
const LOOK_AT_ALL = /^\/api\/(crons\?|triage)/;

const DAY = { from: at(-24 * HOUR_MS), to: at(HOUR_MS) };

/** What a route is asked with, for a parameter that it needs or that makes its answer longer. */
const VALUES: Readonly<Record<string, string>> = {
  ...{ cron: MANY, ...DAY, at: at(HOUR_MS), refusals: '0', ledgerAt: at(0) },
  ...{ kind: 'lease', resource: 'none', fence: '1', holder: 'nobody/1' },
};
const MAKES_LONGER = ['from', 'to'];

/** A stream, which asks the journal four times a second for all that listen. */
const ENDLESS = ['/api/events'];

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
}

interface Described {
  readonly paths: Readonly<Record<string, { readonly get?: { readonly parameters?: readonly Parameter[] } }>>;
}

const { paths } = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as Described;

/** Every route that only looks, with its longest page. */
const DESCRIBED = Object.entries(paths).flatMap(([path, { get }]) => {
  if (!get || ENDLESS.includes(path)) return [];
  const asked = (get.parameters ?? []).flatMap((parameter) => wordsOf(parameter));
  return [`${path.replace('{cron}', MANY)}${asked.length === 0 ? '' : `?${asked.join('&')}`}`];
});

function wordsOf({ name, in: where, required = false, description = '' }: Parameter): string[] {
  const [, most] = / 1 to ([\d,]+)/.exec(description) ?? [];
  if (where === 'query' && name === 'limit' && most) return [`limit=${most.replaceAll(',', '')}`];
  if (where !== 'query' || !(required || MAKES_LONGER.includes(name))) return [];
  const { [name]: value } = VALUES;
  if (value === undefined) throw new Error(`A route needs "${name}". Add a value for it to VALUES.`);
  return [`${name}=${encodeURIComponent(value)}`];
}

const ROUTES: readonly string[] = [
  ...DESCRIBED,
  '/api/crons?tag=few&search=cron-4&limit=50',
  `/api/crons/${MANY}/timeline?from=${DAY.from}&to=${DAY.to}&bucket=1m&limit=5000`,
  `/api/crons/${MANY}/timeline?from=${at(-48 * HOUR_MS)}&to=${DAY.to}&bucket=1h`,
  `/api/crons/${MANY}/why?at=last`,
  '/api/runs?limit=500',
  '/api/runs?state=failed&limit=500',
  `/api/runs?cron=${MANY}&limit=500`,
  '/api/upcoming?hours=168',
];

interface Sent {
  /** Where it came from; `lua`: from the script above. */
  readonly source: string;
  /** The last word of the command. */
  readonly word: string;
}

describe('a question of the API', () => {
  let endOfMonitor: () => void;
  let sent: Sent[] = [];
  beforeAll(async () => {
    // Histories are read in the background while somebody looks.
    await until('every history is read', async () => {
      const response = await running.ask('/api/triage');
      return ((await response.json()) as { unread: number }).unread === 0;
    });
    await redis.config('SET', 'slowlog-log-slower-than', '500');
    endOfMonitor = await monitorOf(server.url, (words, source) => sent.push({ source, word: words.at(-1) ?? '' }));
  });
  afterAll(() => endOfMonitor());

  /** What the connection that looks had the server do for an answer. */
  async function costOf(path: string): Promise<{ commands: number; mostCalls: number; longestMs: number }> {
    if (LOOK_AT_ALL.test(path)) await pause(FORGOTTEN_MS);
    await redis.call('SLOWLOG', 'RESET');
    sent = [];
    const response = await running.ask(path.replace('{id}', oneRun), { as: 'admin' });
    const body = await response.text();
    // What is not there has been looked for.
    const isAnswer = response.ok || response.status === 404;
    if (!isAnswer) throw new Error(`Expected an answer to ${path}, got ${response.status}: ${body}`);
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
    return { commands: calls.length, mostCalls: Math.max(0, ...calls), longestMs: await longestMs() };
  }

  /** For people: a machine that has other work to do takes longer, and so does a server that tells a monitor of each call. */
  async function longestMs(): Promise<number> {
    const entries = (await redis.call('SLOWLOG', 'GET', '128')) as [id: number, at: number, micros: number][];
    return Math.max(0, ...entries.map(([, , micros]) => micros)) / 1_000;
  }

  it.each(ROUTES)('%s costs a bounded number of commands, and each of them little', async (path) => {
    let cost = await costOf(path);
    // Histories are refreshed over the same connection from time to time: what is seen each time is the answer's own.
    for (let tries = 1; tries < 3 && cost.commands > MAX_COMMANDS; tries += 1) cost = await costOf(path);
    const { commands, mostCalls, longestMs: longest } = cost;
    console.log(`${commands} commands, at most ${mostCalls} calls in one, longest ${longest} ms: ${path}`);
    expect(commands).toBeLessThanOrEqual(MAX_COMMANDS);
    expect(mostCalls).toBeLessThanOrEqual(MAX_CALLS);
  });

  it('about a day of a cron of each second tells of every run in one answer', async () => {
    const span = `from=${DAY.from}&to=${DAY.to}`;
    const response = await running.ask(`/api/crons/${MANY}/timeline?${span}&bucket=1m&limit=5000`);
    const { items, more } = (await response.json()) as { items: { count: number; asked: null }[]; more: string | null };
    const inDay = Math.floor((lastRun - Date.parse(DAY.from)) / EVERY_MS) + 1;
    const counted = items.filter(({ asked }) => asked === null).reduce((sum, { count }) => sum + count, 0);
    expect(more).toBeNull();
    expect(counted).toBe(inDay);
    expect(inDay).toBeGreaterThan(86_000);
    expect(items.length).toBeLessThan(1_500);
  });
});
