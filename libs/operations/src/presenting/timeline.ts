import { z } from 'zod';
import type { Timeline } from '../operating/timeline-run.js';
import { count, instant, instantOrNull, iso, msOrNull, textOrNull } from './values.js';

export const outcomeSchema = z
  .enum([
    ...(['ran', 'late', 'running', 'waiting', 'retried', 'failed', 'cancelled'] as const),
    ...(['uncertain', 'skipped', 'merged', 'missed', 'ahead'] as const),
  ])
  .describe('Outcome of an instant or of a triggered run.');

export const timelineItemSchema = z
  .strictObject({
    scheduledAt: instant.describe('The instant; of several the first, of a bucket its start.'),
    until: instantOrNull.describe(
      'The last of several instants with the same outcome, or the end of a bucket; null: it is one instant.',
    ),
    count: count.describe('How many instants.'),
    outcome: outcomeSchema,
    reason: textOrNull.describe(
      'Why, in a word: of a skip its reason, of a run why it exists where that is not the schedule.',
    ),
    runId: textOrNull.describe('Its run, where it has one.'),
    lateByMs: msOrNull.describe('How much later than due it began; null for a manual or backfilled run.'),
    tookMs: msOrNull.describe('How long it took.'),
    attempt: count.describe('Attempts; 0 before the first.'),
    asked: z.enum(['manual', 'backfill']).nullable().describe('Somebody asked for it; null: the schedule did.'),
  })
  .describe('Outcome of an instant.');

export const timelineSchema = z
  .strictObject({
    cron: z.string().describe('Its name.'),
    from: instant.describe('The first instant that was looked at.'),
    to: instant.describe('The first one that was not.'),
    now: instant.describe('What the clock of the store showed.'),
    items: z.array(timelineItemSchema).describe('In order.'),
    more: instantOrNull.describe('Start of the next page; null: this is all.'),
    forgotten: instantOrNull.describe('Records up to here may have expired; null: none have.'),
  })
  .describe('The instants of a cron in a range, with their outcomes.');

export type TimelineJson = z.infer<typeof timelineSchema>;

export function presentTimeline({ cron, from, to, now, items, more, forgotten }: Timeline): TimelineJson {
  return {
    ...{ cron, from: iso(from), to: iso(to), now: iso(now) },
    items: items.map((item) => ({ ...item, scheduledAt: iso(item.scheduledAt), until: iso(item.until) })),
    ...{ more: iso(more), forgotten: iso(forgotten) },
  };
}
