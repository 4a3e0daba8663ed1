/**
 * Rendezvous hashing (Thaler and Ravishankar, "A Name-Based Mapping Scheme for Rendezvous", 1996): each pair of a cron and a
 * pod has a score, and a cron is the share of the pod with its highest. A pod that joins takes only what it scores highest
 * for, one that goes leaves only what it had, and nobody has to agree on anything but who is there.
 */

/** 32 bits of a name: worked out once for each cron and each pod, and mixed for each pair. */
export function hashOf(name: string): number {
  // FNV-1a: short, and well spread over names that differ in a digit once `scoreOf` has mixed it.
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

export interface Candidate {
  readonly pod: string;
  readonly hash: number;
}

/** @param pods by name, so that everybody settles a tie in the same way */
export function candidates(pods: Iterable<string>): Candidate[] {
  return [...pods].toSorted((a, b) => (a < b ? -1 : 1)).map((pod) => ({ pod, hash: hashOf(pod) }));
}

/** Whose share a cron is; `null` when nobody is there. */
export function firstOf(cronHash: number, pods: readonly Candidate[]): string | null {
  let [best, first] = [-1, null as string | null];
  for (const { pod, hash } of pods) {
    const score = scoreOf(cronHash, hash);
    if (score > best) [best, first] = [score, pod];
  }
  return first;
}

/** The first and the second of them, as far as they are there. */
export function firstTwoOf(cronHash: number, pods: readonly Candidate[]): string[] {
  const first = firstOf(cronHash, pods);
  if (first === null) return [];
  const second = firstOf(
    cronHash,
    pods.filter(({ pod }) => pod !== first),
  );
  return second === null ? [first] : [first, second];
}

/** The finalizer of MurmurHash3 (Appleby, public domain) over both: one changed bit changes half of the score's. */
function scoreOf(cronHash: number, podHash: number): number {
  let mixed = Math.imul(cronHash ^ (cronHash >>> 15), 0x9e3779b1) ^ podHash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
