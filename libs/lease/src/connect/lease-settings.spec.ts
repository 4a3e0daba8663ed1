import { describe, expect, it } from 'vitest';
import { SetupError } from '../base/errors.js';
import { MemoryLeaseStore } from '../store/memory-lease-store.js';
import { leaseSettings } from './lease-settings.js';

const TARGET =
  'expected a Redis address such as redis://localhost:6379, or { url }, { sentinel: { sentinels, name } } or ' +
  '{ cluster: [address, …] }, or a connection of ioredis, or a function that returns one';
const redis = 'redis://localhost:6379';
const settingsOf = (options: unknown) => leaseSettings(options as never);

describe('the options of LeaseModule', () => {
  it('have defaults for everything but the address', () => {
    const defaults = {
      prefix: 'fencepost',
      tenant: 'default',
      ttlMs: 10_000,
      criticality: 'efficiency',
      waitForReplicas: 0,
      log: true,
    };
    expect(leaseSettings({ redis })).toEqual({ redis: { url: redis }, ...defaults });
  });

  it('are taken as they are given', () => {
    const same = {
      ...{ redis: { cluster: [redis] }, prefix: 'p', tenant: 't', holder: 'pod-7', waitForReplicas: 1 },
      criticality: 'correctness' as const,
      observe: () => {},
      log: false,
    };
    expect(leaseSettings({ ...same, ttl: '2m' })).toEqual({ ...same, ttlMs: 120_000 });
  });

  it("may name a store of one's own instead of an address, and not both", () => {
    const store = new MemoryLeaseStore();
    expect(leaseSettings({ store })).toMatchObject({ store });
    expect(() => leaseSettings({ store, redis })).toThrow('option "redis": expected none where a store is given');
  });

  it.each([
    [{}, `LeaseModule, option "redis": ${TARGET}, got nothing.`],
    [{ redis: 'localhost' }, `LeaseModule, option "redis": ${TARGET}, got "localhost".`],
    [{ redis: { host: 'a' } }, `LeaseModule, option "redis": ${TARGET}, got an object.`],
    [
      { redis, criticality: 'high' },
      `LeaseModule, option "criticality": expected 'efficiency' or 'correctness', got "high".`,
    ],
    [
      { redis, waitForReplicas: -1 },
      'LeaseModule, option "waitForReplicas": expected a whole number of replicas from 0 to 10, got -1.',
    ],
    [undefined, 'LeaseModule, options: expected an object such as { redis: "redis://localhost:6379" }, got nothing.'],
    [{ redis, ttl: '10 s' }, `LeaseModule, option "ttl": expected a duration from '300ms' to '1h', got "10 s".`],
    [{ redis, ttl: '299ms' }, `LeaseModule, option "ttl": expected a duration from '300ms' to '1h', got "299ms".`],
    [
      { redis, ttl: 299 },
      `LeaseModule, option "ttl": expected a duration from '300ms' to '1h' with its unit, '299s' or '299ms', got 299.`,
    ],
    [{ redis, ttl: '2h' }, `LeaseModule, option "ttl": expected a duration from '300ms' to '1h', got "2h".`],
    [{ redis, ttl: null }, `LeaseModule, option "ttl": expected a duration from '300ms' to '1h', got null.`],
    [{ redis, prefix: 'a:b' }, 'LeaseModule, option "prefix": expected 1 to 200 letters, digits or . _ -, got "a:b".'],
    [{ redis, tenant: 7 }, 'LeaseModule, option "tenant": expected 1 to 200 letters, digits or . _ -, got 7.'],
    [{ redis, tll: '1s' }, 'LeaseModule has no option "tll"; did you mean "ttl"?'],
  ])('are refused when they are %j', (options, sentence) => {
    expect(() => settingsOf(options)).toThrow(new SetupError(sentence));
  });

  it('are refused with all there are where one is like none of them', () => {
    expect(() => settingsOf({ redis, xyzzy: 1 })).toThrow(/has no option "xyzzy"; known are redis, .*ttl/);
  });

  it('never show a password', () => {
    expect(() => leaseSettings({ redis: 'http://:secret@cache' })).toThrow('got "http://***@cache".');
  });

  it('are refused with one sentence per mistake', () => {
    expect(() => settingsOf({ redis: 'x', prefix: '' })).toThrow(/"redis".*\. .*"prefix".*\./);
  });
});
