import { toned } from '../colour.js';
import type { Answers } from '../deployment/deployment.js';
import { shortIso } from '../report.js';

type Cron = Answers['CronSummary'];

export const CRON_HEAD = ['CRON', 'SCHEDULE', 'ZONE', 'STATE', 'NEXT (UTC)', 'LAST RUN'];
export const WIDE_HEAD = [...CRON_HEAD, 'HOLDER', 'FENCE', 'GENERATION', 'SOURCE'];

/** What a person has to know of it first. */
export function stateOf({ state, paused, uncertain, last }: Cron): string {
  if (uncertain > 0) return 'uncertain';
  if (state !== 'active') return state;
  if (last?.state === 'failed') return 'failing';
  return paused ? 'paused' : state;
}

const WORST_FIRST = ['uncertain', 'failing', 'paused', 'disabled', 'removed', 'active'];

export function byAttention(a: Cron, b: Cron): number {
  const rank = (cron: Cron) => WORST_FIRST.indexOf(stateOf(cron));
  return rank(a) - rank(b) || (a.name < b.name ? -1 : 1);
}

export function cronRow(cron: Cron): string[] {
  const { name, expression, timeZone, next, last } = cron;
  const ran =
    last === null
      ? '-'
      : `${toned(last.state)}${last.skipped === null ? '' : ` (${last.skipped})`} ${shortIso(last.scheduledAt)}`;
  return [name, expression, timeZone, toned(stateOf(cron)), next === null ? '-' : shortIso(next), ran];
}

export function wideCronRow(cron: Cron): string[] {
  return [...cronRow(cron), cron.holder ?? '-', cron.fence ?? '-', `${cron.generation}`, cron.source ?? '-'];
}
