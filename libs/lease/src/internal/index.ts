/** Not public API: what the other packages of Fencepost share, which may change in any release. */

export { sleep } from '../clock.js';
export type { CancelTimer } from '../clock.js';
export { LeaseKeeper } from '../holding/lease-keeper.js';
export { mustStop, trustedUntil } from '../holding/lease.js';
export { ownerPrefix, processIdentity, hashResource } from '../identity.js';
export { scrub } from '../telemetry/scrub.js';
export { scrubText, isSuspicious } from '../telemetry/scrub-text.js';
export { observers } from '../telemetry/lease-events.js';
