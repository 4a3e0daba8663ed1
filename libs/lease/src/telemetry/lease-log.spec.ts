import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseFence } from '../base/fence.js';
import { hashResource, ownerPrefix, processIdentity } from '../base/identity.js';
import { ManualClock } from '../testing/manual-clock.js';
import type { LeaseEvent, LeaseEventName } from './lease-events.js';
import { leaseLog, scrubbed, scrubbedError } from './lease-log.js';
import type { LeaseLogger, LeaseLogOptions } from './lease-log.js';
import { LOG_LINES } from './lease-log.js';
import { LeaseLostError } from '../base/errors.js';

describe('the log', () => {
  const term = {
    resource: 'invoice:42',
    holder: 'pod-7/0d9f1f6e-3c55-4f7b-9d0a-0a4c6c6b9a11',
    fence: parseFence('1787654321123456'),
  };

  const acquired: LeaseEvent = { name: 'lease.acquired', ...term, ttlMs: 10_000, tookMs: 1.23456 };

  const failed = (name: 'lease.extend-failed', code: string): LeaseEvent => ({
    ...{ name, ...term, error: Object.assign(new Error('away'), { code }) },
  });

  let clock: ManualClock;

  let lines: { level: string; detail: Record<string, unknown>; sentence: string }[];

  let logger: LeaseLogger;

  beforeEach(() => {
    [clock, lines] = [new ManualClock(), []];
    const write = (level: string) => (detail: Record<string, unknown>, sentence: string) =>
      void lines.push({ level, detail, sentence });
    logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  });

  const log = (options: LeaseLogOptions = {}) => leaseLog(logger, { clock, ...options });

  it('has one line for an event: its name, a hash of the resource, its type, the beginning of its owner', () => {
    log()(acquired);
    expect(lines).toEqual([
      {
        level: 'info',
        detail: {
          ...{ event: 'lease_acquired', resource: hashResource('invoice:42'), resource_type: 'invoice' },
          ...{ owner: 'pod-7/0d9f1f6e', fence: 1_787_654_321_123_456, ttl_ms: 10_000, took_ms: 1.235 },
        },
        sentence: 'lease acquired',
      },
    ]);
  });

  it('knows how loud each event is and what it says', () => {
    const names = Object.keys(LOG_LINES) as LeaseEventName[];
    const observe = log();
    for (const name of names) observe({ name, ...term } as LeaseEvent);
    expect(lines.map(({ level, sentence }) => [level, sentence])).toEqual(Object.values(LOG_LINES));
    for (const { detail } of lines) expect(detail['event']).toMatch(/^[a-z]+(_[a-z]+)+$/);
    for (const [level, sentence] of Object.values(LOG_LINES)) {
      expect(level).toMatch(/^(debug|info|warn|error)$/);
      expect(sentence).toMatch(/^[a-z].{10,}[^.]$/);
    }
  });

  it('warns of what an operator should look at', () => {
    const warned = Object.entries(LOG_LINES).filter(([, [level]]) => level === 'warn');
    expect(warned.map(([name]) => name)).toEqual(
      expect.arrayContaining([
        'lease.lost',
        'lease.stale-release',
        'fence.rejected',
        'lease.ttl-unfit',
        'store.warning',
      ]),
    );
  });

  it('tells a kind of trouble once in five seconds, with how often it was', async () => {
    const observe = log();
    for (let n = 0; n < 3; n += 1) observe(failed('lease.extend-failed', `E${n}`));
    observe({ name: 'lease.release-failed', ...term, heldMs: 5, error: new Error('away') });
    await clock.advance(5_000);
    observe(failed('lease.extend-failed', 'E3'));
    const { sentence } = lines.at(-1)!;
    expect(lines.map(({ detail }) => [detail['event'], detail['error_code']])).toEqual([
      ['lease_extend_failed', 'E0'],
      ['lease_release_failed', undefined],
      ['lease_extend_failed', 'E3'],
    ]);
    expect(sentence).toMatch(/\(and 2 more since the last report\)$/);
  });

  it('leaves out what nobody has decided to show', () => {
    log()({ ...acquired, nonce: 's3cret' } as LeaseEvent);
    expect(JSON.stringify(lines)).not.toContain('s3cret');
  });
});

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

it('the README lists every event with its level', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const [, section = ''] = /\n## Events\n([\s\S]*?)\n## /.exec(readme) ?? [];
  const rows = [...section.matchAll(/^\| `([\w.-]+)` +\| (\w+) +\|/gm)].map(([, name, level]) => [name, level]);
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries(Object.entries(LOG_LINES).map(([name, [level]]) => [name, level])),
  );
});
