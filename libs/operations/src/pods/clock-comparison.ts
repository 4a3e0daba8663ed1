/** What a question about the time has found. */
export interface ClockSample {
  /** The own clock minus the other, milliseconds. */
  readonly skewMs: number;
  readonly rttMs: number;
}

export interface ClockReading {
  /** The own wall clock when the question was sent, epoch milliseconds. */
  readonly sentAt: number;
  /** From the question to its answer, by a clock that nobody sets, milliseconds. */
  readonly rttMs: number;
  /** What the other clock said, epoch milliseconds. */
  readonly theirs: number;
}

/** So many answers are remembered: twenty seconds of them. */
const MAX_KEPT = 4;

/**
 * How far the own clock is ahead of another one. The answer was given somewhere between question and answer: taken for the
 * middle, it is off by at most half the round trip, so the quickest of the last answers counts.
 *
 * After the clock filter of NTP, RFC 5905 section 10.
 */
export class ClockComparison {
  #samples: readonly ClockSample[] = [];

  /** `null`: nothing was heard yet. */
  get best(): ClockSample | null {
    return this.#samples.toSorted((a, b) => a.rttMs - b.rttMs)[0] ?? null;
  }

  hear({ sentAt, rttMs, theirs }: ClockReading): void {
    const sample = { skewMs: sentAt + rttMs / 2 - theirs, rttMs };
    // Two answers that can't both be right: a clock was set in between, and what was heard before is no longer true.
    const known = this.#samples.filter((other) => agree(other, sample));
    this.#samples = [...known, sample].slice(-MAX_KEPT);
  }
}

/** Wall clocks tell whole milliseconds. */
const READING_MS = 1;

function agree(a: ClockSample, b: ClockSample): boolean {
  return Math.abs(a.skewMs - b.skewMs) <= (a.rttMs + b.rttMs) / 2 + READING_MS;
}
