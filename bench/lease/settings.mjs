/** The same for everybody who is measured. */
export const TTL_MS = 10_000;
/** Shorter, because a node of a quorum has to be up for as long before it votes. */
export const QUORUM_TTL_MS = 2_000;
export const NODES = 5;
/** What a round trip to each of them costs between the zones of one region, where the nodes of a quorum belong. */
export const DELAYS_MS = [1, 1.5, 2, 2.5, 3];
export const CONTENDERS = 100;
export const BATCH = 1_000;
/** Who needs longer for one acquire has hung, as far as this is concerned. */
export const PATIENCE_MS = 5_000;
