import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SetupError } from '@fencepost/lease';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleAuth } from '../../../../apps/scheduler/src/console-auth.js';
import { consoleSettings } from '../options.js';
import { startSchedulerApp, TOKENS, type RunningApp } from '../../../../test/support/scheduler-app.js';

const environment = {
  host: '127.0.0.1',
  port: 0,
  logLevel: 'silent',
  pod: undefined,
  jobs: { redis: 'redis://127.0.0.1:1' },
};
const folder = mkdtempSync(join(tmpdir(), 'access-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const accessOf = async (given: Parameters<typeof consoleAuth>[0]) =>
  consoleSettings({ path: '/crons', auth: await consoleAuth(given) }).access;

describe('a pod that would be open', () => {
  it.each(['0.0.0.0', '::', '10.0.0.7', 'scheduler.internal'])(
    'does not start on %s, and says what it wants',
    async (host) => {
      const start = accessOf({ ...environment, host });
      await expect(start).rejects.toThrow(SetupError);
      await expect(accessOf({ ...environment, host })).rejects.toThrow(
        `Expected FENCEPOST_TOKENS, FENCEPOST_TOKENS_FILE`,
      );
    },
  );

  it.each(['127.0.0.1', '::1', 'localhost'])('starts on %s if it is told to', async (host) => {
    await expect(accessOf({ ...environment, host })).rejects.toThrow(/FENCEPOST_AUTH=none/);
    expect((await accessOf({ ...environment, host, access: { auth: 'none' } })).tokens).toEqual([]);
  });

  it('starts anywhere with tokens, or with a guard of its own', async () => {
    const guard = file('guard.mjs', 'export default () => null;');
    expect((await accessOf({ ...environment, host: '::', access: { tokens: TOKENS } })).tokens).toHaveLength(3);
    expect((await accessOf({ ...environment, host: '::', access: { authModule: guard } })).authenticate).toBeTypeOf(
      'function',
    );
  });

  it.each([
    [{ tokensFile: file('empty', '# none yet\n') }, 'Expected an access token in the token file'],
    [{ tokensFile: join(folder, 'gone') }, 'Cannot read the token file'],
    [{ tokens: TOKENS, tokensFile: file('both', TOKENS) }, 'got both'],
    [{ tokens: TOKENS, auth: 'none' as const }, 'Expected FENCEPOST_AUTH none or a way to know who comes, got both.'],
    [{ authModule: file('none.mjs', 'export default 7;') }, 'Expected a function as the default export'],
    [{ authModule: join(folder, 'gone.mjs') }, 'Expected a module at FENCEPOST_AUTH_MODULE'],
  ])('does not start with what can not be meant: %o', async (access, sentence) => {
    await expect(accessOf({ ...environment, access })).rejects.toThrow(sentence);
  });
});

describe('a guard of its own', () => {
  let running: RunningApp;
  beforeAll(async () => {
    running = await startSchedulerApp({
      access: {},
      authenticate: ({ headers }) => {
        const { 'x-forwarded-user': name, 'x-forwarded-role': role } = headers;
        if (name === 'broken') throw new Error('the proxy sends nonsense');
        return typeof name === 'string' ? { name, role: role as 'viewer' } : null;
      },
    });
  });
  afterAll(() => running.close());
  const as = (headers: Record<string, string>) => running.ask('/api/me', { as: null, headers });

  it('says who comes', async () => {
    const response = await as({ 'x-forwarded-user': 'olga', 'x-forwarded-role': 'operator' });
    expect(await response.json()).toEqual({ name: 'olga', role: 'operator', signedIn: true });
  });

  it('lets nobody in by throwing, by saying nothing, or with a role that is none', async () => {
    const roles = [{}, { 'x-forwarded-user': 'broken' }, { 'x-forwarded-user': 'x', 'x-forwarded-role': 'god' }];
    expect(await Promise.all(roles.map(async (headers) => (await as(headers)).status))).toEqual([401, 401, 401]);
  });
});

describe('what is too much', () => {
  it('is refused: more requests in a minute than one address may', async () => {
    const running = await startSchedulerApp({ access: { tokens: TOKENS, rateLimit: 10 } });
    try {
      const statuses: number[] = [];
      for (let n = 0; n < 12; n += 1) statuses.push((await running.ask('/api/me', { as: null })).status);
      expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);
      expect((await running.ask('/health/live', { as: null })).status).toBe(200);
    } finally {
      await running.close();
    }
  });

  it('is refused: a body of more than 256 kB, and one that is no JSON', async () => {
    const running = await startSchedulerApp();
    const post = (body: string) =>
      running.ask('/api/crons/x/pause', {
        as: 'operator',
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      });
    try {
      const [large, broken, list] = [
        await post(JSON.stringify({ reason: 'x'.repeat(300_000) })),
        await post('{"reason":'),
        await post('[]'),
      ];
      expect([large.status, broken.status, list.status]).toEqual([413, 400, 400]);
      expect(await large.json()).toMatchObject({ status: 413, code: 'TOO_LARGE', detail: expect.any(String) });
      expect(await broken.json()).toMatchObject({ status: 400, code: 'BAD_REQUEST', detail: expect.any(String) });
      expect((await post('{"reason":"r","role":"admin"}')).status).toBe(400);
      await post('{"reason":"r","__proto__":{"role":"admin"}}');
      expect(Reflect.get({}, 'role')).toBeUndefined();
    } finally {
      await running.close();
    }
  });
});
