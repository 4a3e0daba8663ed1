import { describe, expect, it } from 'vitest';
import { entryNamed, healthy, NOW } from '../../../../test/support/doctor-facts.js';
import { found, withOne, withServer, type Over } from '../../../../test/support/doctor-table.js';
import { judgeDeployment, needsCare } from './doctor.js';

describe('what is found of a deployment', () => {
  it('is told the worst first, and ends with what was looked at', () => {
    const findings = judgeDeployment(
      healthy({ ...withOne({ leaseTtlMs: 20_000, clockSkewMs: 2_000 }), ...withServer({ role: 'slave' }) }),
    );
    expect(findings.map(({ level }) => level)).toEqual(['bad', 'warn', 'note', 'ok']);
    expect(findings.at(-1)?.text).toBe(
      'Checked 2 pods, 1 cron, Redis 7.0.15, the ledger in redis: no further findings.',
    );
  });

  it('needs care only where it is bad or a warning', () => {
    const care = (over: Over) => needsCare(judgeDeployment(healthy(over)));
    expect([
      care({}),
      care(withOne({ seenAt: NOW - 9_000 })),
      care(withServer({ role: 'slave' })),
      care(withOne({ leaseTtlMs: 20_000 })),
    ]).toEqual([false, true, true, false]);
  });

  it('is one finding for all crons of one kind', () => {
    const entries = Array.from({ length: 12 }, (_, n) => entryNamed({ name: `gone-${n}` }, { source: 'shop' }));
    expect(found({ entries })).toEqual(['warn ORPHANED gone-0, gone-1, gone-2, gone-3, gone-4 and 7 more']);
    const unknown = Array.from({ length: 12 }, (_, n) => entryNamed({ name: `gone-${n}` }));
    const names = 'gone-0, gone-1, gone-2, gone-3, gone-4 and 7 more';
    expect(found({ entries: unknown })).toEqual([`bad NO_CAPABLE_WORKER ${names}`]);
  });
});
