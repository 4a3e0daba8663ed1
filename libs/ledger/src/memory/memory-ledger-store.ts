import { NO_FENCE, type Clock } from '@fencepost/lease';
import type { LedgerTiming } from '../base/ledger-timing.js';
import { forgetRun, inOrder, newCron, type MemoryCron, type MemoryRun } from './memory-ledger-record.js';
import { cronOfRun } from '../base/occurrence.js';

/** A state of the memory ledger. */
export type SavedLedger = ReadonlyMap<string, MemoryCron>;

export interface StoreTime {
  readonly now: number;
  readonly timing: LedgerTiming;
}

/** The records of the memory ledger. */
export class MemoryLedgerStore {
  readonly #crons = new Map<string, MemoryCron>();
  readonly #nextLook = new Map<string, number>();

  constructor(
    private readonly clock: Clock,
    readonly timing: LedgerTiming,
  ) {}

  /** What {@link restore} takes; nothing that happens later changes it. */
  save(): SavedLedger {
    return structuredClone(this.#crons);
  }

  /** As a store that fails over to a replica which lags behind: what was accepted since is lost, and nobody is told. */
  restore(saved: SavedLedger): void {
    this.#crons.clear();
    this.#nextLook.clear();
    for (const [name, cron] of structuredClone(saved)) this.#crons.set(name, cron);
  }

  now(): number {
    return this.clock.now();
  }

  time(): StoreTime {
    return { now: this.clock.now(), timing: this.timing };
  }

  /** Finished runs whose time is up are gone at the next look, as keys that expire are. */
  cron(name: string): MemoryCron {
    const cron = this.#crons.get(name) ?? newCron(NO_FENCE);
    this.#crons.set(name, cron);
    const now = this.clock.now();
    if (now >= (this.#nextLook.get(name) ?? -Infinity)) this.#dropOld(name, cron, now);
    return cron;
  }

  /** Nothing is due before the oldest that is there now, or what ends from now on: most looks need no walk over all runs. */
  #dropOld(name: string, cron: MemoryCron, now: number): void {
    const { keepMs } = this.timing;
    let oldest = now;
    for (const { record } of cron.runs.values()) {
      if (record.finishedAt === null) continue;
      if (record.finishedAt <= now - keepMs) forgetRun(cron, record, now);
      else oldest = Math.min(oldest, record.finishedAt);
    }
    this.#nextLook.set(name, oldest + keepMs);
  }

  run(runId: string): MemoryRun | undefined {
    return this.cron(cronOfRun(runId)).runs.get(runId);
  }

  /** Those that are wanted, all by default, the oldest first. */
  runs(cron: string, wanted?: (run: MemoryRun) => boolean): MemoryRun[] {
    return inOrder(this.cron(cron).runs.values(), wanted);
  }
}
