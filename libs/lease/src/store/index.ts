/** What an implementation of `LeaseStore` takes and answers. */

export type { AcquireReply, AcquireRequest, Holding, StopWatching } from './lease-store.js';
export type { Term } from './grant.js';
