import { MEMBER_GONE_MS, type LowestFormat, type Member, type ProcessKind } from './membership.js';

/** A process, and when it was heard: epoch milliseconds of the store. */
export interface HeardProcess {
  readonly kind: ProcessKind;
  readonly format: number;
  /** Default 1. */
  readonly weight?: number;
  readonly at: number;
}

/** The live processes, as far as they have been read. Pure: the caller passes the time. */
export class HeardProcesses {
  readonly #heard = new Map<string, HeardProcess>();

  /** A time still to come, from before a clock went back, counts as now: a dead process would live until the clock has caught up. */
  note(process: string, heard: HeardProcess, now: number): void {
    this.#heard.set(process, { ...heard, at: Math.min(heard.at, now) });
  }

  leave(process: string): void {
    this.#heard.delete(process);
  }

  clear(): void {
    this.#heard.clear();
  }

  /** The scheduler pods, sorted by name. */
  members(now: number): Member[] {
    this.#forget(now);
    const pods = [...this.#heard].filter(([, { kind }]) => kind === 'pod');
    return pods
      .map(([pod, { at, weight = 1 }]) => ({
        pod,
        sinceHeardMs: Math.max(0, now - at),
        ...(weight !== 1 && { weight }),
      }))
      .toSorted((a, b) => (a.pod < b.pod ? -1 : 1));
  }

  lowest(now: number): LowestFormat | null {
    this.#forget(now);
    const [lowest] = [...this.#heard].toSorted(([, a], [, b]) => a.format - b.format);
    return lowest ? { process: lowest[0], format: lowest[1].format } : null;
  }

  #forget(now: number): void {
    for (const [process, { at }] of this.#heard) if (at <= now - MEMBER_GONE_MS) this.#heard.delete(process);
  }
}
