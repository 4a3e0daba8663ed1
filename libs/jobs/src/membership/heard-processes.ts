import {
  ALONE_AFTER_MS,
  MEMBER_GONE_MS,
  type LiveProcess,
  type LowestFormat,
  type Member,
  type ProcessKind,
} from './membership.js';

/** A sign of life of a process, and when it was sent: epoch milliseconds of the store. */
export interface HeardProcess {
  readonly kind: ProcessKind;
  readonly format: number;
  /** Default 1. */
  readonly weight?: number;
  readonly at: number;
}

/** A process of both roles is heard as a pod and as another process, each for itself. */
interface KnownProcess {
  readonly format: number;
  readonly weight: number;
  readonly heardAs: Readonly<Partial<Record<ProcessKind, number>>>;
}

/** A sign of life, whoever sent it. */
interface Sign {
  readonly process: string;
  readonly at: number;
}

/** When a process last had company. Pure: the caller passes the time. */
export class Company {
  #last: Sign | null = null;
  /** The last sign of another process than the one that sent `#last`. */
  #other: Sign | null = null;

  /** With the first sign, whoever sends it, others may just have been silent. */
  note(process: string, at: number): void {
    if (this.#last?.process !== process) this.#other = this.#last ?? { process: '', at };
    this.#last = { process, at };
  }

  clear(): void {
    this.#last = this.#other = null;
  }

  /** Whether another process than this one was heard since then. */
  hasOther(process: string, since: number): boolean {
    const other = this.#last?.process === process ? this.#other : this.#last;
    return other === null || other.at > since;
  }
}

/** The live processes, as far as they have been read. Pure: the caller passes the time. */
export class HeardProcesses {
  readonly #heard = new Map<string, KnownProcess>();
  readonly #company = new Company();

  /** A time still to come, from before a clock went back, counts as now: a dead process would live until the clock has caught up. */
  note(process: string, { kind, format, weight = 1, at }: HeardProcess, now: number): void {
    this.#company.note(process, Math.min(at, now));
    const before = this.#heard.get(process);
    this.#heard.set(process, {
      format,
      weight: kind === 'pod' ? weight : (before?.weight ?? 1),
      heardAs: { ...before?.heardAs, [kind]: Math.min(at, now) },
    });
  }

  leave(process: string): void {
    this.#heard.delete(process);
  }

  clear(): void {
    this.#company.clear();
    this.#heard.clear();
  }

  /** The scheduler pods, sorted by name. */
  members(now: number): Member[] {
    this.#forget(now);
    return [...this.#heard]
      .flatMap(([pod, { heardAs, weight }]) => {
        if (!isLive(heardAs.pod, now)) return [];
        return [{ pod, sinceHeardMs: Math.max(0, now - heardAs.pod), ...(weight !== 1 && { weight }) }];
      })
      .toSorted((a, b) => (a.pod < b.pod ? -1 : 1));
  }

  /** All of them, sorted by name. */
  processes(now: number): LiveProcess[] {
    this.#forget(now);
    return [...this.#heard]
      .map(([process, { heardAs }]) => ({
        process,
        isScheduler: isLive(heardAs.pod, now),
        sinceHeardMs: Math.max(0, now - lastOf(heardAs)),
      }))
      .toSorted((a, b) => (a.process < b.process ? -1 : 1));
  }

  /** Whether no other process than this one was heard for {@link ALONE_AFTER_MS}. */
  isAlone(process: string, now: number): boolean {
    return !this.#company.hasOther(process, now - ALONE_AFTER_MS);
  }

  lowest(now: number): LowestFormat | null {
    this.#forget(now);
    const [lowest] = [...this.#heard].toSorted(([, a], [, b]) => a.format - b.format);
    return lowest ? { process: lowest[0], format: lowest[1].format } : null;
  }

  #forget(now: number): void {
    for (const [process, { heardAs }] of this.#heard) {
      if (!isLive(lastOf(heardAs), now)) this.#heard.delete(process);
    }
  }
}

function lastOf({ pod = -Infinity, process = -Infinity }: KnownProcess['heardAs']): number {
  return Math.max(pod, process);
}

function isLive(at: number | undefined, now: number): at is number {
  return at !== undefined && at > now - MEMBER_GONE_MS;
}
