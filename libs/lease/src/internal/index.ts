/** Not public API: what the other packages of Fencepost share, which may change in any release. */

export { sleep } from '../base/clock.js';
export type { CancelTimer } from '../base/clock.js';
export { LeaseKeeper } from '../holding/lease-keeper.js';
export { mustStop, trustedUntil } from '../store/grant.js';
export { ownerPrefix, processIdentity, hashResource, shortNonce } from '../base/identity.js';
export { scrub, scrubText, isSuspicious, withoutQuery } from '../telemetry/scrub.js';
export { observers } from '../telemetry/lease-events.js';
export { MicroBatcher } from '../base/micro-batcher.js';
