import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newToken } from '@fencepost/operations/access-tokens';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../scripts/redis.mjs';
import { fencepost, type Said } from '../support/fencepost.js';
import { CronCatalog } from '@fencepost/operations';
import { testRedis } from '../support/redis.js';
import { SECRETS, startSchedulerApp, type RunningApp } from '../support/scheduler-app.js';

let running: RunningApp;
let url: string;
beforeAll(async () => {
  running = await startSchedulerApp();
  url = `${running.url}/crons`;
});
afterAll(() => running.close());

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listening(server: Server): Promise<number> {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Something else than a console. */
async function answering(answer: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listening(createServer(answer))}`;
}

const LIST = ['list', '--json'];
const PAUSE = ['pause', 'nightly', '--reason', 'x'];

/** One sentence, or two lines of them, and never the token. */
function expectSentence(said: Said, code: number, ...parts: string[]): void {
  expect(said).toMatchObject({ code, out: '' });
  for (const part of parts) expect(said.err).toContain(part);
  expect(said.err.trimEnd().split('\n').length).toBeLessThanOrEqual(2);
  expect(said.err).not.toContain('    at ');
  for (const secret of Object.values(SECRETS)) expect(said.err).not.toContain(secret);
}

describe('a command that talks to a console', { timeout: 60_000 }, () => {
  it('says how a token is made where there is none, and where it is not the right one', async () => {
    const none = await fencepost([...LIST, '--url', url]);
    expectSentence(none, 2, `${url} requires a token`, 'fencepost token <name> --role viewer', 'FENCEPOST_TOKEN');
    const { secret } = newToken('eve', 'admin');
    const wrong = await fencepost([...LIST, '--url', url, '--token', secret]);
    expectSentence(wrong, 2, 'does not know this token', 'fencepost token <name>');
    expect(wrong.err).not.toContain(secret);
    const tail = await fencepost(['tail', '--for', '10s', '--url', url]);
    expectSentence(tail, 2, 'requires a token');
  });

  it('says which role an order needs', async () => {
    const said = await fencepost([...PAUSE, '--url', url, '--token', SECRETS.viewer]);
    expectSentence(said, 2, 'needs the role operator, and you are viewer', 'fencepost token <name> --role <role>');
  });

  it.each(['', '/cron', '/crons/api', '/crons/queues', '/metrics'])(
    'asks whether the console is mounted there, where the address has the path "%s"',
    async (path) => {
      const env = { FENCEPOST_URL: `${running.url}${path}`, FENCEPOST_TOKEN: SECRETS.admin };
      expectSentence(await fencepost(LIST, { env }), 2, `${running.url}${path}`, 'Is it mounted at this path?');
    },
  );

  it('takes an address with a slash at its end', async () => {
    const said = await fencepost([...LIST, '--url', `${url}/`, '--token', SECRETS.viewer]);
    expect(said).toMatchObject({ code: 0, json: [], err: '' });
  });

  it('ends with 3 where nobody listens, and says that an order may have been heard where it may', async () => {
    const away = `http://127.0.0.1:${await freePort()}`;
    for (const args of [LIST, PAUSE]) {
      const said = await fencepost([...args, '--url', away, '--token', SECRETS.admin]);
      expectSentence(said, 3, `could not be reached at ${away}`, 'ECONNREFUSED');
      expect(said.err).not.toContain('may have taken effect');
    }
    const cut = await answering((request) => request.socket.destroy());
    expectSentence(await fencepost([...PAUSE, '--url', cut]), 3, cut, 'may have taken effect');
  });

  it('waits for an answer, and not for long', async () => {
    const silent = await answering(() => {});
    for (const args of [LIST, PAUSE]) {
      const said = await fencepost([...args, '--url', silent], { patienceMs: 200 });
      expectSentence(said, 3, `could not be reached at ${silent} (no answer within 0.2 s)`);
    }
    const slow = await answering(
      (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{'),
    );
    expectSentence(await fencepost([...LIST, '--url', slow], { patienceMs: 200 }), 3, 'no answer within 0.2 s');
  });

  it('ends with 3 for what a console can not answer now, in its words', async () => {
    const body = { status: 503, code: 'STORE_AWAY', detail: 'The store did not answer in time.' };
    const busy = await answering((_, response) => void response.writeHead(503).end(JSON.stringify(body)));
    expectSentence(await fencepost([...LIST, '--url', busy]), 3, 'The store did not answer in time.');
    const proxy = await answering((_, response) => void response.writeHead(502).end('<h1>Bad gateway</h1>'));
    expectSentence(await fencepost([...LIST, '--url', proxy]), 3, 'HTTP status 502');
    expectSentence(await fencepost([...PAUSE, '--url', proxy]), 3, 'HTTP status 502', 'may have taken effect');
  });

  it('follows no redirect, and takes no page for an answer', async () => {
    const asked: (string | undefined)[] = [];
    const other = await answering(({ headers }, response) => {
      asked.push(headers.authorization);
      response.end('{}');
    });
    const moved = await answering((_, response) => void response.writeHead(302, { location: other }).end());
    expectSentence(await fencepost([...LIST, '--url', moved, '--token', SECRETS.admin]), 2, 'redirects (302)', other);
    expect(asked).toEqual([]);
    const page = await answering((_, response) => void response.setHeader('content-type', 'text/html').end('<p>Hi'));
    expectSentence(await fencepost([...LIST, '--url', page]), 2, 'Is it mounted at this path?');
  });

  it('trusts no certificate of its own making, and says so', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fencepost-tls-'));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'];
    execFileSync('openssl', [...made, '-subj', '/CN=localhost', '-keyout', key, '-out', cert], { stdio: 'ignore' });
    const port = await listening(createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }));
    rmSync(folder, { recursive: true });
    const said = await fencepost([...LIST, '--url', `https://127.0.0.1:${port}`, '--token', SECRETS.admin]);
    expectSentence(said, 3, `The certificate of https://127.0.0.1:${port} is not trusted`, 'NODE_EXTRA_CA_CERTS');
  });

  it.each([
    [['--url', 'localhost:3000'], 'to be where a console is mounted'],
    [['--url', 'ftp://localhost/crons'], 'to be where a console is mounted'],
    [['--url', 'http://localhost/crons?a=b'], 'to be where a console is mounted'],
    [['--url', 'http://anna:secret-word@localhost/crons'], 'without user and password'],
    [['--url', 'http://localhost', '--redis', 'redis://localhost'], 'Expected --url or --redis, got both'],
    [['--url', 'http://localhost', '--postgres', 'postgres://localhost/x'], 'Expected --url or --postgres, got both'],
    [['--url', 'http://localhost', '--tenant', 'acme'], 'Expected --url or --tenant, got both'],
    [['--token', 'fencepost_x'], 'Expected --token together with --url'],
    [['--url', 'http://localhost', '--token', 'secret-word and more'], 'as "fencepost token" prints it'],
  ])('refuses %j before anything is asked', async (args, sentence) => {
    const said = await fencepost([...LIST, ...args]);
    expectSentence(said, 2, sentence);
    expect(said.err).not.toContain('secret-word');
  });

  it('has no use for --by, and asks for a reason', async () => {
    const by = await fencepost([...PAUSE, '--by', 'anna', '--url', url, '--token', SECRETS.operator]);
    expectSentence(by, 2, 'Expected no --by together with --url');
    const why = await fencepost(['trigger', 'nightly', '--url', url, '--token', SECRETS.operator]);
    expectSentence(why, 2, 'Expected --reason');
  });

  it.each([
    [['audit'], 'fencepost audit'],
    [['lint'], 'fencepost lint'],
    [['plan', '-'], 'fencepost plan'],
    [['set', 'nightly', '--expression', '0 3 * * *'], 'fencepost set'],
    [['shadow', 'report'], 'fencepost shadow report'],
  ])('is none of those that work on the stores themselves: %j', async (args, named) => {
    const flag = await fencepost([...args, '--url', url, '--token', SECRETS.admin]);
    expectSentence(flag, 2, `"${named}"`, '--url');
    const variable = await fencepost(args, { env: { FENCEPOST_URL: url, FENCEPOST_TOKEN: SECRETS.admin } });
    expectSentence(
      variable,
      2,
      `"${named}" works on the stores`,
      'Unset FENCEPOST_URL, or name the store with --redis',
    );
  });

  it.each([['token', 'anna', '--role', 'viewer'], ['next', '@daily'], ['migrate'], ['completion', 'bash']])(
    'is none of those that ask no deployment: %s',
    async (...args) => expectSentence(await fencepost([...args, '--url', url]), 2, `"fencepost ${args[0]}"`, '--url'),
  );

  it('goes to the stores where the command line names them, whatever the environment says', async () => {
    const env = { FENCEPOST_URL: 'http://127.0.0.1:1', FENCEPOST_PREFIX: running.prefix };
    expect(await fencepost([...LIST, '--redis', testRedis()], { env })).toMatchObject({ code: 0, json: [] });
    expect(await fencepost(['lint', '--expression', '0 3 * * *'], { env })).toMatchObject({ code: 0 });
  });
});

