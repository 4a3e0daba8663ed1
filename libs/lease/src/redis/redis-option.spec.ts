import { describe, expect, it } from 'vitest';
import { isRedisOption, shownRedisOption } from './redis-options.js';

const sentinels = [{ host: 'a', port: 26_379 }];

describe('where a Redis is, as an option says it', () => {
  it.each([
    'redis://localhost:6379',
    'rediss://user:secret@cache/2',
    { sentinel: { sentinels, name: 'mymaster', password: 'secret' } },
    { cluster: ['redis://a', 'redis://b:7000'] },
  ])('may be %j', (value) => {
    expect(isRedisOption(value)).toBe(true);
  });

  it.each([
    'localhost',
    'http://localhost',
    undefined,
    null,
    7,
    [],
    {},
    { url: 'redis://a' },
    { cluster: 'redis://a' },
    { cluster: [{ host: 'a' }] },
    { sentinel: 'mymaster' },
    { sentinel: null },
    { sentinel: { sentinels } },
    { sentinel: { sentinels: ['a:26379'], name: 'mymaster' } },
    { sentinel: { sentinels: [{ host: 'a' }], name: 'mymaster' } },
    { sentinel: { sentinels, name: 'mymaster' }, cluster: ['redis://a'] },
  ])('is not %j', (value) => {
    expect(isRedisOption(value)).toBe(false);
  });

  it('is shown without a password', () => {
    expect(shownRedisOption('http://user:secret@host?password=secret')).toBe('"http://***@host"');
    expect(shownRedisOption({ sentinel: { password: 'secret' } })).toBe('an object');
  });
});
