/**
 * Of many, some at a time, all of them in turn: what is asked of a store for each cron must not take longer the more crons
 * there are.
 */
export class RoundRobin {
  #at = 0;

  constructor(private readonly most: number) {}

  next(all: readonly string[]): string[] {
    if (all.length <= this.most) return [...all];
    const start = this.#at % all.length;
    this.#at = start + this.most;
    return [...all, ...all].slice(start, start + this.most);
  }
}