// Last: it makes a cron.
describe('a name that nothing has', { timeout: 60_000 }, () => {
  it.each([
    [['show', 'qqqqqqq'], 'Cron "qqqqqqq" not found. Run "fencepost list".'],
    [['why', 'qqqqqqq', 'now'], 'Cron "qqqqqqq" not found. Run "fencepost list".'],
    [['trigger', 'qqqqqqq', '--reason', 'x'], 'Cron "qqqqqqq" not found. Run "fencepost list".'],
    [['run', 'a@1'], 'Run "a@1" not found: it never existed, or its record has expired. Run "fencepost runs <cron>".'],
    [
      ['cancel', 'a@1', '--reason', 'x'],
      'Run "a@1" not found: it never existed, or its record has expired. Run "fencepost runs <cron>".',
    ],
  ])('is refused by a console as by the stores: %j', async (args, sentence) => {
    // Without any, the stores would say where else there are some.
    const crons = running.app.get(CronCatalog, { strict: false });
    await crons.set('there', { expression: '@manual' }, { by: 'test' });
    const places = [
      ['--url', url, '--token', SECRETS.admin],
      ['--redis', testRedis(), '--prefix', running.prefix],
    ];
    for (const place of places)
      expect(await fencepost([...args, ...place])).toMatchObject({ code: 2, err: `${sentence}\n` });
  });
});
