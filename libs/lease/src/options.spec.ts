import { describe, expect, it } from 'vitest';
import { SetupError } from './errors.js';
import { leaseSettings } from './options.js';

const redis = 'redis://localhost:6379';
const settingsOf = (options: unknown) => leaseSettings(options as never);

describe('the options of LeaseModule', () => {
  it('have defaults for everything but the address', () => {
    expect(leaseSettings({ redis })).toEqual({ redis, prefix: 'fencepost', tenant: 'default', ttlMs: 10_000 });
  });

  it('are taken as they are given', () => {
    const options = { redis, prefix: 'p', tenant: 't', ttl: '2m', holder: 'pod-7' };
    expect(leaseSettings(options)).toEqual({ redis, prefix: 'p', tenant: 't', ttlMs: 120_000, holder: 'pod-7' });
  });

  it.each([
    [{}, 'LeaseModule, option "redis": expected a Redis address such as redis://localhost:6379, got nothing.'],
    [undefined, 'LeaseModule, options: expected an object such as { redis: "redis://localhost:6379" }, got nothing.'],
    [{ redis, ttl: '10 s' }, `LeaseModule, option "ttl": expected a duration from '300ms' to '1h', got "10 s".`],
    [{ redis, ttl: 299 }, `LeaseModule, option "ttl": expected a duration from '300ms' to '1h', got 299.`],
    [{ redis, ttl: '2h' }, `LeaseModule, option "ttl": expected a duration from '300ms' to '1h', got "2h".`],
    [{ redis, ttl: null }, `LeaseModule, option "ttl": expected a duration from '300ms' to '1h', got null.`],
    [{ redis, prefix: 'a:b' }, 'LeaseModule, option "prefix": expected 1 to 200 letters, digits or . _ -, got "a:b".'],
    [{ redis, tenant: 7 }, 'LeaseModule, option "tenant": expected 1 to 200 letters, digits or . _ -, got 7.'],
    [{ redis, tll: '1s' }, 'LeaseModule has no option "tll".'],
  ])('are refused when they are %j', (options, sentence) => {
    expect(() => settingsOf(options)).toThrow(new SetupError(sentence));
  });

  it('never show a password', () => {
    expect(() => leaseSettings({ redis: 'http://:secret@cache' })).toThrow('got "http://***@cache".');
  });

  it('are refused with one sentence per mistake', () => {
    expect(() => settingsOf({ redis: 'x', prefix: '' })).toThrow(/"redis".*\. .*"prefix".*\./);
  });
});
