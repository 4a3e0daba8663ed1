import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { scrub, scrubText } from './scrub.js';

const SECRET = 'kAn4ry/5ecret';
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm5hIn0.c2lnbmF0dXJl';

describe('a text that is scrubbed', () => {
  it.each([
    [`connect to redis://app:${SECRET}@cache:6379/0 failed`, 'connect to redis://***@cache:6379/0 failed'],
    [`postgres://u:p@${SECRET}@db/shop`, 'postgres://***@db/shop'],
    [`GET https://h/x?page=2&token=${SECRET}&b=1`, 'GET https://h/x?page=2&token=***&b=1'],
    [`https://h/x?X-Amz-Signature=${SECRET}`, 'https://h/x?X-Amz-Signature=***'],
    [`https://h/x?sig=${SECRET}&key=${SECRET}`, 'https://h/x?sig=***&key=***'],
    [`host=db password=${SECRET} user=app`, 'host=db password=*** user=app'],
    [`PGPASSWORD='${SECRET} and more' psql`, 'PGPASSWORD=*** psql'],
    [`{"password":"${SECRET} and \\" more","a":1}`, '{"password":***,"a":1}'],
    [JSON.stringify({ body: JSON.stringify({ apiKey: SECRET }) }), '{"body":"{\\"apiKey\\":***}"}'],
    [`Authorization: Bearer ${SECRET}`, 'Authorization: ***'],
    [`it sent Bearer ${SECRET}.`, 'it sent Bearer ***'],
    [`Cookie: a=${SECRET}; b=${SECRET}`, 'Cookie: ***'],
    [`the session ${JWT} ended`, 'the session *** ended'],
    [`signed with whsec_${SECRET}=`, 'signed with ***'],
    [`pushed as ghp_${'a1'.repeat(18)}`, 'pushed as ***'],
    [`-----BEGIN RSA PRIVATE KEY-----\n${SECRET}\n-----END RSA PRIVATE KEY-----`, '***'],
    [`ERR unknown command 'FOO', with args beginning with: '${SECRET}'`, "ERR unknown command 'FOO'"],
  ])('shows of %j no secret', (text, shown) => {
    expect(scrubText(text)).toBe(shown);
  });

  it('keeps what is none', () => {
    for (const text of [
      'the cron nightly-report@1763607600000 failed: connect ECONNREFUSED 127.0.0.1:6379',
      'see https://example.com/a?page=2#top, and http://[::1]:3000/',
      'no token came',
      'PayloadError: The payload is not what its handler takes',
      'TokenExpiredError: ended at noon',
    ]) {
      expect(scrubText(text)).toBe(text);
    }
  });

  it('is not cut inside of a secret, and takes time that grows with its length only', () => {
    const cut = scrubText(`${'word '.repeat(1_597)}redis://app:${SECRET}@cache`);
    expect(cut).not.toContain('app:');
    expect(cut.endsWith('…')).toBe(true);
    for (const part of ['a', 'a://', 'token', '"', 'eyJ', 'bearer ', ' ', '=']) {
      expect(scrubText(part.repeat(100_000)).length).toBeLessThan(10_000);
    }
  });
});

describe('a word longer than a log shows', () => {
  it('is cut, unless it may have a secret', () => {
    expect(scrubText('x'.repeat(10_000))).toBe(`${'x'.repeat(8_000)}…`);
    expect(scrubText(`why: ${'x'.repeat(10_000)}`)).toBe(`why: ${'x'.repeat(7_995)}…`);
    expect(scrubText(`why: redis://app:${'kAnary'.repeat(2_000)}@cache`)).toBe('why:…');
    expect(scrubText(`${'x'.repeat(100)}token=${'kAnary'.repeat(2_000)}`)).toBe('…');
  });
});

describe('a value that is scrubbed', () => {
  it('loses what is named like a secret at any depth, and keeps the rest', () => {
    const value = {
      cron: 'nightly',
      fence: 17,
      list: [{ headers: { 'X-Api-Key': SECRET, accept: 'text' } }],
      map: new Map([['refresh_token', SECRET]]),
      payload: { order: SECRET },
      session: null,
      deep: { dbPassword: { nested: SECRET } },
    };
    expect(scrub(value)).toEqual({
      cron: 'nightly',
      fence: 17,
      list: [{ headers: { 'X-Api-Key': '***', accept: 'text' } }],
      map: { refresh_token: '***' },
      payload: '***',
      session: null,
      deep: { dbPassword: '***' },
    });
    expect(value.payload.order).toBe(SECRET);
  });

  it('loses the secrets in texts of errors, their causes and their stacks, and what a library put on them', () => {
    const cause = Object.assign(new Error(`redis://:${SECRET}@cache`), { command: { args: [SECRET] } });
    const shown = scrub(new AggregateError([cause], `token=${SECRET}`, { cause }));
    expect(inspect(shown, { depth: 9 })).not.toContain('5ecret');
    expect(shown).toMatchObject({
      type: 'AggregateError',
      message: 'token=***',
      cause: { message: 'redis://***@cache' },
    });
  });

  it('shows a URL as a text, a time in ISO 8601, and of bytes only how many', () => {
    const value = [new URL('http://u:5ecret@h/'), new Date(0), Buffer.from(SECRET), new Set([1])];
    expect(scrub(value)).toEqual(['http://***@h/', '1970-01-01T00:00:00.000Z', `[${SECRET.length} bytes]`, [1]]);
  });

  it('ends in circles, in depth, and in breadth', () => {
    const circle: Record<string, unknown> = { a: [1] };
    circle['self'] = { circle };
    expect(scrub(circle)).toEqual({ a: [1], self: { circle: '[circular]' } });
    let deep: unknown = SECRET;
    for (let level = 0; level < 100; level += 1) deep = { deep };
    expect(JSON.stringify(scrub(deep))).toContain('[more]');
    expect(scrub(Array.from({ length: 10_000 }, () => 1)).length).toBeLessThan(1_000);
  });

  it('never throws, whatever a getter does', () => {
    const bad = {
      get a(): never {
        throw new Error('no');
      },
    };
    expect(scrub({ bad, b: 1, f: () => 1, n: 5n })).toEqual({ bad: '[unreadable]', b: 1, f: '[function]', n: 5n });
  });
});
