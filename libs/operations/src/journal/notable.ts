import { EVENT_TEXT } from '@fencepost/jobs/internal';
import type { EventName } from '@fencepost/jobs';

const EVENT_FAMILIES = ['lease.', 'pods.', 'catalog.', 'alarm.', 'journal.'];

/** What a dead store makes every pod say many times a second; and it is about the store, not about a cron. */
const isTrouble = (event: EventName) => event.endsWith('.trouble');

/**
 * Whether somebody who asks later "why did it not run?" may need it: every warning, who held what, and what was declared.
 * What each healthy run says of itself is not: the ledger has it.
 */
export function isNotable(event: EventName): boolean {
  return NOTABLE.has(event);
}

const NOTABLE: ReadonlySet<EventName> = new Set(
  (Object.keys(EVENT_TEXT) as EventName[]).filter((event) => {
    const [level] = EVENT_TEXT[event];
    if (level === 'debug' || isTrouble(event)) return false;
    return level !== 'info' || EVENT_FAMILIES.some((family) => event.startsWith(family));
  }),
);
