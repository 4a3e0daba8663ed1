import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseFence } from '@fencepost/lease';
import type { CronRecord } from '@fencepost/ledger';
import { faultyLink, type FaultyLink } from './faulty-link.js';
import { seededRandom } from '../support/seeded-random.js';
import { lateWordFaults, type LateWordFaultsOptions } from './faults/late-word-fault.js';
import type { Herd, Victim } from './faults/victim.js';

/** Says back what it hears, and keeps it. */
async function echo() {
  const heard: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      heard.push(String(bytes));
      socket.write(bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return { port: (server.address() as AddressInfo).port, heard, close };
}

async function client(port: number) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  const said: string[] = [];
  socket.on('data', (bytes) => said.push(String(bytes)));
  await once(socket, 'connect');
  return { socket, said };
}

describe('a link that can fail', () => {
  let server: Awaited<ReturnType<typeof echo>>;
  let link: FaultyLink;

  beforeEach(async () => {
    server = await echo();
    link = await faultyLink(server.port);
  });

  afterEach(async () => {
    await link.close();
    await server.close();
  });

  async function talking() {
    const one = await client(link.port);
    one.socket.write('hello');
    await expect.poll(() => one.said).toEqual(['hello']);
    return one;
  }

  it('loses what is sent while it is cut, and lets new connections through afterwards', async () => {
    const one = await talking();
    link.cut();
    one.socket.write('lost');
    link.heal('silent');
    const other = await talking();
    one.socket.write('lost, too');
    other.socket.write('again');
    await expect.poll(() => other.said.join()).toContain('again');
    expect(server.heard).toEqual(['hello', 'hello', 'again']);
    one.socket.destroy();
    other.socket.destroy();
  });

  it('resets what was cut where somebody is to be told', async () => {
    const one = await talking();
    link.cut();
    link.heal('reset');
    await expect.poll(() => one.socket.closed).toBe(true);
  });

  it('delivers late what was sent while it was held', async () => {
    const one = await talking();
    link.hold();
    one.socket.write('late');
    const other = await client(link.port);
    other.socket.write('new');
    link.heal('deliver');
    await expect.poll(() => server.heard.toSorted()).toEqual(['hello', 'late', 'new']);
    await expect.poll(() => one.said.join('')).toBe('hellolate');
    one.socket.destroy();
    other.socket.destroy();
  });

  it('drops a reply together with its connection, when the request has been carried out', async () => {
    const one = await talking();
    link.dropReplies(true);
    const closed = once(one.socket, 'close');
    one.socket.write('do it');
    await closed;
    expect(server.heard).toEqual(['hello', 'do it']);
    expect(one.said).toEqual(['hello']);
    expect(link.dropped).toBe(1);
  });
});

type Told = Awaited<ReturnType<LateWordFaultsOptions['ledger']['readRun']>>;

/** A ledger in which somebody else is in charge when it is asked so often. */
function ledgerOf(said: string[], looks: number): LateWordFaultsOptions['ledger'] {
  let left = looks;
  const look = (what: string) => {
    said.push(what);
    left -= 1;
    return left <= 0;
  };
  return {
    readRun: (id) => {
      const state = look(`looked at ${id}`) ? 'orphaned' : 'running';
      return Promise.resolve({ id, state, attempt: 1 } as unknown as Told);
    },
    readCron: (name) => {
      const fence = parseFence(look(`looked at ${name}`) ? '8' : '7');
      return Promise.resolve({ name, fence } as unknown as CronRecord);
    },
  };
}

describe('a process that stops before its word is heard', () => {
  let folder = '';

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'late-word-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  /** A scheduler and a worker that come to every point at once. */
  function herdOf(said: string[]): Herd {
    const victim = (name: string, role: string): Victim => {
      const hit = join(folder, `${name}.hit`);
      return {
        ...{ name, role, hit, gone: Promise.resolve() },
        send: (signal) => void said.push(`${name} ${signal}`),
        order: (order) => {
          if (order.do !== 'arm' || !order.point) return Promise.resolve();
          said.push(`${name} armed at ${order.point.event} of ${order.point.effects?.join()}`);
          writeFileSync(hit, JSON.stringify({ cron: 'chaos-asked', runId: 'chaos-asked@1000', attempt: 1, fence: 7 }));
          return Promise.resolve();
        },
      };
    };
    const all = [victim('s1', 'scheduler'), victim('w1', 'worker')];
    return { up: () => all, seize: () => ({ release: () => {} }) };
  }

  async function strike(kind: string, looks: number) {
    const said: string[] = [];
    const fault = lateWordFaults({ herd: herdOf(said), ledger: ledgerOf(said, looks) }).find(
      (one) => one.kind === kind,
    )!;
    return { struck: await fault.strike(seededRandom(1), new AbortController().signal), said };
  }

  it('goes on as a worker when somebody else has its run, and not before', async () => {
    const { struck, said } = await strike('sigstop-until-replaced', 3);
    const looks = Array.from({ length: 3 }, () => 'looked at chaos-asked@1000');
    expect(said).toEqual(['w1 armed at effect.acted of write,charge,pay', ...looks, 'w1 SIGCONT']);
    expect(struck).toBe(true);
  });

  it('goes on as a scheduler when somebody else has claimed, and not before', async () => {
    const { struck, said } = await strike('sigstop-until-overtaken', 2);
    const looks = Array.from({ length: 2 }, () => 'looked at chaos-asked');
    expect(said).toEqual(['s1 armed at occurrence.claiming of undefined', ...looks, 's1 SIGCONT']);
    expect(struck).toBe(true);
  });
});
