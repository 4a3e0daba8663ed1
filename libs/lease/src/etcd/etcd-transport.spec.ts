import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ManualClock } from '../testing/manual-clock.js';
import { EtcdTransport } from './etcd-transport.js';

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
