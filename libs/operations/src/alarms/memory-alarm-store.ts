import type { Clock } from '@fencepost/lease';
import type { AlarmStore, AlarmReading, Swap } from './alarm-store.js';

/** For tests, and for a process that shares nothing. */
export class MemoryAlarmStore implements AlarmStore {
  readonly #records = new Map<string, string>();

  constructor(private readonly clock: Clock) {}

  read(crons: readonly string[]): Promise<AlarmReading> {
    const records = crons.map((cron) => this.#records.get(cron) ?? null);
    return Promise.resolve({ now: this.clock.now(), records });
  }

  swap(swaps: readonly Swap[]): Promise<boolean[]> {
    return Promise.resolve(swaps.map((swap) => this.#swap(swap)));
  }

  names(): Promise<string[]> {
    return Promise.resolve([...this.#records.keys()]);
  }

  #swap({ cron, was, is }: Swap): boolean {
    if ((this.#records.get(cron) ?? null) !== was) return false;
    if (is === null) this.#records.delete(cron);
    else this.#records.set(cron, is);
    return true;
  }
}
