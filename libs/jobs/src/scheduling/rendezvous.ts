/**
 * Rendezvous hashing (Thaler and Ravishankar, "A Name-Based Mapping Scheme for Rendezvous", 1996): each pair of a cron and a
 * pod has a score, and a cron is assigned to the pod with the highest. A pod that joins takes only crons for which it scores
 * highest, a pod that leaves moves only its own crons, and the pods need to agree on nothing but the members.
 *
 * A pod that is behind announces a smaller weight and gets a smaller share (Schindelhauer and Schomaker, "Weighted Distributed
 * Hash Tables", 2005). For u uniform in (0, 1), the score -weight / ln u orders the pods as u ** (1 / weight) does, which needs
 * no logarithm. A weight that goes down moves only crons of its pod.
 *
 * Chance alone gives the fullest of 50 pods 1.75 times the mean of 20 crons each. Few crons are therefore bound (after Mirrokni,
 * Thorup and Zadimoghaddam, "Consistent Hashing with Bounded Loads", 2016): a cron goes to the pod with the highest score among
 * those that have capacity, and each has capacity for a fifth more than its share. Pods that see the same crons and members
 * agree, because all take the crons in the same order. For a moment they may not: a cron is then handed over once more.
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
  /** Signed: a small integer of the engine, which makes the computation of a million scores three times as fast. */
  readonly hash: number;
  /** Its share relative to the others'; 1 for the largest. */
  readonly weight: number;
}

/** @param pods sorted by name, so that all pods break ties in the same way */
export function candidates(pods: Iterable<string>, weights: ReadonlyMap<string, number> = new Map()): Candidate[] {
  const sorted = [...pods].toSorted((a, b) => (a < b ? -1 : 1));
  const largest = sorted.reduce((most, pod) => Math.max(most, weights.get(pod) ?? 1), 0);
  return sorted.map((pod) => ({ pod, hash: hashOf(pod) | 0, weight: (weights.get(pod) ?? 1) / largest }));
}

/** The pod to which a cron is assigned unless it is bound; `null` without members. */
export function firstOf(cronHash: number, pods: readonly Candidate[]): string | null {
  return pods[firstIndex(cronHash, pods)]?.pod ?? null;
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

/** With so many crons for each pod, the fullest of 50 pods has at most a fifth more than the mean by chance. */
const CHANCE_SUFFICES = 200;

/** Scores to compute whenever a cron is added or removed: a few milliseconds. */
const MAX_SCORES = 500_000;

/** Whether so many crons are bound, by the same rule on all pods. */
export function isBound(crons: number, pods: number): boolean {
  return crons < CHANCE_SUFFICES * pods && crons * pods <= MAX_SCORES;
}

/** How much more than its share a pod gets. */
const BOUND = 1.2;

export interface Hashed {
  readonly name: string;
  readonly hash: number;
}

/** The pod of each cron by its name, where crons are bound; empty without members. */
export function assignBound(crons: readonly Hashed[], pods: readonly Candidate[]): Map<string, string> {
  const sum = pods.reduce((all, { weight }) => all + weight, 0);
  const capacity = Int32Array.from(pods, ({ weight }) => Math.ceil((BOUND * crons.length * weight) / sum));
  const assigned = new Map<string, string>();
  for (const { name, hash } of crons.toSorted(inOrder)) {
    const first = firstIndex(hash, pods, capacity);
    const pod = pods[first]?.pod;
    if (pod === undefined) break;
    capacity[first] = (capacity[first] ?? 0) - 1;
    assigned.set(name, pod);
  }
  return assigned;
}

/** The name decides between equal hashes: pods that took the two in different orders would never agree. */
function inOrder(a: Hashed, b: Hashed): number {
  return a.hash - b.hash || (a.name < b.name ? -1 : 1);
}

function firstIndex(cronHash: number, pods: readonly Candidate[], capacity?: Int32Array): number {
  let best = -1;
  let first = -1;
  for (let n = 0; n < pods.length; n += 1) {
    if (capacity?.[n] === 0) continue;
    const score = scoreOf(cronHash, pods[n] as Candidate);
    if (score > best) [best, first] = [score, n];
  }
  return first;
}

/** Scores are in `[0, RANGE)`. */
const RANGE = 2 ** 32;

function scoreOf(cronHash: number, { hash, weight }: Candidate): number {
  const uniform = mix(cronHash, hash);
  return weight === 1 ? uniform : RANGE * ((uniform + 0.5) / RANGE) ** (1 / weight);
}

/** The finalizer of MurmurHash3 (Appleby, public domain) over both: one changed input bit flips half of the result. */
function mix(cronHash: number, podHash: number): number {
  let mixed = Math.imul(cronHash ^ (cronHash >>> 15), 0x9e3779b1) ^ podHash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
