import { durationText } from '../../time/instants.js';
import type { BackfillReport, CronDetail } from '../../data/types.js';

type Cron = Pick<CronDetail, 'cursor' | 'state'>;

/** What a backfill did or would do, and why nothing is made up for of what is ahead. */
export function backfillText({ instants, accepted, left, estimateMs }: BackfillReport, cron: Cron): string {
  const others = Object.entries(left).map(([why, count]) => `${count} ${why}`);
  const alone = others.length === 0 ? '' : `; not repeated: ${others.join(', ')}`;
  const done = `${accepted} of ${instants} instants run${alone}.${estimateText(estimateMs)}`;
  return left.ahead === undefined ? done : `${done} ${aheadText(cron)}`;
}

function estimateText(ms: number | null): string {
  return ms === null || ms === 0 ? '' : ` Estimated from earlier runs: about ${durationText(ms)}.`;
}

/** Ahead is all that the cron has not come to. For one that has never come to any, that is its whole past as well. */
function aheadText({ cursor, state }: Cron): string {
  if (state !== 'active') {
    return `Later instants are left to the schedule, should the cron fire again.`;
  }
  return cursor === null
    ? 'The cron has not fired yet: instants after its creation are left to the schedule.'
    : 'Later instants are left to the schedule.';
}
