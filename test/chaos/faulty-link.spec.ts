import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { faultyLink, type FaultyLink } from './faulty-link.js';

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
