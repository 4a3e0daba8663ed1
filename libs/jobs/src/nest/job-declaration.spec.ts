import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { contentHash } from '@fencepost/ledger/catalog';
import { CronDeclarationError, checkJob } from './cron-declaration.js';

const check = (options: unknown = {}, name: unknown = 'send-mail') => checkJob('Mails.send', { name, options });

describe('a job at a method', () => {
  it('is a cron without instants, whose runs may overlap', () => {
    const { declaration } = check();
    expect(declaration).toMatchObject({ disabled: false });
    expect(declaration.definition).toMatchObject({ name: 'send-mail', expression: '@manual', overlap: 'allow' });
  });

  it('has what stands at a handler', () => {
    const key = (payload: unknown) => String(payload);
    const options = {
      ...{ criticality: 'correctness', timeout: '1m', retry: { attempts: 5 } },
      ...{ concurrencyKey: key, maxPerKey: 2, rateLimit: { max: 3, per: '1s' } },
    };
    expect(check(options)).toMatchObject({
      ...{ criticality: 'correctness', timeoutMs: 60_000, retry: { attempts: 5, delayMs: 1_000 } },
      limits: { key, perKey: 2, rate: { max: 3, perMs: 1_000 } },
    });
  });

  it('is declared with the same content whatever its handler is like: builds may differ in that', () => {
    const [one, other] = [check(), check({ schema: z.string(), retry: { attempts: 9 } })];
    expect(contentHash(one.declaration)).toBe(contentHash(other.declaration));
  });

  it('has tags, which are part of its content', () => {
    const tagged = check({ tags: ['mail'] });
    expect(tagged.declaration.definition.tags).toEqual(['mail']);
    expect(contentHash(tagged.declaration)).not.toBe(contentHash(check().declaration));
    expect(() => check({ tags: ['Mail'] })).toThrow('option "tags.0" of @JobHandler: expected a tag of 1 to 40');
  });

  it('says what it is for, whom to turn to and what to do, which is part of its content', () => {
    const said = { description: 'Sends a mail.', owner: 'Team Mail', runbookUrl: 'https://wiki.example/mail' };
    expect(check(said).declaration.definition).toMatchObject(said);
    const hashes = Object.entries(said).map(([key, value]) => contentHash(check({ [key]: value }).declaration));
    expect(new Set([...hashes, contentHash(check().declaration)]).size).toBe(4);
  });

  it('reads its payload by its schema, and without one not at all', () => {
    const { readPayload } = check({ schema: z.object({ to: z.string() }) });
    expect(readPayload?.({ to: 'ada' })).toEqual({ to: 'ada' });
    expect(() => readPayload?.({})).toThrow('Invalid payload for the job "send-mail": to: ');
    expect(check()).not.toHaveProperty('readPayload');
  });

  it.each<[string, unknown, string]>([
    ['no options object', 7, 'option "options" of @JobHandler: expected an options object, or none, got 7.'],
    [
      'a misspelt option',
      { retries: 3 },
      '@JobHandler has no option "retries"; known are schema, tags, description, owner, runbookUrl, criticality',
    ],
    ['a misspelt part', { retry: { tries: 3 } }, 'no option "retry.tries"; known are attempts, delay, maxDelay'],
    ['an option of crons', { overlap: 'skip' }, '@JobHandler has no option "overlap"'],
    ['no schema', { schema: { to: 'string' } }, 'option "schema" of @JobHandler: expected a Standard Schema'],
    ['a number without what it counts', { maxPerKey: 2 }, 'expected concurrencyKey beside it'],
  ])('is refused with %s', (_what, options, message) => {
    expect(() => check(options)).toThrow(CronDeclarationError);
    expect(() => check(options)).toThrow('Mails.send: ');
    expect(() => check(options)).toThrow(message);
  });

  it.each(['send mail', '', '@', 7, null])('is refused with a name that is none: %j', (name) => {
    expect(() => check({}, name)).toThrow(CronDeclarationError);
    expect(() => check({}, name)).toThrow('option "name" of @JobHandler: expected a name of 1 to 100 letters');
  });
});
