import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Caller, connectTo, Newcomer, realServer, STAY } from './redis-newcomer.js';

let server: string;
let machine: Newcomer;

beforeAll(async () => {
  server = await realServer();
});
beforeEach(() => {
  machine = new Newcomer();
});
afterEach(() => machine.leave());

describe('the private server ends with its caller', () => {
  async function expectEndAfter(end: (caller: Caller) => unknown, then = STAY): Promise<void> {
    machine.program('redis-server', server);
    const caller = await machine.caller(then);
    const connection = await connectTo(caller.report.url);
    end(caller);
    await connection.gone;
    await expect.poll(() => readdirSync(machine.temp), { timeout: 5_000 }).toEqual([]);
  }

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const)('after %s', async (signal) => {
    await expectEndAfter((caller) => caller.process.kill(signal));
  });

  it('after SIGKILL of its whole process group', async () => {
    await expectEndAfter((caller) => process.kill(-(caller.process.pid ?? 0), 'SIGKILL'));
  });

  it('after an uncaught exception', async () => {
    const failing = `process.stdin.once('data', () => { throw new Error('boom') });`;
    await expectEndAfter((caller) => caller.process.stdin?.write('now'), failing);
  });

  it('after process.exit', async () => {
    await expectEndAfter(
      (caller) => caller.process.stdin?.write('now'),
      `process.stdin.once('data', () => process.exit(0));`,
    );
  });

  it('after stop, which resolves when nothing is left', async () => {
    const stopping = `${STAY} process.stdin.once('data', () => redis.stop().then(() => console.log('stopped')));`;
    await expectEndAfter((caller) => caller.process.stdin?.write('now'), stopping);
  });

  it('even if the server itself is frozen', async () => {
    await expectEndAfter(({ report, process: caller }) => {
      process.kill(report.pid ?? 0, 'SIGSTOP');
      caller.kill('SIGKILL');
    });
  });

  it('and not before: after Ctrl-C the caller can still use Redis to shut down', async () => {
    machine.program('redis-server', server);
    const goodbye = `${STAY}
      const { createConnection } = await import('node:net');
      process.on('SIGINT', () => {
        const socket = createConnection(new URL(redis.url).port, '127.0.0.1', () => socket.write('PING\\r\\n'));
        socket.on('data', (reply) => (console.log(String(reply).trim()), process.exit()));
      });
      console.log('listening');`;
    const caller = await machine.caller(goodbye);
    await caller.lines.next();
    process.kill(-(caller.process.pid ?? 0), 'SIGINT');
    expect((await caller.lines.next()).value).toBe('+PONG');
  });

  it('a caller with nothing else to do is not kept alive by it', async () => {
    machine.program('redis-server', server);
    const caller = await machine.caller();
    if (caller.process.exitCode === null) await once(caller.process, 'exit');
    expect(caller.process.exitCode).toBe(0);
  });
});

