import type { CatalogEntry, CronDefinition, Declaration } from '@fencepost/ledger/catalog';
import { EVERY, isEvery, parseSchedule } from '@fencepost/schedule';
import type { CronSettings, NamedCron } from './cron-settings.js';

/** Names of the parts of its definition that would be others; `disabled` is one of them. */
export function differingParts(entry: Pick<CatalogEntry, 'definition' | 'state'>, declared: Declaration): string[] {
  const [was, is] = [flat(entry.definition, entry.state !== 'active'), flat(declared.definition, declared.disabled)];
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  return names.filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]));
}

function flat(definition: CronDefinition, disabled: boolean): Record<string, unknown> {
  return { ...definition, disabled };
}

/** What a schedule has in `[from, to)`. */
export function instantsOf(definition: CronDefinition, from: number, to: number): Iterable<number> {
  return parseSchedule({ ...definition, seed: definition.name }, from).between(from, to);
}

/** What is called otherwise in a definition than in the options that it is made of. */
const DURATIONS: Readonly<Record<string, keyof CronSettings>> = {
  ...{ graceMs: 'grace', catchUpWindowMs: 'catchUpWindow', spreadMs: 'spread', minIntervalMs: 'minInterval' },
  ...{ startDeadlineMs: 'startDeadline', cancelGraceMs: 'cancelGrace', expectEveryMs: 'expectEvery' },
  lateAfterMs: 'lateAfter',
};

/** The options that make a cron as it is. */
export function settingsOf({ definition, state }: Pick<CatalogEntry, 'definition' | 'state'>): CronSettings {
  const { name: _, expression, timeZone, ...others } = definition;
  const options = Object.entries(others).filter(([, value]) => value !== null && value !== undefined);
  const named = Object.fromEntries(options.map(([key, value]) => [DURATIONS[key] ?? key, value]));
  const when = isEvery(expression) ? { every: expression.slice(EVERY.length).trim() } : { expression, timeZone };
  return { ...named, ...when, ...(state === 'disabled' && { disabled: true }) };
}

/** As `setMany` takes it; `null` for one that is removed, or has not the tag. */
export function exportedCron(entry: CatalogEntry, tag: string | undefined): NamedCron | null {
  const { name, tags } = entry.definition;
  if (entry.state === 'removed' || (tag !== undefined && !tags?.includes(tag))) return null;
  return { name, ...settingsOf(entry) };
}

/** Instants that only one of two has: how many, and the first of them. */
export interface Only {
  readonly count: number;
  /** At most {@link SHOWN}, epoch milliseconds. */
  readonly first: readonly number[];
}

export interface InstantDifference {
  /** Fire today, and would not any more. */
  readonly gone: Only;
  /** Would fire, and don't today. */
  readonly added: Only;
}

const SHOWN = 20;

/** Walks through two rising rows of instants once. */
export function instantDifference(live: Iterable<number>, declared: Iterable<number>): InstantDifference {
  const [left, right] = [live[Symbol.iterator](), declared[Symbol.iterator]()];
  const [gone, added] = [new Collected(), new Collected()];
  let [a, b] = [pull(left), pull(right)];
  while (a !== Infinity || b !== Infinity) {
    if (a < b) gone.add(a);
    if (b < a) added.add(b);
    const least = Math.min(a, b);
    if (a === least) a = pull(left);
    if (b === least) b = pull(right);
  }
  return { gone, added };
}

class Collected implements Only {
  count = 0;
  readonly first: number[] = [];

  add(at: number): void {
    this.count += 1;
    if (this.count <= SHOWN) this.first.push(at);
  }
}

function pull(instants: Iterator<number>): number {
  const { done, value } = instants.next();
  return done === true ? Infinity : value;
}
