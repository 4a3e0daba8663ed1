/** The types of an implementation of `LeaseStore`. */

export type {
  AcquireReply,
  AcquireRequest,
  Holding,
  HoldingsPage,
  ListedHolding,
  StopWatching,
} from './lease-store.js';
export type { Term } from './grant.js';
export { ALL_RELEASED } from './lease-sessions.js';
