import { describe, expect, it } from 'vitest';
import { SetupError } from './errors.js';
import { checkResourceName, resourceName, resourceType } from './resource.js';

describe('a resource', () => {
  it('is named by its type and id, or by a name of its own', () => {
    expect(resourceName({ type: 'invoice', id: 42 })).toBe('invoice:42');
    expect(resourceName('nightly-report')).toBe('nightly-report');
  });

  it('is the same however its letters are composed', () => {
    expect(resourceName('cafe\u0301')).toBe(resourceName('caf\u00e9'));
    const sensitive = (id: string) => resourceName({ type: 'guest', id, sensitive: true });
    expect(sensitive('cafe\u0301')).toBe(sensitive('caf\u00e9'));
  });

  it('does not show a sensitive id, and tells two of them apart', () => {
    const [ann, bob] = ['ann@example.com', 'bob@example.com'].map((id) =>
      resourceName({ type: 'customer', id, sensitive: true }),
    );
    expect(ann).toMatch(/^customer:sha256-[0-9a-f]{32}$/);
    expect(ann).not.toBe(bob);
  });

  it('takes a sensitive id of any length and any characters', () => {
    expect(resourceName({ type: 'file', id: `{${'x '.repeat(500)}}`, sensitive: true })).toHaveLength(44);
  });

  it.each([
    ['a brace', 'a{b}', '"{", "}" may not be in it'],
    ['a blank', 'a b', '" " may not be in it'],
    ['a line break', 'a\nb', String.raw`"\n" may not be in it`],
    ['nothing', '', 'it has 0 characters'],
    ['too much', 'x'.repeat(201), 'it has 201 characters'],
  ])('is refused with a sentence that names what is wrong: %s', (_what, name, because) => {
    expect(() => checkResourceName(name)).toThrow(SetupError);
    expect(() => checkResourceName(name)).toThrow(because);
  });

  it.each(['', 'Invoice', '4you', 'a b', 'x'.repeat(41)])('has no type %j', (type) => {
    expect(() => resourceName({ type, id: 1 })).toThrow(SetupError);
  });
});

describe('the type of a resource', () => {
  it.each([
    ['invoice:42', 'invoice'],
    ['flight:report:7', 'flight'],
    ['nightly-report', 'untyped'],
    ['https://example.com/a', 'https'],
    ['Ann:1', 'untyped'],
    ['42:1', 'untyped'],
  ])('of %s is %s', (name, type) => expect(resourceType(name)).toBe(type));
});