describe('the ways to a server, in order', () => {
  it('takes REDIS_URL as it is, and starts and stops nothing', async () => {
    machine.program('redis-server', server);
    const { report } = await machine.caller('await redis.stop();', { REDIS_URL: 'redis://elsewhere:1234' });
    expect(report).toEqual({ url: 'redis://elsewhere:1234', how: 'REDIS_URL' });
    expect(machine.calls('redis-server')).toEqual([]);
  });

  it('prefers valkey-server to redis-server', async () => {
    machine.program('valkey-server', server);
    machine.program('redis-server', server);
    const { report } = await machine.caller(STAY);
    expect(report.how).toMatch(/^valkey-server \d+\.\d+\.\d+ on PATH/);
  });

  it('tries another port when somebody took the one it was given', async () => {
    const taken = `[ "$1" = --version ] || [ -f ${machine.home}/tried ] || { touch ${machine.home}/tried; exit 1; }`;
    machine.program('redis-server', `${taken}\n${server}`);
    const { report } = await machine.caller(STAY);
    expect(machine.calls('redis-server')).toHaveLength(3);
    await connectTo(report.url).then((connection) => connection.end());
  });

  it('passes over a server older than 7.0 and says so', async () => {
    machine.program('redis-server', 'echo "Redis server v=6.0.16 sha=0"');
    expect((await machine.caller()).report.error).toContain('redis-server is version 6.0.16');
  });

  it('as root installs with apt-get, after an update where the lists are missing, and starts no service', async () => {
    machine.program('real', server);
    const install = `[ -f ${machine.home}/updated ] && cp ${machine.bin}/real ${machine.bin}/redis-server || exit 100`;
    const note = `echo $RUNLEVEL $SYSTEMD_OFFLINE $DEBIAN_FRONTEND > ${machine.home}/service.calls`;
    machine.program('apt-get', `case $1 in update) touch ${machine.home}/updated;; *) ${note}; ${install};; esac`);
    const { report } = await machine.caller(STAY, { UID: '0' });
    expect(report.how).toContain('just installed with apt-get');
    expect(machine.calls('apt-get').map((call) => call.split(' ')[0])).toEqual(['install', 'update', 'install']);
    expect(machine.calls('service')).toEqual(['1 1 noninteractive']);
  });

  it('without root unpacks what apt-get downloads into .cache, and finds it there the second time', async () => {
    machine.program('real', server);
    machine.program('apt-get', `case $1 in download) touch server.deb;; install) echo "Inst redis-tools (7)";; esac`);
    machine.program('dpkg', `mkdir -p "$3/usr/bin" && cp ${machine.bin}/real "$3/usr/bin/redis-server"`);
    const first = await machine.caller(STAY, { UID: '1000' });
    const second = await machine.caller(STAY, { UID: '1000' });
    expect(first.report.how).toContain('just downloaded with apt-get without root');
    expect(second.report.how).toContain('in .cache/redis');
    expect(machine.calls('dpkg')).toHaveLength(1);
  });

  it('asks a Docker engine for a service of its own, and takes it down after SIGKILL', async () => {
    machine.program(
      'docker',
      `case "$*" in *" port "*) echo 127.0.0.1:4711;; *down*) echo > ${machine.home}/down;; esac`,
    );
    const { report, process: caller } = await machine.caller(STAY);
    expect(report).toMatchObject({ url: 'redis://127.0.0.1:4711', how: expect.stringContaining('docker compose') });
    caller.kill('SIGKILL');
    await expect
      .poll(() => machine.calls('docker').at(-1), { timeout: 5_000 })
      .toMatch(/fencepost-redis-\d+ down --volumes$/);
  });

  it('with no way left says in one sentence what all of them are, and why each failed', async () => {
    machine.program('apt-get', 'echo "E: Unable to locate package redis-server" >&2; exit 100');
    machine.program('dpkg', 'exit 1');
    machine.program('docker', 'echo "Cannot connect to the Docker daemon." >&2; exit 1');
    const { error } = (await machine.caller('', { UID: '0' })).report;
    expect(error).toBe(
      'There is no Redis to work with: set REDIS_URL (it is not set), or put valkey-server or redis-server 7.0 or newer ' +
        'on PATH (neither is there), or run as root where apt-get can install redis-server (E: Unable to locate package ' +
        'redis-server), or let apt-get download redis-server without root (E: Unable to locate package redis-server), or ' +
        'start a Docker engine for "docker compose up -d --wait redis" (Cannot connect to the Docker daemon).',
    );
  });

  it('says what the server said when it does not come up', async () => {
    machine.program('redis-server', '[ "$1" = --version ] && { echo "v=7.0.0"; exit 0; }; echo "out of luck"; exit 1');
    const { error } = (await machine.caller()).report;
    expect(error).toBe(
      `The private Redis (redis-server 7.0.0 on PATH (${machine.bin}/redis-server)) did not start: out of luck.`,
    );
  });
});
