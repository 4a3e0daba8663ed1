import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request, type OutgoingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { CronCatalog } from '@fencepost/operations';
import { RedisCatalog } from '@fencepost/ledger/redis';
import { systemClock } from '@fencepost/lease';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { outlivesNobody } from '../support/outlives-nobody.js';
import { redisEnvironment, freshPrefix, testRedis } from '../support/redis.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PATIENCE = { timeout: 50_000 };

/** Ends the line and begins another, colours it, closes the text it stands in and adds a field. */
const FORGED = '{"level":60,"msg":"forged","role":"admin"}';
const NASTY = `\r\n${FORGED}\n\u001b[31m\u009b31m\u0085${FORGED}\u2028${FORGED}\u2029\u202e\u0007","forged":true,"role":"admin","x":"`;
/** What of it may stand in a path, and in a header: a parser of HTTP refuses the others. */
const IN_PATH = `%0d%0a${FORGED.replaceAll(' ', '')}%c2%9b31m%e2%80%a8","forged":true,"role":"admin","x":"`;
const IN_HEADER = `\u009b31m\u0085${FORGED.replaceAll(' ', '')}","forged":true,"role":"admin","x":"`;

/**
 * A guard such as a deployment may have: whom it lets in is called what a header says, and, where another header wants it,
 * the answer fails with an error that quotes all that the caller sent.
 */
const GUARD = `
export default (request) => {
  const { headers, res } = request;
  const json = res.json;
  if (headers['x-fails']) {
    res.json = () => {
      res.json = json;
      throw new Error([decodeURIComponent(headers['x-name']), headers['user-agent'], request.body?.reason].join(' | '));
    };
  }
  return { name: decodeURIComponent(headers['x-name']), role: 'admin' };
};
`;

let pod: ChildProcessByStdio<null, Readable, null>;
let said = '';
const prefix = freshPrefix();
const folder = mkdtempSync(join(tmpdir(), 'log-lines-'));

beforeAll(async () => {
  const guard = join(folder, 'guard.mjs');
  writeFileSync(guard, GUARD);
  const env = { POD_NAME: 'scheduler-1', PORT: '0', LOG_LEVEL: 'trace', FENCEPOST_PREFIX: prefix };
  pod = spawn(process.execPath, ['test/support/run-source.mjs', 'apps/scheduler/src/main.ts'], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], ...env, FENCEPOST_AUTH_MODULE: guard, ...redisEnvironment({ url: testRedis() }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  outlivesNobody(pod);
  pod.stdout.setEncoding('utf8').on('data', (part: string) => (said += part));
  await vi.waitFor(() => expect(said).toContain('listens on http'), PATIENCE);
  await declare('some');
}, 60_000);
afterAll(async () => {
  const gone = once(pod, 'exit');
  pod.kill('SIGTERM');
  await gone;
  rmSync(folder, { recursive: true, force: true });
});

async function declare(name: string): Promise<void> {
  const redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 5_000, name: 'test' });
  const catalog = new RedisCatalog({ redis, prefix, tenant: 'default' });
  await new CronCatalog({ catalog, clock: systemClock }).set(
    name,
    { expression: '@manual' },
    { by: NASTY.slice(0, 200) },
  );
  await closeRedis(redis);
}

interface Sent {
  readonly path: string;
  readonly body?: object;
  readonly headers?: OutgoingHttpHeaders;
}

async function send({ path, body, headers = {} }: Sent): Promise<{ readonly status: number; readonly text: string }> {
  const port = Number(/listens on http:\/\/[^:]+:(\d+)/.exec(said)?.[1]);
  const outgoing = request({
    ...{ host: '127.0.0.1', port, path, method: body ? 'POST' : 'GET' },
    headers: {
      ...{ 'x-name': encodeURIComponent(NASTY.slice(0, 200)), 'user-agent': IN_HEADER, ...headers },
      ...(body && { 'content-type': 'application/json' }),
    },
  });
  outgoing.end(body && JSON.stringify(body));
  const [response] = (await once(outgoing, 'response')) as [Readable & { readonly statusCode: number }];
  return { status: response.statusCode, text: await textOf(response) };
}

const lines = () => said.split(/[\r\n\u0085\u2028\u2029]+/).filter((line) => line !== '');
const read = () => lines().map((line) => JSON.parse(line) as Record<string, unknown>);
const failures = () => lines().filter((line) => line.includes('an answer failed')).length;

/** Control characters, ends of lines, and what turns the direction of what follows. */
const NO_TEXT = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0x2028, 0x202e],
  [0x2066, 0x2069],
] as const;

function isNoText(char: string): boolean {
  const code = char.codePointAt(0) ?? 0;
  return NO_TEXT.some(([first, last]) => first <= code && code <= last);
}

it('whatever a caller sends stays inside of one line of the log, as a text', async () => {
  const reason = `because ${NASTY}`;
  const fails = { 'x-fails': '1' };
  const cron = encodeURIComponent(NASTY);
  const answers = [
    await send({ path: '/crons/api/me', headers: fails }),
    await send({ path: '/crons/api/crons/some/pause', body: { reason }, headers: fails }),
    await send({ path: `/crons/api/crons?search=${IN_PATH}`, headers: fails }),
    await send({ path: `/crons/api/${IN_PATH}/nothing?${IN_PATH}` }),
    await send({ path: `/crons/api/crons/${cron}` }),
    await send({ path: `/crons/api/crons/${cron}/pause`, body: { reason } }),
    await send({ path: '/crons/api/crons/some/trigger', body: { reason, payload: { [NASTY]: NASTY }, force: true } }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([500, 500, 500, 404, 400, 400, 200]);
  await vi.waitFor(() => expect(failures()).toBe(3), PATIENCE);
  for (const line of read()) {
    expect(line).toMatchObject({ level: expect.any(Number), time: expect.any(Number), msg: expect.any(String) });
    expect(line).toMatchObject({ role: 'scheduler', pod: expect.stringMatching(/^scheduler-1/) });
    expect(line).not.toHaveProperty('forged');
    expect([line['level'], line['msg']]).not.toEqual([60, 'forged']);
  }
  // Nor does anything in it give orders to the terminal of who reads it, or stand in it backwards.
  expect(said.replaceAll('\n', '').split('').filter(isNoText)).toEqual([]);
});
