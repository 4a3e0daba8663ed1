import type { Answers } from '@fencepost/client';
import type { CRON_SORTS, CRON_STATES } from '../jobs.js';

export interface CronQuery {
  readonly search?: string;
  readonly state?: (typeof CRON_STATES)[number];
  readonly tag?: string;
  readonly sort: (typeof CRON_SORTS)[number];
  readonly limit: number;
  /** `next` of the crons before. */
  readonly cursor?: string;
}

export interface FoundCrons extends Pick<Answers['CronPage'], 'total' | 'items' | 'next' | 'unreadable'> {
  /** Crons that are shown without their state, belong elsewhere, or are left out: their history has not been read yet. */
  readonly unread: number;
}

export interface Attention extends Pick<Answers['Overview'], 'prefix' | 'tenant'> {
  readonly crons: readonly Answers['CronSummary'][];
  readonly counts: Answers['Overview']['crons'];
  readonly triage: Pick<Answers['Triage'], 'items' | 'unread'>;
}

const STATES_WITHOUT = new Set<CronQuery['state']>([
  ...(['active', 'unheld', 'paused', 'disabled', 'removed', 'uncertain', 'unknown'] as const),
  undefined,
]);
const SORTS_WITHOUT = new Set<CronQuery['sort']>(['name', 'next']);

/** Whether it depends on the newest runs of every cron which of them are shown. */
export function needsHistories({ state, sort }: Pick<CronQuery, 'state' | 'sort'>): boolean {
  return !STATES_WITHOUT.has(state) || !SORTS_WITHOUT.has(sort);
}
