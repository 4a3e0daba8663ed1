/** How late instants were, in whole milliseconds; counts instead of samples, because a day has millions. */
export class Lateness {
  readonly #counts = new Map<number, number>();
  count = 0;

  add(lateMs: number, times = 1): void {
    const late = Math.max(0, Math.round(lateMs));
    this.#counts.set(late, (this.#counts.get(late) ?? 0) + times);
    this.count += times;
  }

  get figures(): { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number } {
    const sorted = [...this.#counts].toSorted(([a], [b]) => a - b);
    const at = (part: number) => {
      let left = this.count * part;
      for (const [late, times] of sorted) if ((left -= times) <= 0) return late;
      return 0;
    };
    return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: sorted.at(-1)?.[0] ?? 0 };
  }
}
