import { describe, expect, it } from 'vitest';
import { Gate } from '../base/gate.js';
import { SetupError } from '../base/errors.js';
import { etcdSettings } from './etcd-options.js';
import { wholeSeconds } from './etcd-term.js';

describe('a gate', () => {
  it('lets no more in at once than it has places, and everybody in the end', async () => {
    const gate = new Gate(3);
    let inside = 0;
    let most = 0;
    const visit = async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
      return true;
    };
    const visits = await Promise.all(Array.from({ length: 20 }, () => gate.through(visit)));
    expect(visits).toEqual(Array(20).fill(true));
    expect(most).toBe(3);
  });

  it('gets its place back from who fails', async () => {
    const gate = new Gate(1);
    await expect(gate.through(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await gate.through(async () => 'in')).toBe('in');
  });
});

describe('the options of etcd', () => {
  it('are addresses, and the rest has defaults', () => {
    const settings = etcdSettings({ endpoints: ['http://a:2379/', 'https://b:2379'] });
    expect(settings).toMatchObject({ endpoints: ['http://a:2379', 'https://b:2379'], timeoutMs: 5_000 });
  });

  it.each([
    ['no address', { endpoints: [] }],
    ['an address without a scheme', { endpoints: ['a:2379'] }],
    ['an address of something else', { endpoints: ['redis://a:6379'] }],
    ['a timeout of 0', { endpoints: ['http://a:2379'], timeoutMs: 0 }],
  ])('refuse %s', (_what, options) => {
    expect(() => etcdSettings(options)).toThrow(SetupError);
  });

  it('refuse a password in an address, and do not repeat it', () => {
    const refused = () => etcdSettings({ endpoints: ['http://me:hush@a:2379'] });
    expect(refused).toThrow('give { name, password } as "user"');
    expect(refused).not.toThrow('hush');
  });
});

describe('a ttl in whole seconds', () => {
  it.each([
    [1, 1],
    [999, 1],
    [1_000, 1],
    [1_001, 2],
    [10_000, 10],
  ])('is never shorter: %i ms are %i s', (ttlMs, seconds) => {
    expect(wholeSeconds(ttlMs)).toBe(seconds);
  });
});
