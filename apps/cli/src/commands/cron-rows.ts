import { toned } from '../colour.js';
import type { Answers } from '../deployment/deployment.js';
import { shortIso } from '../report.js';
import { duration } from './run-lines.js';

export type Cron = Answers['CronSummary'];

export const CRON_HEAD = ['CRON', 'SCHEDULE', 'ZONE', 'STATE', 'NEXT (UTC)', 'LAST RUN'];
export const WIDE_HEAD = [...CRON_HEAD, 'TAGS', 'OWNER', 'P50', 'P95', 'DELAY P95', 'HOLDER', 'FENCE', 'GENERATION'];

export function cronRow(cron: Cron): string[] {
  const { name, expression, timeZone, next, last, health } = cron;
  const ran =
    last === null
      ? '-'
      : `${toned(last.state)}${last.skipped === null ? '' : ` (${last.skipped})`} ${shortIso(last.scheduledAt)}`;
  return [name, expression, timeZone, toned(health.text), next === null ? '-' : shortIso(next), ran];
}

function span(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '-' : duration(ms);
}

export function wideCronRow(cron: Cron): string[] {
  const { tags, owner, duration: took, startDelayP95Ms: delay, holder, fence, generation } = cron;
  const measured = [span(took?.p50Ms), span(took?.p95Ms), span(delay)];
  return [
    ...cronRow(cron),
    tags.join(', ') || '-',
    owner ?? '-',
    ...measured,
    holder ?? '-',
    fence ?? '-',
    `${generation}`,
  ];
}
