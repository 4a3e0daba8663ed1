import { SetupError } from '@fencepost/lease';
import { describe, expect, it } from 'vitest';
import { mayAs, newToken, parseTokens, ROLES, roleOf } from './access-tokens.js';

const HASH = 'a'.repeat(64);

describe('a new token', () => {
  it('is known by its line and by no other secret', () => {
    const { secret, line } = newToken('grafana', 'viewer');
    const tokens = parseTokens(`${newToken('anna', 'admin').line},${line}`);
    expect(roleOf(tokens, secret)).toEqual({ name: 'grafana', role: 'viewer' });
    expect(roleOf(tokens, `${secret}x`)).toBeNull();
    expect(roleOf(tokens, '')).toBeNull();
    expect(roleOf([], secret)).toBeNull();
  });

  it('has 256 random bits, and its line has none of them', () => {
    const [one, other] = [newToken('a', 'admin'), newToken('a', 'admin')];
    expect(one.secret).not.toBe(other.secret);
    expect(one.secret).toMatch(/^fencepost_[\w-]{43}$/);
    expect(one.line).toMatch(/^a:admin:[0-9a-f]{64}$/);
    expect(one.line).not.toContain(one.secret);
  });

  it.each(['', 'a:b', 'a,b', 'a b', '#a', 'x'.repeat(65)])('is not made for the name "%s"', (name) => {
    expect(() => newToken(name, 'viewer')).toThrow(SetupError);
  });
});

describe('a list of tokens', () => {
  it('may stand in one line, or in a file with empty lines and comments', () => {
    const file = `# who may\n\na:viewer:${HASH}\r\n b : operator : ${HASH.toUpperCase()} \n`;
    expect(parseTokens(file)).toEqual([
      { name: 'a', role: 'viewer', sha256: HASH },
      { name: 'b', role: 'operator', sha256: HASH },
    ]);
    expect(parseTokens(`a:viewer:${HASH},b:admin:${HASH}`).map(({ name }) => name)).toEqual(['a', 'b']);
    expect(parseTokens(' \n')).toEqual([]);
  });

  it.each([
    ['name', `:viewer:${HASH}`],
    ['role', `a:root:${HASH}`],
    ['hash', 'a:viewer:123'],
    ['hash', 'a:viewer'],
    ['number of parts', `a:viewer:${HASH}:x`],
  ])('is refused for its %s, by place and not by content', (what, entry) => {
    const refused = () => parseTokens(`z:admin:${HASH}, ${entry}`);
    expect(refused).toThrow(SetupError);
    expect(refused).toThrow(`token 2`);
    expect(refused).toThrow(`its ${what} is not right`);
  });

  it('shows no secret that somebody has put into it', () => {
    const { secret } = newToken('a', 'admin');
    expect(() => parseTokens(secret)).toThrow(expect.not.stringContaining(secret.slice(10, 30)) as Error);
  });

  it('has each name once', () => {
    expect(() => parseTokens(`a:viewer:${HASH},a:admin:${HASH}`)).toThrow('"a" comes twice');
  });
});

describe('a role', () => {
  it('may what the roles before it may', () => {
    const may = ROLES.map((role) => ROLES.filter((needed) => mayAs(role, needed)));
    expect(may).toEqual([['viewer'], ['viewer', 'operator'], ['viewer', 'operator', 'admin']]);
  });
});
