import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ManualClock } from '../testing/manual-clock.js';
import { EtcdTransport, jsonLines } from './etcd-transport.js';

const TIMEOUT_MS = 12_000;

/** A member that hangs: what is asked ends only by whoever asked. */
const silence: typeof fetch = (_url, init) =>
  new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('aborted'))));

describe('a member of etcd that hangs', () => {
  it.each([
    ['alone', 1, 2],
    ['one of two', 2, 2],
    ['one of three', 3, 3],
  ])('and is %s leaves time to ask again', async (_where, members, turns) => {
    const clock = new ManualClock();
    const endpoints = Array.from({ length: members }, (_, n) => `http://member-${n}`);
    const transport = new EtcdTransport({ fetch: silence, clock, timeoutMs: TIMEOUT_MS, endpoints });
    const said: unknown[] = [];
    const post = { endpoint: 'http://member-0', path: 'kv/txn', body: {}, signal: new AbortController().signal };
    transport.post(post, z.unknown()).catch((error: unknown) => said.push(error));
    await clock.advance(TIMEOUT_MS / turns - 1);
    expect(said).toEqual([]);
    await clock.advance(1);
    expect(said).toEqual([expect.objectContaining({ message: expect.stringContaining('did not answer in time') })]);
    expect(clock.pending).toBe(0);
  });
});

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

async function read(text: string, size: number): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const value of jsonLines(inPieces(text, size))) values.push(value);
  return values;
}

describe('a stream of JSON lines', () => {
  it.each([1, 2, 3, 5, 1_000])(
    'is read whole when it comes in pieces of %i bytes, also through a letter',
    async (size) => {
      expect(await read('{"a":"größe"}\n\n{"b":"日本"}\n', size)).toEqual([{ a: 'größe' }, { b: '日本' }]);
    },
  );

  it('ends without what was cut off', async () => {
    expect(await read('{"a":1}\n{"b"', 4)).toEqual([{ a: 1 }]);
  });
});
