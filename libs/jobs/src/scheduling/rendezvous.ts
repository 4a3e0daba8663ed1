/**
 * Rendezvous hashing (Thaler and Ravishankar, "A Name-Based Mapping Scheme for Rendezvous", 1996): each pair of a cron and a
 * pod has a score, and a cron is assigned to the pod with the highest. A pod that joins takes only crons for which it scores
 * highest, a pod that leaves moves only its own crons, and the pods need to agree on nothing but the members.
 */

/** A 32-bit hash of a name: computed once per cron and pod, and mixed for each pair. */
export function hashOf(name: string): number {
  // FNV-1a: short; after the mixing in `scoreOf`, names that differ in one digit are well spread.
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

/** @param pods sorted by name, so that all pods break ties in the same way */
export function candidates(pods: Iterable<string>): Candidate[] {
  return [...pods].toSorted((a, b) => (a < b ? -1 : 1)).map((pod) => ({ pod, hash: hashOf(pod) }));
}

/** The pod to which a cron is assigned; `null` without members. */
export function firstOf(cronHash: number, pods: readonly Candidate[]): string | null {
  let [best, first] = [-1, null as string | null];
  for (const { pod, hash } of pods) {
    const score = scoreOf(cronHash, hash);
    if (score > best) [best, first] = [score, pod];
  }
  return first;
}

/** The pods with the highest and the second highest score, if there are that many. */
export function firstTwoOf(cronHash: number, pods: readonly Candidate[]): string[] {
  const first = firstOf(cronHash, pods);
  if (first === null) return [];
  const second = firstOf(
    cronHash,
    pods.filter(({ pod }) => pod !== first),
  );
  return second === null ? [first] : [first, second];
}

/** The finalizer of MurmurHash3 (Appleby, public domain) over both: one changed input bit flips half of the score. */
function scoreOf(cronHash: number, podHash: number): number {
  let mixed = Math.imul(cronHash ^ (cronHash >>> 15), 0x9e3779b1) ^ podHash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
