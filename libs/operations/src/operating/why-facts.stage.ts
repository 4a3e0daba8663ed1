import { parseFence } from '@fencepost/lease';
import type { Holding } from '@fencepost/lease/store';
import { expect } from 'vitest';
import type { JournalEntry } from '../journal/journal.js';
import type { CronRecord } from '@fencepost/ledger';
import type { AuditRecord } from '@fencepost/ledger/audit-trail';
import type { EffectRecord, Pause, Run, SkipReason } from '@fencepost/ledger/run';
import type { WhyReport } from './why.js';
import type { WhyStep } from './why.js';
import { EVENT_TEXT, type QueueLimits } from '@fencepost/jobs/internal';
import { type EventName } from '@fencepost/jobs';
import { explain } from './explain-service.js';
import { instantInSecond, meantTime, validityIntervalsOfEntry, contextOf } from './why-context.js';
import { readWhen } from './why-when.js';
import type { WhyVerdict } from './why.js';
import { CRON, entryOf, generationsOf, runAt, type Change } from '../../../../test/support/audit-history.js';

/** What is known of a cron that fires at 3 o'clock, as far as a test says so. ISO 8601 everywhere. */
export interface Known {
  readonly generations?: readonly (Omit<Change, 'since'> & { readonly since?: string })[];
  readonly now?: string;
  readonly cursor?: string | null;
  readonly runs?: readonly Run[];
  readonly skips?: readonly (readonly [after: string, through: string, reason: SkipReason])[];
  readonly forgotten?: string;
  readonly paused?: Pause;
  readonly orders?: readonly AuditRecord[] | null;
  readonly journal?: readonly JournalEntry[];
  readonly lease?: Holding | null;
  readonly effects?: readonly EffectRecord[];
  readonly record?: Partial<CronRecord>;
  readonly queues?: readonly QueueLimits[];
}

const CREATED = '2026-03-01T00:00:00Z';
export const HOLDER: Holding = { holder: 'pod-1/aaaaaaaa-bbbb', fence: parseFence('77'), remainingMs: 8_000 };

export function ms(iso: string): number {
  return Date.parse(iso);
}

/** The run of an instant, which a worker began at once and ended after two seconds. */
export function run(at: string, over: Partial<Run> = {}): Run {
  const begun = ms(at) + 100;
  return runAt(ms(at), {
    claimedAt: ms(at) + 20,
    enqueuedAt: ms(at) + 30,
    startedAt: begun,
    attemptedAt: begun,
    finishedAt: begun + 2_000,
    ...over,
  });
}

export function heard(at: string, event: EventName, more: Partial<JournalEntry> = {}): JournalEntry {
  const who = { pod: 'pod-1/aaaaaaaa', role: 'scheduler', level: EVENT_TEXT[event][0] };
  return { id: `${ms(at)}-0`, at: ms(at), ...who, event, cron: CRON, runId: null, detail: {}, ...more };
}

export function ordered(at: string, what: string, over: Partial<AuditRecord> = {}): AuditRecord {
  const [by = '', action = ''] = what.split(' ');
  const about = { role: 'operator', from: 'a test', cron: CRON, runId: null, before: null, after: null, reason: null };
  return { id: `${ms(at)}-0`, at: ms(at), action, by, ...about, ...over };
}

export function why(when: string, known: Known): WhyReport {
  const changes = (known.generations ?? [{}]).map((change) => ({
    expression: '0 3 * * *',
    ...change,
    since: ms(change.since ?? CREATED),
  }));
  const entry = entryOf(generationsOf(...changes));
  const now = ms(known.now ?? '2026-03-20T12:00:00Z');
  const [meant, intervals] = [readWhen(when), validityIntervalsOfEntry(entry)];
  const { at: exact, asked } = meantTime(meant, intervals, now);
  const at = instantInSecond(exact, intervals);
  const context = contextOf(at, intervals);
  const { runs = [], skips = [], forgotten, paused = null, cursor = '2026-03-20T03:00:00Z' } = known;
  const found = runs.findLast(({ scheduledAt }) => scheduledAt === at);
  return explain({
    ...{ entry, context, now, journal: known.journal ?? [], lease: known.lease, queues: known.queues ?? [] },
    ...{ asked, orders: known.orders === undefined ? [] : known.orders },
    record: {
      fence: parseFence('1'),
      cursor: cursor === null ? null : ms(cursor),
      generation: 1,
      refusals: 0,
      droppedNotifications: null,
      paused,
      ...known.record,
    },
    account: {
      ...{ runs, forgotten: forgotten === undefined ? null : ms(forgotten) },
      skips: skips.map(([after, through, reason]) => ({ after: ms(after), through: ms(through), reason })),
    },
    report: found
      ? {
          ...{ run: found, items: {}, unresolvedEffect: null },
          effects: (known.effects ?? []).map((effect) => ({
            ...effect,
            result: null,
            unknown: effect.state === 'begun' && found.state !== 'running',
          })),
        }
      : null,
  });
}

/** What was asked, what was known, the verdict, and words that the answer, and a step about something, have. */
export type Situation = readonly [
  name: string,
  when: string,
  known: Known,
  verdict: WhyVerdict,
  answer: string,
  step?: readonly [WhyStep['topic'], string],
];

/** As `it.each` takes them. */
export function named(situations: readonly Situation[]): [name: string, situation: Situation][] {
  return situations.map((situation) => [situation[0], situation]);
}

export function expectAnswer([, when, known, verdict, answer, about]: Situation): void {
  const report = why(when, known);
  expect(report.verdict).toBe(verdict);
  expect(report.answer).toContain(answer);
  expect(report.answer).toMatch(/^[A-Z].*\S$/s);
  if (!about) return;
  const [topic, words] = about;
  const said = report.steps.filter((step) => step.topic === topic).map(({ text }) => text);
  expect(said.join('\n')).toContain(words);
}
