import { candidates, firstOf, hashOf } from '@fencepost/jobs/internal/scheduling';

type Candidate = ReturnType<typeof candidates>[number];

/** Which pod each schedule is assigned to, for all of them. */
export class Placement {
  readonly #hashes: Uint32Array;
  /** The number of a pod, in the order in which they were born. */
  readonly owner: Int32Array;
  readonly #live = new Map<string, number>();

  constructor(
    readonly names: readonly string[],
    pods: readonly string[],
  ) {
    this.#hashes = Uint32Array.from(names, (name) => hashOf(name));
    this.owner = new Int32Array(names.length).fill(-1);
    this.change(pods, []);
  }

  get pods(): string[] {
    return [...this.#live.keys()];
  }

  /** @returns the schedules whose pod is another one now */
  change(joining: readonly string[], leaving: readonly string[]): number[] {
    const gone = new Set(leaving.flatMap((name) => this.#live.get(name) ?? []));
    for (const name of leaving) this.#live.delete(name);
    for (const name of joining) this.#live.set(name, numberOf(name));
    const all = candidates(this.#live.keys());
    const moved: number[] = [];
    const next = this.#fewer(all, joining);
    for (let n = 0; n < this.owner.length; n += 1) {
      const before = this.owner[n] ?? -1;
      const after = before < 0 || gone.has(before) ? firstOf(this.#hashes[n] ?? 0, all) : next(n, before);
      if (after === null || numberOf(after) === before) continue;
      this.owner[n] = numberOf(after);
      moved.push(n);
    }
    return moved;
  }

  /** A pod that stays loses a schedule to one that joins, and to no other. */
  #fewer(all: readonly Candidate[], joining: readonly string[]): (n: number, before: number) => string {
    const fresh = new Set(joining);
    const byNumber = new Map<number, Candidate[]>();
    for (const { pod } of all) {
      byNumber.set(
        numberOf(pod),
        all.filter((other) => other.pod === pod || fresh.has(other.pod)),
      );
    }
    return (n, before) => firstOf(this.#hashes[n] ?? 0, byNumber.get(before) ?? all) ?? '';
  }

  /** The most that a pod has, against the mean. */
  get imbalance(): number {
    const counts = new Map<number, number>();
    for (const pod of this.owner) counts.set(pod, (counts.get(pod) ?? 0) + 1);
    return (Math.max(...counts.values()) * this.#live.size) / this.owner.length;
  }
}

export function podName(number: number): string {
  return `scheduler-${String(number).padStart(4, '0')}`;
}

function numberOf(pod: string): number {
  return Number(pod.slice(pod.lastIndexOf('-') + 1));
}
