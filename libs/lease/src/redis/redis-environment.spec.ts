import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SetupError } from '../base/errors.js';
import { redisFromEnvironment } from './redis-environment.js';
import type { UrlTarget } from './redis-target.js';

const SENTINELS = { REDIS_SENTINELS: 'a:1, b , [::1]:3,', REDIS_SENTINEL_NAME: 'mymaster' };
const sentinels = [
  { host: 'a', port: 1 },
  { host: 'b', port: 26_379 },
  { host: '::1', port: 3 },
];

describe('where an environment says that Redis is', () => {
  it('is one server, what sentinels watch, or a cluster', () => {
    expect(redisFromEnvironment({ REDIS_URL: 'redis://r:1' })).toBe('redis://r:1');
    expect(redisFromEnvironment(SENTINELS)).toEqual({ sentinel: { sentinels, name: 'mymaster' } });
    expect(redisFromEnvironment({ REDIS_CLUSTER: 'redis://:secret@a, rediss://b:7000' })).toEqual({
      cluster: ['redis://:secret@a', 'rediss://b:7000'],
    });
  });

  it('is nowhere where it does not say, and an empty variable says nothing', () => {
    expect(redisFromEnvironment({ PATH: '/bin' })).toBeUndefined();
    const empty = { REDIS_URL: '', REDIS_SENTINELS: '', REDIS_SENTINEL_NAME: '', REDIS_CLUSTER: '' };
    expect(redisFromEnvironment(empty)).toBeUndefined();
    expect(redisFromEnvironment({ ...empty, REDIS_CLUSTER: 'redis://a' })).toEqual({ cluster: ['redis://a'] });
  });

  it('has with sentinels what their address can not hold', () => {
    const primary = { REDIS_USERNAME: 'u', REDIS_PASSWORD: 'p', REDIS_DB: '2', REDIS_TLS: 'true' };
    const guards = { REDIS_SENTINEL_USERNAME: 'su', REDIS_SENTINEL_PASSWORD: 'sp' };
    const { sentinel } = redisFromEnvironment({ ...SENTINELS, ...primary, ...guards }) as { sentinel: object };
    expect(sentinel).toEqual({
      ...{ sentinels, name: 'mymaster', username: 'u', password: 'p', db: 2, tls: true },
      ...{ sentinelUsername: 'su', sentinelPassword: 'sp' },
    });
    expect(redisFromEnvironment({ ...SENTINELS, REDIS_TLS: 'false' })).toEqual({
      sentinel: { sentinels, name: 'mymaster' },
    });
  });

  it('may name files, which are read again for each connection', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
    const [user, password, ca] = ['user', 'password', 'ca.pem'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const write = (name: string, text: string) => writeFileSync(name, `${text}\n`);
    write(user, 'one');
    write(password, 'p1');
    write(ca, 'PEM');
    const files = { REDIS_USERNAME_FILE: user, REDIS_PASSWORD_FILE: password, REDIS_CA_FILE: ca };
    const target = redisFromEnvironment({ REDIS_URL: 'rediss://r', ...files }) as UrlTarget;
    expect(target).toMatchObject({ url: 'rediss://r', tls: { ca: 'PEM\n' } });
    expect(target.credentials?.()).toEqual({ username: 'one', password: 'p1' });
    write(user, 'two');
    write(password, 'p2');
    expect(target.credentials?.()).toEqual({ username: 'two', password: 'p2' });
    expect(redisFromEnvironment({ REDIS_URL: 'redis://r', REDIS_CA_FILE: '' })).toBe('redis://r');
  });

  it.each([
    [
      { REDIS_URL: 'redis://a', REDIS_CLUSTER: 'redis://b' },
      'Expected one of REDIS_URL, REDIS_SENTINELS, REDIS_CLUSTER, got REDIS_URL and REDIS_CLUSTER. Leave out all but one.',
    ],
    [
      { REDIS_SENTINELS: 'a:1' },
      'Expected REDIS_SENTINEL_NAME beside REDIS_SENTINELS, what they call the primary, such as mymaster.',
    ],
    [
      { REDIS_SENTINEL_NAME: 'mymaster', REDIS_URL: 'redis://a' },
      'Expected REDIS_SENTINELS beside REDIS_SENTINEL_NAME: host:port of each, separated by commas.',
    ],
    [
      { ...SENTINELS, REDIS_SENTINELS: 'a:1,redis://:secret@b' },
      'Expected REDIS_SENTINELS to be host:port of each, separated by commas, got "redis://***@b".',
    ],
    [
      { ...SENTINELS, REDIS_SENTINELS: 'a:65536' },
      'Expected REDIS_SENTINELS to be host:port of each, separated by commas, got "a:65536".',
    ],
    [
      { REDIS_CLUSTER: 'redis://a,http://:secret@b:7000' },
      'Expected REDIS_CLUSTER to be addresses such as redis://localhost:7000, separated by commas, got "http://***@b:7000".',
    ],
    [{ ...SENTINELS, REDIS_DB: 'x' }, 'Expected REDIS_DB to be the number of a database, such as 0, got "x".'],
    [{ ...SENTINELS, REDIS_TLS: 'yes' }, 'Expected REDIS_TLS to be true or false, got "yes".'],
  ])('is refused with a sentence: %j', (variables, sentence) => {
    expect(() => redisFromEnvironment(variables)).toThrow(new SetupError(sentence));
  });
});
