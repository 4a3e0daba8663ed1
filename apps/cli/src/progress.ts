import { systemClock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { World } from './world.js';

const EVERY_MS = 1_000;

/** Does the work, and at a terminal says on stderr what is going on and for how long, from its first second on. */
export async function whileWorking<Result>(
  what: string,
  { err, errTerminal = false }: Pick<World, 'err' | 'errTerminal'>,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!errTerminal) return work();
  const begunAt = systemClock.monotonic();
  let cancel: CancelTimer | undefined;
  const tick = () => {
    const seconds = Math.round((systemClock.monotonic() - begunAt) / 1_000);
    if (seconds > 0) err(`\r\u001B[2K${what} … ${seconds} s`);
    cancel = systemClock.after(EVERY_MS, tick);
  };
  tick();
  try {
    return await work();
  } finally {
    cancel?.();
    err('\r\u001B[2K');
  }
}

/** Where no terminal rewrites a line, a new one comes this often at most. */
const LINE_EVERY_MS = 10_000;
const REWRITE_EVERY_MS = 200;
const MINUTE_MS = 60_000;

/** Says on stderr how far something has come. */
export class ProgressLine {
  readonly #since: number;
  #shownAt = -Infinity;
  #shown = '';

  constructor(
    private readonly about: string,
    private readonly world: Pick<World, 'err' | 'errTerminal' | 'now'>,
  ) {
    this.#since = world.now();
  }

  get elapsedMs(): number {
    return this.world.now() - this.#since;
  }

  show(text: string, isOver: boolean): void {
    const now = this.world.now();
    const { errTerminal = false } = this.world;
    if (!isOver && now - this.#shownAt < (errTerminal ? REWRITE_EVERY_MS : LINE_EVERY_MS)) return;
    const line = `${this.about}: ${text}`;
    if (line === this.#shown) return;
    [this.#shownAt, this.#shown] = [now, line];
    this.world.err(errTerminal ? `\r\u001B[2K${line}` : `${line}\n`);
  }

  end(): void {
    if (this.world.errTerminal && this.#shown !== '') this.world.err('\n');
  }
}

interface Pace {
  readonly asked: number;
  readonly total: number;
  readonly elapsedMs: number;
  /** Those of the asked ones that have ended; default: all. */
  readonly done?: number;
}

/** How fast it goes, and about how long it will still take. */
export function rateOf({ asked, total, elapsedMs, done = asked }: Pace): string {
  const perMinute = elapsedMs === 0 ? 0 : (done * MINUTE_MS) / elapsedMs;
  if (perMinute === 0) return '';
  const rate = `, ${perMinute < 10 ? perMinute.toFixed(1) : Math.round(perMinute)} per minute`;
  const left = total - asked;
  return left === 0 ? rate : `${rate}, about ${spokenDuration((left / perMinute) * MINUTE_MS)} remaining`;
}

/** Rounded for an estimate: `40 s`, `12 min`, `3 h 20 min`. */
export function spokenDuration(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1_000));
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`}`;
}
