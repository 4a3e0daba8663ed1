import { toned } from '../colour.js';
import type { Answers } from '../deployment/deployment.js';
import { shortIso } from '../report.js';
import { duration } from './run-lines.js';

export type Cron = Answers['CronSummary'];

export const CRON_HEAD = ['CRON', 'SCHEDULE', 'ZONE', 'STATE', 'NEXT (UTC)', 'LAST RUN'];
export const WIDE_HEAD = [...CRON_HEAD, 'TAGS', 'P50', 'P95', 'DELAY P95', 'HOLDER', 'FENCE', 'GENERATION'];

/** From the worst on. */
export const STATES = [
  ...['uncertain', 'failing', 'missed', 'late', 'no-worker', 'never-succeeded', 'unknown', 'paused'],
  ...['disabled', 'removed', 'healthy', 'active'],
];

/** What a person has to know of it first; while its history is not read, what its last run says. */
export function stateOf({ state, paused, uncertain, last, health }: Cron): string {
  if (health.state !== 'unknown') return health.state;
  if (uncertain > 0) return 'uncertain';
  if (state !== 'active') return state;
  if (last?.state === 'failed') return 'failing';
  return paused ? 'paused' : state;
}

export interface CronQuery {
  readonly state?: string;
  readonly failing?: boolean;
  readonly tag?: string;
  readonly search?: string;
  readonly sort: keyof typeof SORTS;
}

const byName = (a: Cron, b: Cron) => (a.name < b.name ? -1 : 1);
const byNumber = (of: (cron: Cron) => number | null | undefined, order: 1 | -1) => (a: Cron, b: Cron) =>
  order * ((of(a) ?? order * Infinity) - (of(b) ?? order * Infinity)) || byName(a, b);
export const byAttention = byNumber((cron) => STATES.indexOf(stateOf(cron)), 1);

export const SORTS = {
  name: byName,
  attention: byAttention,
  next: byNumber(({ next }) => (next === null ? null : Date.parse(next)), 1),
  duration: byNumber((cron) => cron.duration?.p95Ms, -1),
  delay: byNumber(({ startDelayP95Ms }) => startDelayP95Ms, -1),
} as const;

/** Those that fit, in the order that was asked for. */
export function fitting(crons: readonly Cron[], { state, failing, tag, search = '', sort }: CronQuery): Cron[] {
  const part = search.trim().toLowerCase();
  const isIn = (cron: Cron, wanted: string) => stateOf(cron) === wanted || cron.state === wanted;
  return crons
    .filter((cron) => (state === undefined || isIn(cron, state)) && (!failing || stateOf(cron) === 'failing'))
    .filter(({ tags }) => tag === undefined || tags.includes(tag))
    .filter(({ name, expression }) => [name, expression].some((text) => text.toLowerCase().includes(part)))
    .toSorted(SORTS[sort]);
}

export function cronRow(cron: Cron): string[] {
  const { name, expression, timeZone, next, last, health } = cron;
  const ran =
    last === null
      ? '-'
      : `${toned(last.state)}${last.skipped === null ? '' : ` (${last.skipped})`} ${shortIso(last.scheduledAt)}`;
  const state = health.state !== 'unknown' ? health.text : stateOf(cron);
  return [name, expression, timeZone, toned(state), next === null ? '-' : shortIso(next), ran];
}

function span(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '-' : duration(ms);
}

export function wideCronRow(cron: Cron): string[] {
  const { tags, duration: took, startDelayP95Ms: delay, holder, fence, generation } = cron;
  const measured = [span(took?.p50Ms), span(took?.p95Ms), span(delay)];
  return [...cronRow(cron), tags.join(', ') || '-', ...measured, holder ?? '-', fence ?? '-', `${generation}`];
}
