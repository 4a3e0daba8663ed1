import type { CatalogEntry, Generation } from '@fencepost/ledger/catalog';
import { OperatorInputError } from '@fencepost/ledger';
import { generationsOf } from '@fencepost/jobs/internal';
import { scheduleOf } from './scheduled.js';

/** An instant to make up for, and the generation whose it is. */
export interface BackfillInstant {
  readonly scheduledAt: number;
  readonly generation: Generation;
}

/** More than this is asked for by mistake, or better asked for in parts. */
const MAX_INSTANTS = 100_000;

/**
 * The instants in `[from, to)`, epoch milliseconds, in order: those of each generation while it fired. For the time before
 * the oldest one, the schedule that it has counts: a new cron is backfilled as if it had been there before.
 * @throws {OperatorInputError} for more than {@link MAX_INSTANTS}
 */
export function planBackfill(entry: CatalogEntry, from: number, to: number): BackfillInstant[] {
  const instants: BackfillInstant[] = [];
  for (const scheduled of instantsOf(entry, from, to)) {
    if (instants.length === MAX_INSTANTS) throw tooMany(entry.definition.name, scheduled.scheduledAt);
    instants.push(scheduled);
  }
  return instants;
}

function tooMany(cron: string, end: number): OperatorInputError {
  return new OperatorInputError(
    `Expected at most ${MAX_INSTANTS} instants of the cron "${cron}" in one backfill, got more: start with the range before ` +
      `${new Date(end).toISOString()}.`,
  );
}

function* instantsOf(entry: CatalogEntry, from: number, to: number): Generator<BackfillInstant, void, undefined> {
  const generations = generationsOf(entry);
  for (const [index, generation] of generations.entries()) {
    const { definition, since } = generation;
    const until = endOf(generation, { first: index === 0, until: generations[index + 1]?.since ?? Infinity });
    const begins = index === 0 ? from : Math.max(from, since + 1);
    const instants = scheduleOf(definition, since).between(begins, Math.min(to, until + 1));
    for (const scheduledAt of instants) yield { scheduledAt, generation };
  }
}

/** The last instant that may be the generation's: one at a change is still the older one's. */
function endOf({ state, since }: Generation, { first, until }: { first: boolean; until: number }): number {
  if (state === 'active') return until;
  return first ? since : -Infinity;
}
