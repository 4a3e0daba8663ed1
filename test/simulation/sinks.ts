import type { Fence } from '@fencepost/lease';
import type { Answer, Run } from '@fencepost/ledger/run';

/** One carrying out of an effect, as the system behind it sees it. */
export interface Act {
  readonly runId: string;
  /** The idempotency key. */
  readonly key: string;
  readonly fence: Fence;
}

export interface SinkVerdict {
  /** Carried out again by an attempt that had, or whose predecessors had, the word that it is done. */
  readonly doubled: number;
  /** Writes accepted under a fence that was not above all those before it, for another attempt. */
  readonly staleAccepted: number;
  /** Effects that are to be asked about, carried out again without anybody's leave. */
  readonly askRepeated: number;
  /** Of the effect that nothing protects: how often it happened more than once in a run. Has to be above 0. */
  readonly controlDuplicates: number;
  /** How often a sink refused: proof that there was something to refuse. */
  readonly refused: number;
  /** How often a key came again to the sink that remembers keys. */
  readonly repeated: number;
}

/**
 * The systems behind the effects, outside every process: no crash and no loss of a store touches them. They only write down
 * what happens, and `verdict` says afterwards whether it should have.
 */
export class Sinks {
  readonly #rows = new Map<string, Act>();
  readonly #keys = new Set<string>();
  readonly #asked = new Map<string, number>();
  /** By key, the attempts in whose name a person said that it had not happened. */
  readonly #leave = new Map<string, Set<Fence | null>>();
  readonly #settled = new Map<string, Fence>();
  readonly #control = new Map<string, number>();
  /** No fence up to here counts on what the ledger knows. */
  #lostBy = 0;
  #doubled = 0;
  #staleAccepted = 0;
  #askRepeated = 0;
  #refused = 0;
  #repeated = 0;

  /** A row that keeps the largest fence. @returns whether it was written */
  fenced(row: string, act: Act): boolean {
    const last = this.#rows.get(row);
    if (last && act.fence < last.fence) {
      this.#refused += 1;
      return false;
    }
    this.#accept(act);
    // The same fence counts for the same run alone: two attempts that were given one fence are in no order.
    if (last && act.fence === last.fence && act.runId !== last.runId) this.#staleAccepted += 1;
    this.#rows.set(row, act);
    return true;
  }

  /** A provider that remembers idempotency keys. @returns whether it was new to it */
  keyed(act: Act): boolean {
    this.#accept(act);
    if (this.#keys.has(act.key)) {
      this.#repeated += 1;
      return false;
    }
    this.#keys.add(act.key);
    return true;
  }

  /** What the same provider answers when it is asked for a key. */
  knows(key: string): boolean {
    return this.#keys.has(key);
  }

  /** A system that can refuse nothing: what happens twice is damage. */
  asked(act: Act): void {
    this.#accept(act);
    if (act.fence <= this.#lostBy) return;
    const times = (this.#asked.get(act.key) ?? 0) + 1;
    this.#asked.set(act.key, times);
    if (times > 1 + (this.#leave.get(act.key)?.size ?? 0)) this.#askRepeated += 1;
  }

  /** Nothing protects this one: at each attempt, outside of any effect. */
  control(runId: string): void {
    this.#control.set(runId, (this.#control.get(runId) ?? 0) + 1);
  }

  /** An attempt has heard that the effect is done: whoever comes later may not carry it out. */
  settled({ key, fence }: Pick<Act, 'key' | 'fence'>): void {
    if (fence > this.#lostBy && !this.#settled.has(key)) this.#settled.set(key, fence);
  }

  /**
   * What a person answers who looks into the sink. That it has not happened is also the leave to do it: once for each
   * attempt that asked, however often the answer has to be given.
   */
  answerFor({ id, unresolvedEffect, fence }: Pick<Run, 'id' | 'unresolvedEffect' | 'fence'>): Answer {
    if (unresolvedEffect === null) return { verdict: 'give-up' };
    const key = [id, unresolvedEffect.effect, ...(unresolvedEffect.item === null ? [] : [unresolvedEffect.item])].join(
      '/',
    );
    if (this.#asked.has(key)) return { verdict: 'done', result: '"a person saw it"' };
    this.#leave.set(key, (this.#leave.get(key) ?? new Set()).add(fence));
    return { verdict: 'not-done' };
  }

  /**
   * A ledger that lost acknowledged writes lost what it had recorded as done: that an effect happens again is the known limit
   * then, and also that an attempt from before goes on of which nobody knows any more. What a sink itself refuses by fence or
   * key is not touched by it.
   * @param now the store's clock: fences are issued from it, in microseconds
   */
  onHistoryLost(now: number): void {
    this.#lostBy = now * 1_000 + 999;
    this.#settled.clear();
    this.#asked.clear();
    this.#leave.clear();
  }

  verdict(): SinkVerdict {
    const pushed = [...this.#control.values()].reduce((sum, times) => sum + times - 1, 0);
    return {
      doubled: this.#doubled,
      staleAccepted: this.#staleAccepted,
      askRepeated: this.#askRepeated,
      controlDuplicates: pushed,
      refused: this.#refused,
      repeated: this.#repeated,
    };
  }

  /** A stale attempt may still act after another one has: it was let in before. One that came later was not to be. */
  #accept({ key, fence }: Act): void {
    const settled = this.#settled.get(key);
    if (settled !== undefined && fence >= settled) this.#doubled += 1;
  }
}
