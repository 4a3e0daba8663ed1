import type { BackfillProgress } from './jobs.js';
import type { World } from './world.js';

/** Where no terminal rewrites a line, a new one comes this often at most. */
const LINE_EVERY_MS = 10_000;
const REWRITE_EVERY_MS = 200;

const MINUTE_MS = 60_000;

/** Says on stderr how far a backfill has come: count, total, rate and the time that is left. */
export class ProgressLine {
  readonly #since: number;
  #shownAt = -Infinity;
  #shown = '';

  constructor(
    private readonly cron: string,
    private readonly world: Pick<World, 'err' | 'errTerminal' | 'now'>,
  ) {
    this.#since = world.now();
  }

  show(progress: BackfillProgress): void {
    const now = this.world.now();
    const { errTerminal = false } = this.world;
    const isOver = progress.asked === progress.instants;
    if (!isOver && now - this.#shownAt < (errTerminal ? REWRITE_EVERY_MS : LINE_EVERY_MS)) return;
    const line = `${this.cron}: ${progressText(progress, now - this.#since)}`;
    if (line === this.#shown) return;
    [this.#shownAt, this.#shown] = [now, line];
    this.world.err(errTerminal ? `\r\u001B[2K${line}` : `${line}\n`);
  }

  end(): void {
    if (this.world.errTerminal && this.#shown !== '') this.world.err('\n');
  }
}

function progressText({ instants, asked, accepted, open }: BackfillProgress, elapsedMs: number): string {
  const done = asked - open;
  const perMinute = elapsedMs === 0 ? 0 : (done * MINUTE_MS) / elapsedMs;
  const rate = perMinute === 0 ? '' : `, ${perMinute < 10 ? perMinute.toFixed(1) : Math.round(perMinute)} per minute`;
  const left = instants - asked;
  const rest =
    left === 0 || perMinute === 0 ? '' : `, about ${spokenDuration((left / perMinute) * MINUTE_MS)} remaining`;
  return `${asked} of ${instants} instants requested, ${accepted} accepted, ${open} still open${rate}${rest}`;
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
