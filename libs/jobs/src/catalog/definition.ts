import { createHash } from 'node:crypto';
import type { OverlapPolicy } from '../ledger/run.js';
import type { DstRule } from '../schedule/schedule.js';

/** What to do with instants that nobody enqueued in time. */
export type MisfirePolicy = 'skip' | 'fire-once';

/** All that a scheduler pod has to know of a cron. Plain data: the handler stays with the workers. */
export interface CronDefinition {
  readonly name: string;
  readonly expression: string;
  readonly timeZone: string;
  readonly misfire: MisfirePolicy;
  readonly overlap: OverlapPolicy;
  /** Later than this after its instant, an occurrence counts as late. */
  readonly graceMs: number;
  /** How far back missed instants are still made up for; `null`: one period, at most 24 hours. */
  readonly catchUpWindowMs: number | null;
  /** What becomes of a fixed time where clocks change; absent for the default, `next-valid` and `first`. */
  readonly dst?: DstRule;
  /** Over how long crons of the same expression are spread; absent for not at all. */
  readonly spreadMs?: number;
  /** How close two instants may be at the least; absent for any distance. */
  readonly minIntervalMs?: number;
}

/** A definition as the catalog has it. */
export interface CatalogEntry {
  readonly definition: CronDefinition;
  /** Rises by one with each accepted change; a claim under a lower one is refused. */
  readonly generation: number;
  /** When this generation was accepted, epoch milliseconds of the store: nothing before it is missed. */
  readonly since: number;
}

/** A declared cron: its definition, or the wish that it doesn't fire. */
export interface Declaration {
  readonly definition: CronDefinition;
  readonly disabled: boolean;
}

/**
 * The content of a declaration in few characters: two builds with the same one mean the same.
 *
 * What is absent adds nothing, so that an option nobody uses changes no hash, and no build is in conflict over it.
 */
export function contentHash(declaration: Declaration): string {
  const { definition, disabled } = declaration;
  const content = [
    definition.name,
    definition.expression,
    definition.timeZone,
    definition.misfire,
    definition.overlap,
    definition.graceMs,
    definition.catchUpWindowMs,
    disabled,
    ...refinements(definition),
  ];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16);
}

function refinements({ dst, spreadMs, minIntervalMs }: CronDefinition): (readonly [string, ...unknown[]])[] {
  return [
    ...(dst ? [['dst', dst.gap, dst.repeat] as const] : []),
    ...(spreadMs === undefined ? [] : [['spread', spreadMs] as const]),
    ...(minIntervalMs === undefined ? [] : [['minInterval', minIntervalMs] as const]),
  ];
}
