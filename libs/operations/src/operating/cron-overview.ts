import type { CatalogEntry, Generation } from '@fencepost/ledger/catalog';
import type { CronRecord } from '@fencepost/ledger';
import type { Run } from '@fencepost/ledger/run';
import { generationsOf } from '@fencepost/jobs/internal';
import { scheduleOf } from './scheduled.js';
import type { CronOverview } from '../presenting/cron-summary.js';

export interface Seen {
  readonly record: CronRecord | undefined;
  readonly last: Run | null;
}

export function overviewOf(entry: CatalogEntry, { record, last }: Seen, now: number): CronOverview {
  const { definition, state, generation, since, buildSeq, source } = entry;
  return {
    name: definition.name,
    expression: definition.expression,
    timeZone: definition.timeZone,
    state,
    generation,
    since,
    next: nextInstant(entry, now),
    paused: record?.paused ?? null,
    cursor: record?.cursor ?? null,
    last,
    buildSeq,
    source,
    droppedNotifications: record?.droppedNotifications ?? null,
  };
}

/** Over all generations: an accepted change may still be a moment away, and then the old schedule has its say first. */
function nextInstant(entry: CatalogEntry, now: number): number | null {
  const generations = generationsOf(entry);
  for (const [index, generation] of generations.entries()) {
    const instant = nextOf(generation, generations[index + 1]?.since ?? Infinity, now);
    if (instant !== null) return instant;
  }
  return null;
}

function nextOf({ state, definition, since }: Generation, until: number, now: number): number | null {
  if (state !== 'firing' || until <= now) return null;
  const schedule = scheduleOf(definition, since);
  const instant = schedule.next(Math.max(since, now - schedule.spreadMs));
  return instant !== null && instant <= until ? instant : null;
}
