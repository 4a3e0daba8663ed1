import { describe, expect, it } from 'vitest';
import { SetupError } from '../base/errors.js';
import { clusterAddresses, clusterOptions, sentinelOptions } from './redis-options.js';
import { addressOf } from './redis-target.js';
import type { RedisTarget } from './redis-target.js';

const settings = { commandTimeoutMs: 500, name: 'test', random: () => 1 };
const sentinels = [{ host: 'a', port: 26_379 }];

describe('addressOf', () => {
  it.each<[RedisTarget, string]>([
    [{ url: 'redis://:secret@cache:6379' }, 'redis://***@cache:6379'],
    [{ sentinel: { sentinels, name: 'mymaster', password: 'secret' } }, 'mymaster of the sentinels a:26379'],
    [{ cluster: ['redis://:secret@a', 'redis://b:7000'] }, 'the cluster of redis://***@a, redis://b:7000'],
  ])('calls %j what people call it, without a password', (target, address) => {
    expect(addressOf(target)).toBe(address);
  });

  it.each<[RedisTarget, string]>([
    [{ url: 'http://cache' }, 'Expected a Redis address such as redis://localhost:6379, got "http://cache".'],
    [{ cluster: [] }, 'Expected at least one address in "cluster", got none.'],
    [{ cluster: ['a:7000'] }, 'Expected a Redis address such as redis://localhost:6379, got "a:7000".'],
    [{ sentinel: { sentinels: [], name: 'mymaster' } }, 'Expected at least one address in "sentinels", got none.'],
    [{ sentinel: { sentinels, name: '' } }, 'Expected the name that the sentinels have for the primary, got "".'],
  ])('refuses %j', (target, sentence) => {
    expect(() => addressOf(target)).toThrow(new SetupError(sentence));
  });
});

describe('the options of a connection', () => {
  const startup = { started: false, failures: [], hints: [] };

  it('come for a cluster from the first address', () => {
    const cluster = ['rediss://us%40er:p%2Fw@a', 'redis://[::1]:7000'];
    expect(clusterAddresses({ cluster })).toEqual([
      { host: 'a', port: 6379 },
      { host: '::1', port: 7000 },
    ]);
    expect(clusterOptions({ cluster }, settings, startup).redisOptions).toMatchObject({
      username: 'us@er',
      password: 'p/w',
      tls: {},
    });
  });

  it('encrypt also what is asked of the sentinels', () => {
    const options = sentinelOptions({ sentinel: { sentinels, name: 'mymaster', tls: true } }, settings, startup);
    expect(options).toMatchObject({ tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true, name: 'mymaster' });
  });

  it('retry nothing before the start, and with growing pauses after it', () => {
    const { retryStrategy } = sentinelOptions({ sentinel: { sentinels, name: 'm' } }, settings, startup);
    expect(retryStrategy?.(1)).toBeNull();
    const { retryStrategy: later } = sentinelOptions({ sentinel: { sentinels, name: 'm' } }, settings, {
      ...startup,
      started: true,
    });
    expect([1, 2, 3, 100].map((times) => later?.(times))).toEqual([100, 200, 400, 2_000]);
  });
});
