import { parseSchedule } from '@fencepost/schedule';
import { generationsOf } from '@fencepost/jobs/internal';
import type { Generation } from '@fencepost/ledger/catalog';
import { utc } from './why-words.js';
import type { InstantFacts } from './why.js';

/**
 * Who changed the schedule, where the definition before the one in force has the instant in question, or the one after it;
 * `null`: neither has.
 */
export function changeText({ entry, context }: Pick<InstantFacts, 'entry' | 'context'>): string | null {
  const inForce = context.interval?.generation;
  const all = generationsOf(entry);
  const index = all.findIndex(({ generation }) => generation === inForce?.generation);
  if (!inForce || index === -1) return null;
  const [before, after] = [all[index - 1], all[index + 1]];
  if (hasInstant(before, context.at)) return changed(before, inForce);
  return hasInstant(after, context.at) ? `it had no instant there until ${changed(inForce, after)}` : null;
}

function hasInstant(generation: Generation | undefined, at: number): generation is Generation {
  if (generation?.state !== 'active') return false;
  const { definition } = generation;
  return parseSchedule({ ...definition, seed: definition.name }, generation.since).next(at - 1) === at;
}

function changed(from: Generation, { by, reason, since, definition }: Generation): string {
  const why = reason === null ? '' : ` (${reason})`;
  return `${by} changed its schedule from ${shown(from.definition)} to ${shown(definition)} at ${utc(since)}${why}`;
}

function shown({ expression, timeZone }: Generation['definition']): string {
  return `"${expression}" in ${timeZone}`;
}
