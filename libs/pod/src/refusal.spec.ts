import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { SetupError } from '@fencepost/lease';
import { connectRedis } from '@fencepost/lease/redis';
import { describe, expect, it } from 'vitest';
import { refusal, probePort } from './refusal.js';

const address = { host: '127.0.0.1', port: 3000 };

function systemError(code: string): Error {
  return Object.assign(new Error(`listen ${code}`), { code });
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('Expected a failure.');
}

describe('why a pod does not start', () => {
  it('is one sentence for what a person can mend', () => {
    expect(refusal(new SetupError('Expected a port.'), address)).toBe('Expected a port.');
  });

  it.each([
    [
      'EADDRINUSE',
      'Port 3000 of 127.0.0.1 is in use. Set PORT to a free one (0 takes any), or end the program that has it.',
    ],
    ['EACCES', 'This user may not listen on port 3000 of 127.0.0.1. Set PORT to one above 1023.'],
    ['EADDRNOTAVAIL', 'This machine has no address 127.0.0.1. Set HOST to one it has, such as 127.0.0.1 or 0.0.0.0.'],
    ['ENOTFOUND', 'This machine has no address 127.0.0.1. Set HOST to one it has, such as 127.0.0.1 or 0.0.0.0.'],
  ])('says what to change for %s', (code, sentence) => {
    expect(refusal(systemError(code), address)).toBe(sentence);
  });

  it('is told for the error that a taken port really gives', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const second = createServer().listen(port, '127.0.0.1');
    const [error] = await once(second, 'error');
    taken.close();
    expect(refusal(error, { host: '127.0.0.1', port })).toContain(`Port ${port} of 127.0.0.1 is in use.`);
  });

  it('is told for a Redis that is not there, without its password', async () => {
    const url = 'redis://user:secret@127.0.0.1:1';
    const error = await failureOf(connectRedis({ url, commandTimeoutMs: 500, name: 'test' }));
    const sentence = refusal(error, address);
    expect(sentence).toMatch(/^Expected a Redis at redis:\/\/\*\*\*@127\.0\.0\.1:1, but nothing listens there/);
    expect(sentence).not.toContain('secret');
  });

  it('comes with its stack when nobody expected it, the sentence first', () => {
    const [first, second, ...rest] = refusal(new TypeError('x is undefined'), address).split('\n');
    expect([first, second]).toEqual(['x is undefined', 'TypeError: x is undefined']);
    expect(rest.join()).toContain('refusal.spec');
  });

  it('is told also when what was thrown is no error', () => {
    expect(refusal('a text', address)).toBe('a text');
  });
});

it('a probe refuses a port that somebody has, and leaves one that is free as it was', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const taken = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  await expect(probePort(taken)).rejects.toMatchObject({ code: 'EADDRINUSE' });

  const closed = once(server, 'close');
  server.close();
  await closed;
  await probePort(taken);
  await probePort(taken);
});
