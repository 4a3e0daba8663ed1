/** Clocks of two servers differ a little, and a change of a definition is recorded this much ahead. */
const TOLERATED_MS = 10_000;

/**
 * Whether the store's clock shows less than it has shown before: until it has caught up, no occurrence is claimed. A pod that
 * started after the step learns of it from the cursors of its crons.
 */
export class StoreClock {
  #latest = -Infinity;
  /** Of this pod, when the latest time was shown. Monotonic. */
  #latestAt = 0;
  #now = -Infinity;
  #nowAt = 0;

  get isKnown(): boolean {
    return this.#now > -Infinity;
  }

  /** @param monotonic of this pod, at the reply */
  show(now: number, monotonic: number): void {
    [this.#now, this.#nowAt] = [now, monotonic];
    this.record(now, monotonic);
  }

  /** A record of the ledger has this time: its clock has shown it. */
  record(at: number, monotonic: number): void {
    if (at > this.#latest) [this.#latest, this.#latestAt] = [at, monotonic];
  }

  /** What it shows now, epoch milliseconds. */
  now(monotonic: number): number {
    return this.#now + (monotonic - this.#nowAt);
  }

  /** How far it is behind the latest time that it has shown; 0 for a difference that is tolerated. */
  backMs(monotonic: number): number {
    const backMs = this.#latest - this.now(monotonic);
    return backMs > TOLERATED_MS && Number.isFinite(backMs) ? backMs : 0;
  }

  /** The latest time that it has shown, and what it would show now if it had not gone back since. */
  missing(monotonic: number): { readonly from: number; readonly to: number } {
    return { from: this.#latest, to: this.#latest + (monotonic - this.#latestAt) };
  }
}
