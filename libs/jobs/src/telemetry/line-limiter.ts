import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { LeftOut, LogLine } from './log-line.js';

/** Lines with equal keys share a rate: an event at a level, about one cron or operation. */
export interface LineKey {
  readonly event: string;
  readonly level: 'warn' | 'error';
  readonly subject: string;
}

export interface LineLimiterDeps {
  readonly clock: Clock;
  /** Must not throw. */
  readonly write: (level: LineKey['level'], line: LogLine, leftOut: LeftOut) => void;
}

/** `burst` lines at once, then one per `everyMs`. */
interface Rate {
  readonly burst: number;
  readonly everyMs: number;
}

/** The burst shows each attempt of a run. After it, errors come sooner than warnings: an error must not stay hidden. */
const OF_SUBJECT: Readonly<Record<LineKey['level'], Rate>> = {
  warn: { burst: 5, everyMs: 60_000 },
  error: { burst: 5, everyMs: 10_000 },
};

/** One event about any number of crons: a store that is down fails for every cron. */
const OF_EVENT: Rate = { burst: 50, everyMs: 1_000 };

/** Above this, the least recent subject is forgotten and starts with a new burst. */
const MAX_SUBJECTS = 1_000;
/** Lines held back at once: each keeps its texts in memory. */
const MAX_HELD = 200;
const LOOK_MS = 1_000;

/**
 * Keeps a log readable while a cause lasts. The first lines about a subject are written at once. Of the lines left out after them,
 * the first is held back and written as soon as the rate allows, unless a newer line of the subject is written before it. Either
 * line tells how many were left out.
 *
 * The cost per line is constant. A line is built only to be written or held.
 */
export class LineLimiter {
  /** Least recently offered first. */
  readonly #subjects = new Map<string, Subject>();
  readonly #events = new Map<string, EventLines>();
  readonly #held = new Set<Subject>();
  #cancel: CancelTimer | null = null;
  #stopped = false;

  constructor(private readonly deps: LineLimiterDeps) {}

  offer(key: LineKey, build: () => LogLine): void {
    const now = this.deps.clock.monotonic();
    const subject = this.#subjectOf(key, now);
    if (subject.admitsNew(now)) this.#write(subject, build(), now);
    else this.#leaveOut(subject, build);
  }

  /** Writes the held lines, and holds none from then on. */
  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
    this.#cancel = null;
    const now = this.deps.clock.monotonic();
    for (const subject of this.#held) this.#writeHeld(subject, now);
  }

  #subjectOf(key: LineKey, now: number): Subject {
    const eventName = `${key.level} ${key.event}`;
    const name = `${eventName} ${key.subject}`;
    const lines = this.#events.get(eventName) ?? { allowance: new Allowance(OF_EVENT, now), held: 0, omitted: 0 };
    this.#events.set(eventName, lines);
    const subject = this.#subjects.get(name) ?? new Subject(key.level, lines, now);
    this.#subjects.delete(name);
    this.#subjects.set(name, subject);
    if (this.#subjects.size > MAX_SUBJECTS) this.#forgetOldest();
    return subject;
  }

  /** Its held line, if any, is still written, with its count. */
  #forgetOldest(): void {
    const [oldest] = this.#subjects.keys();
    if (oldest !== undefined) this.#subjects.delete(oldest);
  }

  #leaveOut(subject: Subject, build: () => LogLine): void {
    if (subject.held !== null) subject.omitted += 1;
    else if (this.#stopped || this.#held.size >= MAX_HELD) subject.event.omitted += 1;
    else this.#hold(subject, build());
  }

  #hold(subject: Subject, line: LogLine): void {
    subject.omitted += 1;
    subject.event.held += 1;
    subject.held = line;
    this.#held.add(subject);
    this.#arm();
  }

  #arm(): void {
    this.#cancel ??= this.deps.clock.after(LOOK_MS, () => {
      this.#cancel = null;
      const now = this.deps.clock.monotonic();
      for (const subject of this.#held) if (subject.admits(now)) this.#writeHeld(subject, now);
      if (this.#held.size > 0) this.#arm();
    });
  }

  #writeHeld(subject: Subject, now: number): void {
    if (subject.held === null) return;
    subject.omitted -= 1;
    this.#write(subject, subject.held, now);
  }

  #write(subject: Subject, line: LogLine, now: number): void {
    const { level, event, omitted, since } = subject;
    const leftOut = { omitted, omittedOfOthers: event.omitted, sinceMs: now - since };
    if (this.#held.delete(subject)) event.held -= 1;
    event.omitted = 0;
    subject.wrote(now);
    this.deps.write(level, line, leftOut);
  }
}

/** The lines of one event about all subjects. */
interface EventLines {
  readonly allowance: Allowance;
  /** How many subjects hold a line. */
  held: number;
  /** Lines left out that no subject counts. */
  omitted: number;
}

/** The lines of one event about one subject. */
class Subject {
  omitted = 0;
  /** The first line left out since the last line written. */
  held: LogLine | null = null;
  readonly #allowance: Allowance;

  constructor(
    readonly level: LineKey['level'],
    readonly event: EventLines,
    /** When its last line was written, monotonic. */
    public since: number,
  ) {
    this.#allowance = new Allowance(OF_SUBJECT[level], since);
  }

  admits(now: number): boolean {
    return this.#allowance.has(1, now) && this.event.allowance.has(1, now);
  }

  /** A new line must leave enough of the event's rate for the held lines of other subjects. */
  admitsNew(now: number): boolean {
    const before = this.event.held - (this.held === null ? 0 : 1);
    return this.#allowance.has(1, now) && this.event.allowance.has(1 + before, now);
  }

  wrote(now: number): void {
    this.#allowance.take();
    this.event.allowance.take();
    [this.omitted, this.held, this.since] = [0, null, now];
  }
}

/** A token bucket, counted in milliseconds: fractions of tokens would not add up exactly. */
class Allowance {
  #savedMs: number;

  constructor(
    private readonly rate: Rate,
    private at: number,
  ) {
    this.#savedMs = rate.burst * rate.everyMs;
  }

  has(lines: number, now: number): boolean {
    const { burst, everyMs } = this.rate;
    this.#savedMs = Math.min(burst * everyMs, this.#savedMs + now - this.at);
    this.at = now;
    return this.#savedMs >= lines * everyMs;
  }

  /** May go negative: `stop` writes without asking. */
  take(): void {
    this.#savedMs -= this.rate.everyMs;
  }
}
