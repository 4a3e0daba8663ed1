import type { CatalogEntry, CronState, Generation } from '@fencepost/ledger/catalog';
import type { CronRecord } from '@fencepost/ledger';
import type { Pause, Run } from '@fencepost/ledger/run';
import { generationsOf } from '@fencepost/jobs/internal';
import { spreadOf } from '@fencepost/schedule';
import { readableScheduleOf } from './scheduled.js';

/** What an operator wants to know of a cron at one look. Instants are epoch milliseconds. */
export interface CronOverview {
  readonly name: string;
  readonly expression: string;
  readonly timeZone: string;
  readonly state: CronState;
  /** The newest generation, and from when on it is effective. */
  readonly generation: number;
  readonly since: number;
  /** The next nominal instant that is not due yet, also of a cron that is paused; `null` for one that doesn't fire. */
  readonly next: number | null;
  readonly paused: Pause | null;
  /** Every instant up to here has a run or a recorded reason why not. */
  readonly cursor: number | null;
  /** The newest run, skipped ones included. */
  readonly last: Run | null;
  /** The app that declares it, and the revision in force; `null` for a cron that was created at run time. */
  readonly app: string | null;
  /** `null` also for a declaration of a former release. */
  readonly revision: number | null;
  readonly tags: readonly string[];
  /** What it is for, whom to turn to, and where it says what to do when it fails; `null` where nothing is said. */
  readonly description: string | null;
  readonly owner: string | null;
  readonly runbookUrl: string | null;
  readonly droppedNotifications: CronRecord['droppedNotifications'];
}

export interface Seen {
  readonly record: CronRecord | undefined;
  readonly last: Run | null;
}

export function overviewOf(entry: CatalogEntry, { record, last }: Seen, now: number): CronOverview {
  const { definition, state, generation, since, app, revision } = entry;
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
    app,
    revision,
    tags: definition.tags ?? [],
    description: definition.description ?? null,
    owner: definition.owner ?? null,
    runbookUrl: definition.runbookUrl ?? null,
    droppedNotifications: record?.droppedNotifications ?? null,
  };
}

/** Over all generations: an accepted change may still be a moment away, and then the old schedule has its say first. */
export function nextInstant(entry: CatalogEntry, now: number): number | null {
  const generations = generationsOf(entry);
  for (const [index, generation] of generations.entries()) {
    const instant = nextOf(generation, generations[index + 1]?.since ?? Infinity, now);
    if (instant !== null) return instant;
  }
  return null;
}

function nextOf({ state, definition, since }: Generation, until: number, now: number): number | null {
  if (state !== 'active' || until <= now) return null;
  const schedule = readableScheduleOf(definition, since);
  const spreadMs = spreadOf(definition.name, schedule?.spreadOverMs ?? 0);
  const instant = schedule && schedule.next(Math.max(since, now - spreadMs));
  return instant !== null && instant <= until ? instant : null;
}
