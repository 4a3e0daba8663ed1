import type { Gauge } from 'prom-client';

/** When the last run of each cron ended well. Two tell of it, and what came later counts. */
export class LastSuccess {
  readonly #known = new Map<string, number>();

  constructor(private readonly gauge: Gauge) {}

  /** @param at epoch milliseconds */
  tell(cron: string, at: number): void {
    if (at <= (this.#known.get(cron) ?? -Infinity)) return;
    this.#known.set(cron, at);
    this.gauge.set({ cron }, at / 1_000);
  }

  of(cron: string): number | undefined {
    return this.#known.get(cron);
  }

  forget(cron: string): void {
    this.#known.delete(cron);
  }
}
