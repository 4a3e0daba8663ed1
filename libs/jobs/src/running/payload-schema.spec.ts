import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { JobPayloadError } from './errors.js';
import { payloadReader, isStandardSchema, type StandardSchema } from './payload-schema.js';

/** As other libraries than zod have them: what is wrong with a payload, at a path of objects. */
function refusing(issues: { message: string; path?: { key: PropertyKey }[] }[]): StandardSchema {
  return { '~standard': { version: 1, vendor: 'test', validate: () => ({ issues }) } };
}

describe('a payload that is read by a schema', () => {
  it('is what the schema makes of it', () => {
    const read = payloadReader('mail', z.object({ at: z.string().transform((text) => text.length) }));
    expect(read({ at: 'noon', more: true })).toEqual({ at: 4 });
  });

  it('is read later by a schema that takes its time', async () => {
    const slow = z.string().transform(async (text) => text.toUpperCase());
    expect(await payloadReader('mail', slow)('ada')).toBe('ADA');
    const strict = slow.refine(async () => false, 'nobody of this name');
    await expect(payloadReader('mail', strict)('ada')).rejects.toThrow('payload: nobody of this name');
  });

  it('is refused with the path of each field and what is wrong with it', () => {
    const read = payloadReader('mail', z.object({ to: z.array(z.object({ name: z.string() })) }));
    expect(() => read({ to: [{ name: 'ada' }, { name: 7 }] })).toThrow('the job "mail": to.1.name: ');
    expect(() => read(null)).toThrow('the job "mail": payload: ');
  });

  it('is refused in the words of any library', () => {
    const issues = [{ message: 'too old', path: [{ key: 'sent' }, { key: Symbol('at') }] }, { message: 'odd' }];
    const error = refusalOf(refusing(issues));
    expect(error).toMatchObject({ code: 'JOB_PAYLOAD', job: 'mail', name: 'JobPayloadError' });
    expect(error.issues).toEqual([
      { field: 'sent.Symbol(at)', problem: 'too old' },
      { field: 'payload', problem: 'odd' },
    ]);
    expect(error.message).toContain('sent.Symbol(at): too old; payload: odd.');
  });

  it('is refused in a message of bounded length', () => {
    const error = refusalOf(refusing(Array.from({ length: 100 }, (_, n) => ({ message: `wrong ${n}` }))));
    expect(error.message).toContain('payload: wrong 4; and 95 more.');
    expect(error.message).not.toContain('wrong 5');
    expect(error.issues).toHaveLength(100);
  });
});

function refusalOf(schema: StandardSchema): JobPayloadError {
  try {
    payloadReader('mail', schema)(null);
  } catch (error) {
    if (error instanceof JobPayloadError) return error;
  }
  throw new Error('Expected the payload to be refused.');
}

describe('what is a schema', () => {
  it('has the Standard Schema interface, be it an object or a function', () => {
    expect(isStandardSchema(z.string())).toBe(true);
    expect(isStandardSchema(Object.assign(() => {}, refusing([])))).toBe(true);
  });

  it.each([undefined, null, {}, 'string', { '~standard': 1 }, { '~standard': { version: 2, validate: () => {} } }])(
    'is not %j',
    (value) => {
      expect(isStandardSchema(value)).toBe(false);
    },
  );
});
