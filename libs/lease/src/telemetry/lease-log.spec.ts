import { beforeEach, describe, expect, it } from 'vitest';
import { parseFence } from '../base/fence.js';
import { hashResource } from '../base/identity.js';
import { ManualClock } from '../testing/manual-clock.js';
import type { LeaseEvent, LeaseEventName } from './lease-events.js';
import { leaseLog } from './lease-log.js';
import type { LeaseLogger, LeaseLogOptions } from './lease-log.js';
import { LOG_LINES } from './lease-log.js';

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

describe('the log', () => {
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
