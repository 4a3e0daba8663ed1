import { describe, expect, it } from 'vitest';
import type { JournalEntry } from './journal.js';
import { runEntries } from './run-entries.js';

function entry(id: string, event: JournalEntry['event'], { runId = 'a@1', attempt = 1 } = {}): JournalEntry {
  const about = { level: 'info', cron: 'a', runId, detail: { attempt } } as const;
  return { id, at: Number(id.split('-')[0]), pod: 'w1/0', role: 'worker', event, ...about };
}

describe('what the journal has of a run', () => {
  it('is what each healthy attempt said, beside what is kept for longer, the newest first', () => {
    const notable = [entry('30-0', 'attempt.failed')];
    const latest = [entry('40-7', 'attempt.succeeded', { attempt: 2 }), entry('20-1', 'attempt.begun')];
    expect(runEntries('a@1', { notable, latest }).map(({ event }) => event)).toEqual([
      'attempt.succeeded',
      'attempt.failed',
      'attempt.begun',
    ]);
  });

  it('has once what stands in both lists', () => {
    const both = { notable: [entry('30-0', 'attempt.failed')], latest: [entry('30-9', 'attempt.failed')] };
    expect(runEntries('a@1', both)).toHaveLength(1);
  });

  it('keeps two things apart that happened in the same millisecond', () => {
    const notable = [entry('30-0', 'attempt.failed'), entry('30-1', 'attempt.failed', { attempt: 2 })];
    expect(runEntries('a@1', { notable, latest: [] })).toHaveLength(2);
  });

  it('has nothing of other runs', () => {
    const other = entry('30-0', 'attempt.failed', { runId: 'a@2' });
    expect(runEntries('a@1', { notable: [other], latest: [other] })).toEqual([]);
  });
});
