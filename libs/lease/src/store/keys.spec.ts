import { describe, expect, it } from 'vitest';
import { SetupError } from '../base/errors.js';
import { redisChannel, redisKeys, redisKeysOf } from './keys.js';

const key = redisKeys({ prefix: 'fencepost', tenant: 'acme' });

describe('redisKeys', () => {
  it('puts version, tenant and resource into the key, and the resource with its tenant into the hash tag', () => {
    expect(key('nightly-report', 'lease')).toBe('fencepost:v1:{acme:nightly-report}:lease');
    expect(key('a', 'run:a@1763607600000')).toBe('fencepost:v1:{acme:a}:run:a@1763607600000');
  });

  it.each(['', 'a b', 'a{b', 'a}b', 'a\n', 'a'.repeat(201)])('refuses the resource %j', (resource) => {
    expect(() => key(resource, 'lease')).toThrow(SetupError);
    expect(() => key(resource, 'lease')).toThrow('Expected a resource name of 1 to 200 letters, digits or');
  });

  it('builds the same key however the letters of a resource are composed', () => {
    expect(key('cafe\u0301', 'lease')).toBe(key('caf\u00e9', 'lease'));
  });

  it.each(['a:b', '', 'a{b'])('refuses %j as prefix, tenant and channel, where a colon would be ambiguous', (name) => {
    expect(() => redisKeys({ prefix: name, tenant: 't' })).toThrow('Expected a key prefix of');
    expect(() => redisKeys({ prefix: 'p', tenant: name })).toThrow('Expected a tenant of');
    expect(() => redisChannel({ prefix: 'p', tenant: 't' }, name)).toThrow('Expected a channel of');
  });
});

describe('redisChannel', () => {
  it('belongs to the tenant', () => {
    expect(redisChannel({ prefix: 'fencepost', tenant: 'acme' }, 'released')).toBe('fencepost:v1:acme:released');
  });
});

describe('redisKeysOf', () => {
  const leaseOf = redisKeysOf('lease', { prefix: 'fencepost', tenant: 'acme' });

  it('gives a resource the key that redisKeys builds', () => {
    expect(leaseOf('r1')).toBe(key('r1', 'lease'));
  });

  it('refuses what redisKeys refuses', () => {
    expect(() => leaseOf('a b')).toThrow(SetupError);
    expect(() => redisKeysOf('a b', { prefix: 'fencepost', tenant: 'acme' })).toThrow(SetupError);
  });
});
