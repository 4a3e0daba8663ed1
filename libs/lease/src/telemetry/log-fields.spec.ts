import { describe, expect, it } from 'vitest';
import { LeaseLostError } from '../base/errors.js';
import { hashResource, ownerPrefix, processIdentity } from '../base/identity.js';
import { scrubbed, scrubbedError } from './log-fields.js';

const holder = processIdentity('pod-7');
const about = { resource: 'patient:anna@example.org', holder };

describe('a text that is scrubbed', () => {
  it('shows a hash for the resource, in a message of ours and within a key', () => {
    const { message } = new LeaseLostError(about.resource, 'expired');
    const key = `WRONGTYPE for key fencepost:v1:{default:${about.resource}}:lease`;
    for (const text of [message, key]) {
      expect(scrubbed(text, about)).not.toContain('anna');
      expect(scrubbed(text, about)).toContain(hashResource(about.resource));
    }
  });

  it('shows the beginning of a holder only', () => {
    expect(scrubbed(`held by ${holder}, not by us`, about)).toBe(`held by ${ownerPrefix(holder)}, not by us`);
    const named = { ...about, holder: 'batch-of-anna' };
    expect(scrubbed('held by batch-of-anna', named)).toBe('held by batch-of');
  });

  it('shows the beginning of every other holder and nonce', () => {
    const other = processIdentity('pod-8');
    expect(scrubbed(`held by ${other}`, about)).toBe(`held by ${ownerPrefix(other)}`);
  });

  it('shows no password and no query of an address', () => {
    const text = 'connect to redis://app:s3cret/p@ss@cache:6379/0?password=s3cret failed';
    expect(scrubbed(text, about)).toBe('connect to redis://***@cache:6379/0 failed');
  });

  it('shows no argument of a command that Redis does not know', () => {
    const text = "ERR unknown command 'FOO', with args beginning with: 's3cret' 'more'";
    expect(scrubbed(text, about)).toBe("ERR unknown command 'FOO'");
  });

  it('ends somewhere', () => {
    expect(scrubbed('long '.repeat(1_000), about)).toHaveLength(300);
  });

  it('is all that is left of an error, next to its name and its code', () => {
    const command = { name: 'evalsha', args: ['s3cret'] };
    const error = Object.assign(new TypeError('connect ECONNREFUSED'), { code: 'ECONNREFUSED', command, errno: -111 });
    expect(scrubbedError(error, about)).toEqual({
      error_name: 'TypeError',
      error_code: 'ECONNREFUSED',
      error_message: 'connect ECONNREFUSED',
    });
    expect(scrubbedError({ password: 's3cret' }, about)).toEqual({ error_name: 'object' });
  });
});
