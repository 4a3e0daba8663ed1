import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { afterEach, describe, expect, it } from 'vitest';
import { RedisJournal } from '@fencepost/operations/journal';
import { happened, type NewJournalEntry } from '../contracts/journal.contract.js';
import { fencepost } from '../support/fencepost.js';
import { privateRedis, testRedis, type PrivateRedis } from '../support/redis.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();

/** A `fencepost tail` that goes on, what it has said so far, and how to end it. */
function tailing(env: Readonly<Record<string, string>>, args: readonly string[], terminal = false) {
  const [ctrlC, head] = [new AbortController(), new AbortController()];
  const said = { out: '', err: '' };
  const ended = fencepost(['tail', ...args], {
    ...{ env, terminal, interrupted: () => ctrlC.signal, unread: () => head.signal },
    out: (text) => void (said.out += text),
    err: (text) => void (said.err += text),
  });
  return {
    said,
    lines: () => said.out.split('\n').slice(0, -1),
    stop: async (by = ctrlC) => {
      by.abort();
      return (await ended).code;
    },
    unread: head,
    ended,
  };
}

function place() {
  const space = spaces.fresh();
  const env = { REDIS_URL: testRedis(), FENCEPOST_PREFIX: space.prefix, FENCEPOST_TENANT: space.tenant };
  return { env, space, journal: new RedisJournal({ redis: spaces.redis(), ...space }) };
}

describe('fencepost tail', { timeout: 30_000 }, () => {
  let own: PrivateRedis | undefined;

  afterEach(async () => {
    await own?.stop();
    own = undefined;
  });

  const many: readonly NewJournalEntry[] = [
    happened('attempt.begun', { cron: 'nightly', runId: 'nightly@1' }),
    happened('lease.lost', { cron: 'hourly', level: 'warn', detail: { cause: 'it was away' } }),
    happened('lease.lost', { cron: 'nightly', level: 'warn' }),
    happened('attempt.uncertain', { cron: 'nightly', level: 'error' }),
    { ...happened('catalog.removed', { level: 'warn', detail: { crons: ['nightly', 'x'] } }), cron: null },
  ];

  it('shows what happens as one JSON object per line, until Ctrl-C, and exits with 0', async () => {
    const at = place();
    await at.journal.append([happened('lease.lost', { cron: 'begin' })]);
    const tail = tailing(at.env, ['--since', '1h', '--json']);
    await expect.poll(tail.lines, { timeout: 10_000 }).toHaveLength(1);
    await at.journal.append(many);
    await expect.poll(tail.lines, { timeout: 10_000 }).toHaveLength(6);
    expect(JSON.parse(tail.lines()[2] ?? '')).toEqual({
      ...{ id: expect.stringMatching(/^\d+-\d+$/), at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) },
      ...{ pod: 'pod-7/0d9f1f6e', role: 'scheduler', event: 'lease.lost', level: 'warn', cron: 'hourly', runId: null },
      detail: { cause: 'it was away' },
    });
    expect(await tail.stop()).toBe(0);
    expect(tail.said.err).toBe('');
  });

  it.each([
    [
      ['--cron', 'nightly'],
      ['attempt.begun', 'lease.lost', 'attempt.uncertain', 'catalog.removed'],
    ],
    [
      ['--level', 'warn'],
      ['lease.lost', 'lease.lost', 'attempt.uncertain', 'catalog.removed'],
    ],
    [['--level', 'error', '--cron', 'nightly'], ['attempt.uncertain']],
    [['--level', 'info', '--cron', 'hourly'], ['lease.lost']],
  ])('shows with %j only what was asked for', async (args, expected) => {
    const at = place();
    await at.journal.append([happened('lease.lost', { cron: 'begin' }), ...many]);
    const tail = tailing(at.env, ['--since', '1h', '--json', ...args]);
    const events = () => tail.lines().map((line) => (JSON.parse(line) as NewJournalEntry).event);
    await expect.poll(events, { timeout: 10_000 }).toEqual(expected);
    expect(await tail.stop()).toBe(0);
  });

  it('writes lines for a person on a terminal, in colours unless they are not wanted', async () => {
    const at = place();
    await at.journal.append(many);
    const shown = async (args: string[], env: object) => {
      const tail = tailing({ ...at.env, ...env }, ['--since', '1h', ...args], true);
      await expect.poll(tail.lines, { timeout: 10_000 }).toHaveLength(many.length);
      expect(await tail.stop()).toBe(0);
      return tail.said.out;
    };
    expect(await shown([], { NO_COLOR: '1' })).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} {2}WARN {3}lease\.lost {12}hourly {2}lease lost; .* {2}cause="it was away" pod=pod-7\/0d9f1f6e$/m,
    );
    expect(await shown([], {})).toContain('\u001B[33mWARN ');
    expect(await shown(['--json'], {})).toMatch(/^\{"id":/);
  });

  it('lets no name and no text touch the terminal', async () => {
    const at = place();
    const evil = '\u001B[2J\u202Eevil\nline';
    await at.journal.append([{ ...happened('lease.lost', { detail: { [evil]: evil, list: [evil] } }), pod: evil }]);
    // A cron can have no such name, but whoever writes into the store can say so.
    const list = redisKeys(at.space)('catalog', 'happened');
    const text = JSON.stringify([2, 'p', 'r', evil, evil, evil, evil, {}]);
    await spaces.redis().xadd(list, '*', 'e', text);
    const tail = tailing({ ...at.env, NO_COLOR: '1' }, ['--since', '1h'], true);
    await expect.poll(tail.lines, { timeout: 10_000 }).toHaveLength(2);
    expect(await tail.stop()).toBe(0);
    const { out } = tail.said;
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202E]/u);
    expect(out).toContain('evil·line');
  });

  it('goes on when the store is away for a while, and says so once', async () => {
    own = await privateRedis();
    const server = own;
    const env = { REDIS_URL: server.url, FENCEPOST_TENANT: 'default' };
    const redis = await connectRedis({ url: server.url, commandTimeoutMs: 5_000, name: 'test' });
    const journal = new RedisJournal({ redis, prefix: 'fencepost', tenant: 'default' });
    await journal.append([happened('lease.lost')]);
    const tail = tailing(env, ['--since', '1h']);
    await expect.poll(tail.lines, { timeout: 10_000 }).toHaveLength(1);
    await server.stop();
    await expect.poll(() => tail.said.err, { timeout: 15_000 }).toContain('Retrying; Ctrl-C stops.');
    await server.restartEmpty();
    await expect.poll(() => redis.status, { timeout: 10_000 }).toBe('ready');
    await journal.append([happened('lease.acquired')]);
    await expect.poll(tail.lines, { timeout: 15_000 }).toHaveLength(2);
    expect(tail.said.err.split('\n')).toHaveLength(2);
    expect(await tail.stop()).toBe(0);
    await closeRedis(redis);
  });

  it.each([
    ['--level', 'loud'],
    ['--since', 'yesterday'],
    ['--for', '0s'],
  ])('refuses %s %s', async (...args) => {
    const { code, out } = await fencepost(['tail', ...args], { env: place().env });
    expect([code, out]).toEqual([2, '']);
  });
});

