import { ownerPrefix } from '@fencepost/lease/internal';
import type { Holding } from '@fencepost/lease/store';
import type { CronRecord } from '@fencepost/ledger';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { Run } from '@fencepost/ledger/run';
import { isManual } from '@fencepost/schedule';
import { HEALTH_STATES, type CronHealth, type HealthFacts } from '../operating/health-of.js';

/** What a list of crons can be narrowed to: a health, or what a cron is whatever its health. */
export const CRON_STATES = [...HEALTH_STATES, 'active', 'unheld'] as const;

export interface CronFilter {
  readonly search?: string | undefined;
  readonly state?: (typeof CRON_STATES)[number] | undefined;
  readonly tag?: string | undefined;
  readonly holder?: string | undefined;
  /** Failing since before this instant, epoch milliseconds. */
  readonly failingSince?: number | undefined;
}

/** A cron as it was at the last look at all of them. */
export interface CronSnapshot {
  readonly entry: CatalogEntry;
  readonly record: CronRecord;
  readonly lease: Holding | null;
  readonly uncertain: HealthFacts['uncertain'];
}

/** Of the uncertain runs of a cron what its health goes by. */
export function uncertainOf(runs: readonly Run[]): HealthFacts['uncertain'] {
  const since = runs.map(({ unresolvedEffect, dueAt }) => unresolvedEffect?.since ?? dueAt);
  return { count: runs.length, since: runs.length === 0 ? null : Math.min(...since) };
}

type Judged = CronSnapshot & { readonly health: CronHealth };

/** Whether a cron is one of those that were asked for. */
export function fits(view: Judged, { search, state, tag, holder, failingSince = Infinity }: CronFilter): boolean {
  const { state: health, since } = view.health;
  if (failingSince !== Infinity && (health !== 'failing' || since === null || since > failingSince)) return false;
  if (tag !== undefined && !view.entry.definition.tags?.includes(tag)) return false;
  return isIn(view, state) && isNamed(view, search) && isHeldBy(view, holder);
}

export function isIn({ entry, record, lease, health }: Judged, state: CronFilter['state']): boolean {
  if (state === undefined) return true;
  // One that is paused and waits for a person as well is both.
  if (state === 'paused') return entry.state === 'active' && record.paused !== null;
  if (state === 'unheld') return lease === null && isDue({ entry, record });
  if (state === 'active' || state === 'disabled' || state === 'removed') return entry.state === state;
  return health.state === state;
}

/** Whether it comes to an instant by itself, so that somebody has to act for it. */
function isDue({ entry, record }: Pick<CronSnapshot, 'entry' | 'record'>): boolean {
  return entry.state === 'active' && record.paused === null && !isManual(entry.definition.expression);
}

function isNamed({ entry: { definition } }: Judged, search: string | undefined): boolean {
  if (search === undefined) return true;
  const part = search.trim().toLowerCase();
  const { name, expression, owner = '' } = definition;
  return [name, expression, owner].some((text) => text.toLowerCase().includes(part));
}

function isHeldBy({ lease }: Judged, holder: string | undefined): boolean {
  if (holder === undefined) return true;
  return lease !== null && ownerPrefix(lease.holder).toLowerCase().includes(holder.trim().toLowerCase());
}
