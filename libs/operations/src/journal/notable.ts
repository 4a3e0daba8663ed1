import { EVENT_TEXT } from '@fencepost/jobs/internal';
import type { EventName } from '@fencepost/jobs';

const EVENT_FAMILIES = ['lease.', 'pods.', 'catalog.', 'alarm.', 'journal.'];

/** A store that is down makes every pod emit these many times a second, and they are not about a cron. */
const OF_STORES: ReadonlySet<EventName> = new Set(['store.failed', 'queue.failed']);

/**
 * Whether the event helps to answer "why did it not run?" later: every warning, lease changes and declarations. Events of
 * healthy runs do not: the ledger records these.
 */
export function isNotable(event: EventName): boolean {
  return NOTABLE.has(event);
}

const NOTABLE: ReadonlySet<EventName> = new Set(
  (Object.keys(EVENT_TEXT) as EventName[]).filter((event) => {
    const [level] = EVENT_TEXT[event];
    if (level === 'debug' || OF_STORES.has(event)) return false;
    return level !== 'info' || EVENT_FAMILIES.some((family) => event.startsWith(family));
  }),
);
