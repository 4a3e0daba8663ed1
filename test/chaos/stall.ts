import { cronOfRun } from '@fencepost/ledger/run';
import type { RecordedEvent } from './recording.js';

export interface StallInput {
  readonly events: readonly RecordedEvent[];
  /** Crons whose runs may go on beside each other: none of them blocks another. */
  readonly allowing: ReadonlySet<string>;
  /** Runs that gave their place to another one before they began. */
  readonly superseded: ReadonlySet<string>;
  /** What is looked at, in the microseconds of the recording: from when all was healed until the pods were stopped. */
  readonly from: number;
  readonly until: number;
}

export interface Stall {
  readonly cron: string;
  readonly ms: number;
}

const NONE: Stall = { cron: '', ms: 0 };
const ENDS = new Set(['attempt.succeeded', 'attempt.failed', 'attempt.uncertain', 'attempt.cancelled']);

/**
 * The longest time in which a cron began nothing although an older run, on which no worker was at work, blocked an instant
 * of it. An attempt that never reported its end doesn't count as work.
 */
export function longestStall(input: StallInput): Stall {
  const { events, allowing, until } = input;
  const crons = new Map<string, CronWatch>();
  const ended = new Set(events.filter(({ event }) => ENDS.has(event)).map(({ detail }) => attemptOf(detail)));
  for (const { at, event, detail } of events) {
    const cron = cronOf(detail);
    if (cron === null || allowing.has(cron) || at > until) continue;
    const watch = crons.get(cron) ?? new CronWatch(cron, ended, input);
    crons.set(cron, watch);
    watch.hear(event, detail, at);
  }
  const stalls = [...crons.values()].map((watch) => watch.longest());
  return stalls.reduce((longest, one) => (one.ms > longest.ms ? one : longest), NONE);
}

class CronWatch {
  /** Claimed, and not begun by any worker. */
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  #since: number | null = null;
  #longest = 0;

  constructor(
    private readonly cron: string,
    private readonly ended: ReadonlySet<string>,
    private readonly input: StallInput,
  ) {}

  hear(event: string, detail: RecordedEvent['detail'], at: number): void {
    if (event === 'occurrence.skipped' && detail['reason'] !== 'paused') this.#blocked(at);
    if (event === 'occurrence.claimed') this.#claimed(String(detail['runId']), at);
    if (event === 'attempt.begun') this.#begun(detail, at);
    if (ENDS.has(event)) this.#running.delete(attemptOf(detail));
  }

  longest(): Stall {
    this.#close(this.input.until);
    return { cron: this.cron, ms: Math.round(this.#longest) };
  }

  #claimed(runId: string, at: number): void {
    if (this.#waiting.size > 0) this.#blocked(at);
    if (!this.input.superseded.has(runId)) this.#waiting.add(runId);
  }

  #begun(detail: RecordedEvent['detail'], at: number): void {
    this.#close(at);
    this.#waiting.delete(String(detail['runId']));
    if (this.ended.has(attemptOf(detail))) this.#running.add(attemptOf(detail));
  }

  #blocked(at: number): void {
    if (this.#running.size === 0) this.#since ??= at;
  }

  #close(at: number): void {
    if (this.#since === null) return;
    this.#longest = Math.max(this.#longest, (at - Math.max(this.#since, this.input.from)) / 1_000);
    this.#since = null;
  }
}

function attemptOf(detail: RecordedEvent['detail']): string {
  return `${String(detail['runId'])}#${String(detail['attempt'])}`;
}

function cronOf({ cron, runId }: RecordedEvent['detail']): string | null {
  if (typeof cron === 'string') return cron;
  return typeof runId === 'string' ? cronOfRun(runId) : null;
}
