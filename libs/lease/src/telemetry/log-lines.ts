import type { LeaseEventName } from './lease-events.js';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** How loud an event is, and what it says in one sentence. */
type Line = readonly [level: LogLevel, sentence: string];

/**
 * Every event, or it doesn't compile. What an operator should look at is `warn`: somebody may have acted who had no right
 * to, or was kept from it.
 */
export const LOG_LINES: Readonly<Record<LeaseEventName, Line>> = {
  'lease.acquired': ['info', 'the lease is ours'],
  'lease.busy': ['debug', 'somebody else holds the lease'],
  'lease.acquire-failed': ['warn', 'the store could not be asked for the lease'],
  'lease.extended': ['debug', 'the lease was renewed'],
  'lease.extend-failed': ['warn', 'the lease could not be renewed; tried again until it has to be given up'],
  'lease.lost': ['warn', 'the lease is lost; the work it covered has to stop'],
  'lease.released': ['info', 'the lease was given back'],
  'lease.stale-release': ['warn', 'the lease was over before it was given back; somebody else may have acted'],
  'lease.release-failed': ['warn', 'the lease could not be given back; it ends by itself'],
  'lease.ttl-unfit': ['warn', 'the ttl does not fit how long the resource is held'],
  'fence.rejected': ['warn', 'a write was refused because of its fence'],
  'node.health': ['warn', 'a node of the quorum is left out for a while, or asked again'],
  'store.warning': ['warn', 'the store can not promise what is expected of it'],
};