const PROGRAM = ['test/support/run-source.mjs', 'test/programs/fencepost.ts'];

const IN_ORDER = { code: 0, signal: null, err: '' };

describe('the fencepost program that shows what happens', { timeout: 120_000 }, () => {
  const ROOT = join(import.meta.dirname, '../..');

  /** The program, which has shown its first line. */
  async function startTail() {
    const space = spaces.fresh();
    const journal = new RedisJournal({ redis: spaces.redis(), ...space });
    await journal.append([happened('lease.lost')]);
    const where = ['--redis', testRedis(), '--prefix', space.prefix, '--tenant', space.tenant];
    const child = spawn(process.execPath, [...PROGRAM, 'tail', '--json', '--since', '1h', ...where], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let err = '';
    child.stderr.on('data', (text: Buffer) => void (err += String(text)));
    const closed = once(child, 'close');
    const [line] = (await Promise.race([once(child.stdout, 'data'), closed])) as [unknown];
    expect(String(line), err).toContain('"lease.lost"');
    const ended = closed.then(([code, signal]) => ({ code: code as unknown, signal: signal as unknown, err }));
    return { child, journal, ended };
  }

  it('ends in order at Ctrl-C', async () => {
    const { child, ended } = await startTail();
    child.kill('SIGINT');
    expect(await ended).toEqual(IN_ORDER);
  });

  it('ends in order when nobody reads on, as behind "head"', async () => {
    const { child, journal, ended } = await startTail();
    child.stdout.destroy();
    await journal.append([happened('lease.lost')]);
    expect(await ended).toEqual(IN_ORDER);
  });
});
