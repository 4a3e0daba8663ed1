import { NO_FENCE, type Clock } from '@fencepost/lease';
import type { LedgerTiming } from './ledger-timing.js';
import { forgetRun, inOrder, newCron, type MemoryCron, type MemoryRun } from './memory-ledger-record.js';
import { cronOfRun } from '../schedule/occurrence.js';

/** The records of the memory ledger. */
export class MemoryLedgerStore {
  readonly #crons = new Map<string, MemoryCron>();

  constructor(
    private readonly clock: Clock,
    private readonly timing: LedgerTiming,
  ) {}

  now(): number {
    return this.clock.now();
  }

  /** Finished runs whose time is up are gone at the next look, as keys that expire are. */
  cron(name: string): MemoryCron {
    const cron = this.#crons.get(name) ?? newCron(NO_FENCE);
    this.#crons.set(name, cron);
    const keptSince = this.clock.now() - this.timing.keepMs;
    for (const { record } of cron.runs.values()) {
      if (record.finishedAt !== null && record.finishedAt <= keptSince) forgetRun(cron, record);
    }
    return cron;
  }

  run(runId: string): MemoryRun | undefined {
    return this.cron(cronOfRun(runId)).runs.get(runId);
  }

  /** The oldest first. */
  runs(cron: string): MemoryRun[] {
    return inOrder(this.cron(cron).runs.values());
  }
}
