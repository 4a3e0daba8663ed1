import { openBare, openBareGet, openBareQuorum } from './bare-redis.mjs';
import { nodeOf } from './node-of.mjs';
import { openFencepost, openQuorum, openStore } from './fencepost.mjs';
import { openRedlock4, openRedlock5, openRedlockUniversal } from './peers.mjs';
import { openRawSocket } from './raw-socket.mjs';

/**
 * Everybody who is measured, by the name that the report shows. Each opens what it needs on the servers it is told and has
 * `tryOnce(who, resource)`, which resolves to what is held or to null, and `release(held)`; or `manyHeld(resources)`, which
 * resolves to a function that renews all of them.
 */
export const contenders = {
  Leases: openFencepost,
  RedisLeaseStore: openStore,
  'Leases on a quorum': openQuorum,
  bare: openBare,
  'bare, GET': openBareGet,
  'bare majority': openBareQuorum,
  'raw socket': openRawSocket,
  'redlock 4.2': openRedlock4,
  'redlock 5 beta': openRedlock5,
  'redlock-universal': openRedlockUniversal,
};

/** What the package asks for. */
const NODE_OF_UNIVERSAL = 22;

/**
 * What a contender runs on.
 * @param {{ mayFetch: boolean }} how
 * @returns the path of a Node.js, or nothing where there is none for it
 */
export function programOf(name, { mayFetch }) {
  return nodeOf(name === 'redlock-universal' ? NODE_OF_UNIVERSAL : 0, { mayFetch });
}

/** Why somebody can't take part here, or nothing. */
export function excuseOf(name, how) {
  return programOf(name, how) ? undefined : `skipped: needs node ${NODE_OF_UNIVERSAL}, and it could not be fetched`;
}
