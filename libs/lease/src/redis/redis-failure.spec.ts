import { describe, expect, it } from 'vitest';
import { describeFailure } from './redis-connection.js';
import { isRedisUrl, redactUrl } from './redis-target.js';

const ADDRESS = 'redis://***@cache:6379';

describe('describeFailure', () => {
  it.each([
    ['connect ECONNREFUSED 127.0.0.1:6379', 'nothing listens there'],
    ['getaddrinfo ENOTFOUND cache', 'its host name cannot be resolved'],
    ['connect ETIMEDOUT', 'it did not answer in time'],
    ['Command timed out', 'it did not answer in time'],
    ['WRONGPASS invalid username-password pair or user is disabled.', 'it refused the user or the password'],
    ['NOAUTH HELLO must be called with the client already authenticated', 'it wants a password'],
    ["NOPERM this user has no permissions to run the 'info' command", 'its user may not run INFO'],
    ['ERR DB index is out of range', 'it does not have the database'],
    ['Unknown RESP type 72 "H". Please report this.', 'what answers there is not a Redis'],
    ['read ECONNRESET', 'it closed the connection'],
    ['ERR This instance has cluster support disabled', 'it is not a cluster'],
    ['The cluster is not whole', 'some of its slots are not served'],
    [
      'connected to sentinel 10.0.0.1:26379 successfully, but got an invalid reply: null',
      'they know no primary of that',
    ],
    ['All sentinels are unreachable and retry is disabled.', 'none of them answers'],
    ['something new', 'connecting failed: something new'],
  ])('says of %j what it means', (message, meaning) => {
    const sentence = describeFailure(ADDRESS, new Error(message));
    expect(sentence).toContain(`Expected a Redis at ${ADDRESS}, but ${meaning}`);
  });
});

describe('redactUrl', () => {
  it.each([
    ['redis://cache:6379/2', 'redis://cache:6379/2'],
    ['redis://:secret@cache:6379', 'redis://***@cache:6379'],
    ['rediss://app:secret@cache', 'rediss://***@cache'],
    ['redis://app:se@cr/et?@cache', 'redis://***@cache'],
    ['redis://cache?password=secret', 'redis://cache'],
    ['app:secret@cache:6379', '***@cache:6379'],
  ])('shows %s as %s', (url, shown) => {
    expect(redactUrl(url)).toBe(shown);
  });
});

describe('isRedisUrl', () => {
  it.each(['redis://cache', 'rediss://:secret@cache:6380/1'])('accepts %s', (url) => {
    expect(isRedisUrl(url)).toBe(true);
  });

  it.each(['http://cache', 'cache:6379', '/tmp/redis.sock', ''])('refuses %j', (url) => {
    expect(isRedisUrl(url)).toBe(false);
  });
});
