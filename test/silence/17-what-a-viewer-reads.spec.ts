import { CronDeclarationError } from '@fencepost/jobs/errors';
import { CronCatalog } from '@fencepost/operations';
import { printed } from '../../apps/cli/src/output.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSchedulerApp, type RunningApp } from '../support/scheduler-app.js';

const SECRET = 'https://hc.example/ping/5f0c9e';
const BY = { by: 'a test', reason: 'a test' };

let running: RunningApp;
beforeAll(async () => {
  running = await startSchedulerApp();
  const crons = running.app.get(CronCatalog, { strict: false });
  await crons.set('nightly', { expression: '0 3 * * *', handler: 'work', ping: { success: SECRET } }, BY);
});
afterAll(() => running.close());

const exported = async (as: 'viewer' | 'operator' | 'admin') => (await running.ask('/api/crons/export', { as })).text();

function imported(body: string): Promise<Response> {
  const headers = { 'content-type': 'application/x-ndjson' };
  return running.ask('/api/crons/import?reason=test', { as: 'admin', method: 'POST', body, headers });
}

function put(settings: string): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  const body = `{"reason":"test","dryRun":true,"settings":${settings}}`;
  return running.ask('/api/crons/nightly', { as: 'admin', method: 'PUT', body, headers });
}

describe('the address of a ping', () => {
  it('is exported for admins alone', async () => {
    expect(await exported('admin')).toContain(SECRET);
    expect(await exported('viewer')).not.toContain('5f0c9e');
    expect(await exported('operator')).not.toContain('5f0c9e');
  });

  it('is not lost by an import of what others have exported', async () => {
    const answer = await imported(await exported('viewer'));
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('option \\"ping.success\\"')]);
    expect(await exported('admin')).toContain(SECRET);
  });

  it('is not printed where it is mistyped', async () => {
    const crons = running.app.get(CronCatalog, { strict: false });
    const typed = crons.set('other', { expression: '* * * * *', ping: { failure: 'htps://hc.example/ping/77aa' } }, BY);
    await expect(typed).rejects.toThrow(CronDeclarationError);
    await expect(typed).rejects.toThrow(/option "ping.failure" of the cron: expected an address .*which is not shown/);
    await expect(typed).rejects.not.toThrow(/77aa/);
  });
});

describe('an import', () => {
  it.each(['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty'])(
    'refuses the option %s by its name',
    async (key) => {
      const answer = await imported(`{"name":"a","expression":"* * * * *","${key}":1}`);
      expect([answer.status, await answer.text()]).toEqual([
        400,
        expect.stringContaining(`the cron has no option \\"${key}\\"`),
      ]);
    },
  );

  it('refuses a payload of 20,000 levels, as the order to set a cron does', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const line = `{"name":"deep","expression":"* * * * *","payload":${deep}}`;
    const answers = [await imported(line), await put(`{"payload":${deep}}`), await put(`{"dst":${deep}}`)];
    const said = await Promise.all(answers.map(async (answer) => [answer.status, await answer.text()]));
    expect(said).toEqual([
      [400, expect.stringContaining('at most 100 within each other')],
      [400, expect.stringContaining('at most 100 within each other')],
      [400, expect.stringContaining('option \\"dst\\"')],
    ]);
  });
});

describe('a text that turns around what follows it', () => {
  const reason = 'looks \u202edab';

  it('is written out by fencepost, and kept as JSON', () => {
    const report = { code: 0, json: { reason }, text: () => [`${reason} by anna`] };
    const world = { width: 80, env: {}, terminal: true };
    expect(printed(report, {}, world)).toBe('looks \\u202edab by anna\n');
    expect(JSON.parse(printed(report, { json: true }, world))).toEqual({ reason });
  });
});
