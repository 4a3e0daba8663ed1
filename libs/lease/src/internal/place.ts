/** Not public API: lease stores by their address, for scheduler pods and the command line. */

export { openLeaseStore } from '../place/lease-address.js';
export type { OpenLeaseStore, OwnedLeaseStore } from '../place/lease-address.js';
