import { durationText } from '../../time/instants.js';
import type { BackfillReport, CronDetail } from '../../data/types.js';
import { WORDS } from '../../words.js';

const { actions: words } = WORDS.cron;

type Cron = Pick<CronDetail, 'cursor' | 'state'>;

/** What a backfill did or would do, and why nothing is made up for of what is ahead. */
export function backfillText({ instants, accepted, left, estimateMs }: BackfillReport, cron: Cron): string {
  const others = Object.entries(left).map(([why, count]) => `${count} ${why}`);
  const sentences = [
    words.backfilled(accepted, instants, others.join(', ')),
    estimateMs ? words.estimate(durationText(estimateMs)) : '',
    left.ahead === undefined ? '' : aheadText(cron),
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

/** Ahead is all that the cron has not come to. For one that has never come to any, that is its whole past as well. */
function aheadText({ cursor, state }: Cron): string {
  if (state !== 'active') return words.aheadInactive;
  return cursor === null ? words.aheadUnfired : words.ahead;
}
