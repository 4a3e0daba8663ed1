import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@fencepost/lease';
import { afterEach, describe, expect, it } from 'vitest';
import { call, type CallOptions, isForbidden } from './call.js';

const servers: Server[] = [];

/** A server on loopback, and what it was asked. */
async function serving(listener: RequestListener) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    listener(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { port, asked };
}

const options = (allowHosts: readonly string[], timeoutMs = 5_000): CallOptions => ({
  clock: systemClock,
  timeoutMs,
  allowHosts,
});

const ok: RequestListener = (_, response) => void response.end('ok');

describe('a call to somebody outside', () => {
  afterEach(() => Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve)))));

  it('reaches a host of the own network that somebody has named, by its name or with its port', async () => {
    const { port, asked } = await serving(ok);
    const url = `http://127.0.0.1:${port}/a?b=1`;
    expect(await call({ method: 'GET', url }, options(['127.0.0.1']))).toBe(200);
    expect(await call({ method: 'POST', url, body: 'ü' }, options([`127.0.0.1:${port}`]))).toBe(200);
    expect(asked).toEqual(['GET /a?b=1', 'POST /a?b=1']);
  });

  it.each([
    ['loopback', '127.0.0.1'],
    ['loopback by another spelling', '2130706433'],
    ['loopback by its name, after it was looked up', 'localhost'],
    ['loopback of IPv6', '[::1]'],
    ['IPv4 within IPv6', '[::ffff:127.0.0.1]'],
    ['every address of the machine', '0.0.0.0'],
    ['a private network', '10.0.0.1'],
    ['another', '192.168.1.1'],
    ['a carrier', '100.64.0.1'],
    ['link-local', '169.254.1.1'],
    ['where clouds have credentials', '169.254.169.254'],
    ['the same in IPv6', '[fd00:ec2::254]'],
    ['a unique local address', '[fc00::1]'],
  ])('is refused for %s, and nobody is connected to', async (_, host) => {
    const { port, asked } = await serving(ok);
    const refused = call({ method: 'GET', url: `http://${host}:${port}/` }, options(['elsewhere', '127.0.0.1:1']));
    await expect(refused).rejects.toThrow('its address is not public');
    expect(asked).toEqual([]);
  });

  it('never reaches the credentials of a cloud, whoever has named it', async () => {
    const hosts = ['169.254.169.254', '[fd00:ec2::254]', '0.0.0.0'];
    for (const host of hosts) {
      const refused = call({ method: 'GET', url: `http://${host}/latest/meta-data` }, options(hosts));
      await expect(refused, host).rejects.toThrow('its address is not public');
    }
  });

  it('follows no redirect: where it leads nobody has checked', async () => {
    const inside = await serving(ok);
    const location = `http://127.0.0.1:${inside.port}/secret`;
    const { port } = await serving((_, response) => void response.writeHead(302, { location }).end());
    const failed = call({ method: 'GET', url: `http://127.0.0.1:${port}/` }, options(['127.0.0.1']));
    await expect(failed).rejects.toThrow('it answered 302, and redirects are not followed');
    expect(inside.asked).toEqual([]);
  });

  it('fails for what is no success', async () => {
    const { port } = await serving((_, response) => void response.writeHead(500).end());
    const failed = call({ method: 'GET', url: `http://127.0.0.1:${port}/` }, options(['127.0.0.1']));
    await expect(failed).rejects.toMatchObject({
      code: 'CALL_FAILED',
      message: expect.stringContaining('answered 500'),
    });
  });

  it('waits for no answer longer than it may', async () => {
    const { port } = await serving(() => {});
    const url = `http://127.0.0.1:${port}/`;
    await expect(call({ method: 'GET', url }, options(['127.0.0.1'], 50))).rejects.toThrow(
      'did not answer within 50 ms',
    );
  });

  it('reads no more of an answer than it has to', async () => {
    let sent = 0;
    const { port } = await serving((_, response) => {
      const more = () => {
        while (response.write(Buffer.alloc(65_536))) sent += 1;
        sent += 1;
        if (sent < 10_000) response.once('drain', more);
      };
      more();
    });
    expect(await call({ method: 'GET', url: `http://127.0.0.1:${port}/` }, options(['127.0.0.1']))).toBe(200);
    expect(sent).toBeLessThan(1_000);
  });

  it('says the host and nothing else of the address', async () => {
    const url = 'http://user:canary@127.0.0.1:1/canary?token=canary';
    const failed = call({ method: 'GET', url }, options(['127.0.0.1']));
    const error = await failed.then(String, String);
    expect(error).toContain('Expected 127.0.0.1:1 to accept the message, but ECONNREFUSED');
    expect(error).not.toContain('canary');
  });
});

describe('an address where nobody is called', () => {
  it.each([
    '169.254.169.254',
    '169.254.170.2',
    '[fe80::1]',
    'fd00:ec2::254',
    '[::ffff:169.254.169.254]',
    '::ffff:a9fe:a9fe',
  ])('is %s, whatever its spelling', (address) => {
    expect(isForbidden(address)).toBe(true);
  });

  it.each(['127.0.0.1', '10.0.0.1', '[::1]', 'alerts.internal', '8.8.8.8'])('is not %s', (address) => {
    expect(isForbidden(address)).toBe(false);
  });
});
