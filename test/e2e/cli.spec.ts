import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RedisCatalog } from '@fencepost/ledger/redis';
import { ensureBuilt } from '../../scripts/build.mjs';
import { freePort } from '../../scripts/redis.mjs';
import { fencepost as inProcess } from '../support/fencepost.js';
import { clearPrefixes, freshPrefix, testRedis } from '../support/redis.js';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = ['apps/cli/bin/fencepost.mjs'];

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

// What a build has to say would stand among what the program says.
beforeAll(() => ensureBuilt(), 600_000);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function start(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [...PROGRAM, ...args], {
    cwd: ROOT,
    env: { ...process.env, COLUMNS: '100', NO_COLOR: '1', FENCEPOST_PREFIX: 'nobody', ...env },
  });
  closing.push(() => child.exitCode === null && child.signalCode === null && child.kill('SIGKILL'));
  return child;
}

async function fencepost(args: readonly string[], { env = {}, stdin = '' } = {}): Promise<Ended> {
  const child = start(args, env);
  child.stdin.end(stdin);
  const [[code], out, err] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return { code: code as number | null, out, err };
}

/** A deployment of one cron, which is cleared at the end of the test. */
async function deployment(cron: string): Promise<NodeJS.ProcessEnv> {
  const prefix = freshPrefix();
  const redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 5_000, name: 'test' });
  closing.push(async () => {
    await clearPrefixes(redis, [prefix]);
    await closeRedis(redis);
  });
  const schedule = { name: cron, expression: '0 3 * * *', timeZone: 'UTC' };
  const policies = { misfire: 'fire-once', overlap: 'skip', graceMs: 60_000, catchUpWindowMs: null } as const;
  const catalog = new RedisCatalog({ redis, prefix, tenant: 'default' });
  await catalog.declare([{ definition: { ...schedule, ...policies }, disabled: false }], { revision: 1, app: 'app' });
  return { REDIS_URL: testRedis(), FENCEPOST_PREFIX: prefix };
}

/** Somebody listens and never says a word. */
async function silentPort(): Promise<number> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function expectSentence({ err }: Ended): void {
  expect(err).toMatch(/^\S.*\n/);
  expect(err.trimEnd().split('\n').length).toBeLessThanOrEqual(2);
  expect(err).not.toContain('    at ');
}

describe('the fencepost program', { timeout: 120_000 }, () => {
  it('fails with 1 for a finding', async () => {
    const { code, out } = await fencepost(['lint', '--expression', '30 2 * * *', '--tz', 'Europe/Berlin', '--json']);
    expect([code, JSON.parse(out)]).toEqual([1, expect.objectContaining({ ok: false, undeclared: 1 })]);
  });

  it('takes orders, and shows what they did', async () => {
    const around = { env: await deployment('nightly') };
    const paused = await inProcess(['pause', 'nightly', '--reason', 'disk full', '--by', 'anna'], around);
    expect(paused).toMatchObject({
      code: 0,
      out: 'nightly is paused until it is resumed, by anna: disk full\n',
      err: '',
    });
    const { runId } = (await inProcess(['trigger', 'nightly', '--json'], around)).json as { runId: string };
    const list = (await inProcess(['list', '--json'], around)).json;
    expect(list).toMatchObject([{ name: 'nightly', paused: { by: 'anna' }, last: { id: runId, state: 'enqueued' } }]);
  });

  it('reads declarations from stdin', async () => {
    const env = await deployment('nightly');
    const { code, out } = await fencepost(['plan', '-', '--json'], { env, stdin: '[]' });
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ ok: true, removed: ['nightly'] })]);
  });

  it('ends with 3 where nobody listens, and where nobody answers', async () => {
    for (const port of [await freePort(), await silentPort()]) {
      const ended = await fencepost(['list', '--redis', `redis://127.0.0.1:${port}`]);
      expect(ended).toMatchObject({ code: 3, out: '' });
      expectSentence(ended);
      expect(ended.err).toContain(`127.0.0.1:${port}`);
    }
  });

  it('ends with 2 and a sentence for what it can not read', async () => {
    const ended = await fencepost(['plan', 'no-such-file.json']);
    const sentence = expect.stringContaining('Cannot read "no-such-file.json"') as string;
    expect(ended).toMatchObject({ code: 2, out: '', err: sentence });
    expectSentence(ended);
  });
});
