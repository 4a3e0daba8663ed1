import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { redisOption, redisOptionIssue, shownRedisOption } from './redis-option.js';

const sentinels = [{ host: 'a', port: 26_379 }];

describe('where a Redis is, as an option says it', () => {
  it.each([
    'redis://localhost:6379',
    'rediss://user:secret@cache/2',
    { sentinel: { sentinels, name: 'mymaster', password: 'secret' } },
    { cluster: ['redis://a', 'redis://b:7000'] },
    { url: 'rediss://a', tls: { ca: '-----BEGIN' }, credentials: () => ({ password: 'p' }) },
    new Redis({ lazyConnect: true }),
    () => new Redis({ lazyConnect: true }),
  ])('may be %j', (value) => {
    expect(redisOptionIssue(value)).toBeUndefined();
  });

  it.each([
    'localhost',
    'http://localhost',
    undefined,
    null,
    7,
    [],
    {},
    { url: 'a' },
    { cluster: 'redis://a' },
    { cluster: [{ host: 'a' }] },
    { sentinel: 'mymaster' },
    { sentinel: null },
    { sentinel: { sentinels } },
    { sentinel: { sentinels: ['a:26379'], name: 'mymaster' } },
    { sentinel: { sentinels: [{ host: 'a' }], name: 'mymaster' } },
    { sentinel: { sentinels, name: 'mymaster' }, cluster: ['redis://a'] },
  ])('is not %j', (value) => {
    expect(redisOption.safeParse(value).success).toBe(false);
  });

  it.each([
    [{ url: 'redis://a', credential: 1 }, 'expected no "credential" in it; did you mean "credentials"'],
    [
      { url: 'redis://a', credentials: { password: 'p' } },
      'expected "credentials" to be a function that returns { username, password, expiresAt }',
    ],
    [{ cluster: ['rediss://a'], tls: true }, 'expected "tls" to be an object such as { ca }'],
    [{ url: 'redis://a', tls: {} }, 'expected addresses with rediss:// beside "tls"'],
    [
      new Redis({ lazyConnect: true, keyPrefix: 'shop:' }),
      'expected a connection of ioredis without "keyPrefix"; use the option "prefix"',
    ],
  ])('is refused with a sentence of its own: %#', (value, sentence) => {
    expect(redisOptionIssue(value)).toBe(sentence);
  });

  it('is shown without a password', () => {
    expect(shownRedisOption('http://user:secret@host?password=secret')).toBe('"http://***@host"');
    expect(shownRedisOption({ sentinel: { password: 'secret' } })).toBe('an object');
  });
});
