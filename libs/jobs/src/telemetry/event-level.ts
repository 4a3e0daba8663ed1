import { EVENT_TEXT } from './event-text.js';
import type { EventLevel, EventName, Events } from './events.js';

/** Merged instants within this span were late rather than missed: the default of `grace`. */
const BRIEF_MS = 60_000;

/**
 * Events whose level depends on their fields. An outcome that a policy or an operator asked for is routine, and may recur at every
 * instant of a cron.
 */
const BY_FIELDS: { readonly [N in EventName]?: (detail: Partial<Events[N]>) => EventLevel } = {
  'attempt.failed': ({ state }) => (state === 'failed' ? 'error' : 'warn'),
  'attempt.aborted': ({ cause = '' }) => (cause.startsWith('RunCancelledError: ') ? 'info' : 'warn'),
  'occurrence.skipped': ({ reason }) => (reason === 'paused' ? 'info' : 'warn'),
  'cron.standstill': ({ cause }) => (cause === 'paused' ? 'info' : 'warn'),
  'occurrence.passed': ({ reason, after = 0, through = 0 }) =>
    reason === 'merged' && through - after <= BRIEF_MS ? 'info' : 'warn',
};

/** The level of one event: that of {@link EVENT_TEXT}, unless its fields decide. */
export function eventLevel(event: EventName, detail: object): EventLevel {
  const decide: ((detail: never) => EventLevel) | undefined = BY_FIELDS[event];
  return decide ? decide(detail as never) : EVENT_TEXT[event][0];
}
