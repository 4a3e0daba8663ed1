import { ownerPrefix, type CancelTimer, scrub } from '@fencepost/lease/internal';
import { describeError, EVENT_TEXT, eventLevel, reportStoreFailure } from '@fencepost/jobs/internal';
import type { EventName, Telemetry } from '@fencepost/jobs';
import { formatFence, type Fence, type Clock } from '@fencepost/lease';
import { JournalAwayError, isNotable } from './journal.js';
import type { Journal, NewJournalEntry } from './journal.js';

/** Numbers of sixteen digits, which most readers of JSON round. */
const FENCES: ReadonlySet<string> = new Set(['fence', 'accepted']);

/** Who knows all of one could be taken for it. */
const HOLDERS: ReadonlySet<string> = new Set(['holder', 'worker', 'pod']);

/** An entry has them in places of its own. */
const ELSEWHERE: ReadonlySet<string> = new Set(['cron', 'runId']);

/** Ten thousand entries are kept in a store that has better things to keep. */
const MAX_TEXT_LENGTH = 500;
const MAX_LIST_LENGTH = 20;
const MAX_DETAIL_LENGTH = 2_000;

/** What an event carries, as the journal keeps it: as logs show it, with fences as texts, and short. */
function journalDetail(detail: object): Readonly<Record<string, unknown>> {
  const kept = Object.entries(detail).filter(([key]) => !ELSEWHERE.has(key));
  return withinLength(scrub(Object.fromEntries(kept.map(([key, value]) => [key, shown(key, value)]))));
}

/** The fields that fit, lists last: what the journal takes in all follows from what an entry may take. */
function withinLength(detail: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const kept = new Map<string, unknown>();
  let left = MAX_DETAIL_LENGTH;
  for (const [key, value] of Object.entries(detail).toSorted((a, b) => isList(a) - isList(b))) {
    const fitting = Array.isArray(value) ? firstOf(value, left - key.length) : value;
    const length = key.length + lengthOf(fitting);
    if (length > left) continue;
    left -= length;
    kept.set(key, fitting);
  }
  return Object.fromEntries(Object.keys(detail).flatMap((key) => (kept.has(key) ? [[key, kept.get(key)]] : [])));
}

function isList([, value]: [string, unknown]): number {
  return Number(Array.isArray(value));
}

function lengthOf(value: unknown): number {
  return (JSON.stringify(value) ?? '').length;
}

/** As many items of a list as fit: of a decision about many crons, the first ones are better than none. */
function firstOf(list: readonly unknown[], maxLength: number): readonly unknown[] {
  if (lengthOf(list) <= maxLength) return list;
  const [, more = '0'] = MORE.exec(String(list.at(-1))) ?? [];
  const named = more === '0' ? list : list.slice(0, -1);
  let left = maxLength - MORE_LENGTH;
  const end = named.findIndex((item) => (left -= lengthOf(item) + 1) < 0);
  return [...named.slice(0, end), moreThan(named.length - end + Number(more))];
}

const MORE = /^and (\d+) more$/;
const MORE_LENGTH = 24;

function moreThan(count: number): string {
  return `and ${count} more`;
}

function shown(key: string, value: unknown): unknown {
  if (typeof value === 'number' && FENCES.has(key)) return formatFence(value as Fence);
  if (typeof value === 'string') return short(HOLDERS.has(key) ? ownerPrefix(value) : value);
  // Name and message: the stack is in the log.
  if (value instanceof Error) return short(describeError(value));
  if (Array.isArray(value) && value.length > MAX_LIST_LENGTH) {
    return [...value.slice(0, MAX_LIST_LENGTH), moreThan(value.length - MAX_LIST_LENGTH)];
  }
  return value;
}

function short(text: string): string {
  return text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH)}…`;
}

export interface JournalWriterDeps {
  readonly journal: Journal;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  /** All of the pod's identity. */
  readonly pod: string;
  readonly roles: readonly string[];
}

/** What happens within this time is written at once, milliseconds. */
export const WRITE_MS = 100;
/** So many wait at the most, whatever the store does: a few megabytes. */
export const MAX_WAITING = 10_000;
/** So many are written at once: some milliseconds of work, in which no run goes on. */
export const MAX_AT_ONCE = 200;
/** So many ordinary events a pod writes in a second; a hundred runs a second would push out everything else. */
export const ORDINARY_PER_SECOND = 20;
/** After a store has failed it is left alone for so long, milliseconds. */
export const REST_MS = 5_000;
/** How many were dropped is told at most so often, milliseconds. */
export const TELL_DROPPED_MS = 10_000;

/** What was kept back for longer than this has an instant of its own that is far from the store's. */
const HELD_UP_MS = 1_000;
const SECOND_MS = 1_000;

interface Heard {
  readonly event: EventName;
  readonly detail: object;
  /** Monotonic. */
  readonly at: number;
}

/**
 * Writes what happens in this pod into the journal. It is told of everything on the path of a run, so it only notes it
 * there; what is slow comes later, and nobody waits for it. A store that fails costs entries, never memory without end.
 */
export class JournalWriter {
  readonly #role: string;
  readonly #pod: string;
  #waiting: Heard[] = [];
  #ordinary = { since: -Infinity, count: 0 };
  #dropped = { count: 0, toldAt: -Infinity };
  #failing = false;
  /** A timer is armed, or a batch is under way. */
  #busy = false;
  #stopped = false;
  #cancel: CancelTimer = () => {};
  #writing: Promise<unknown> = Promise.resolve();
  #unlisten: () => void = () => {};

  constructor(private readonly deps: JournalWriterDeps) {
    this.#role = deps.roles.join('+');
    this.#pod = ownerPrefix(deps.pod);
  }

  start(): void {
    this.#unlisten = this.deps.telemetry.listen((event, detail) => this.#hear(event, detail));
  }

  /** Writes what is left, unless the store fails. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unlisten();
    this.#cancel();
    await this.#writing;
    while (this.#waiting.length > 0 && (await this.#write()));
  }

  #hear(event: EventName, detail: object): void {
    const bearing = BEARING.get(event);
    if (bearing === undefined) return;
    const at = this.deps.clock.monotonic();
    const taken = this.#waiting.length < MAX_WAITING && (bearing === 'notable' || this.#admits(at));
    if (!taken) this.#dropped.count += 1;
    else this.#waiting.push({ event, detail, at });
    if (!this.#busy) this.#arm(WRITE_MS);
  }

  #admits(at: number): boolean {
    if (at - this.#ordinary.since >= SECOND_MS) this.#ordinary = { since: at, count: 0 };
    this.#ordinary.count += 1;
    return this.#ordinary.count <= ORDINARY_PER_SECOND;
  }

  #arm(delayMs: number): void {
    this.#busy = !this.#stopped;
    if (this.#stopped) return;
    this.#cancel = this.deps.clock.after(delayMs, () => {
      this.#writing = this.#write().then((done) => {
        this.#tellDropped();
        this.#busy = false;
        if (this.#waiting.length > 0) this.#arm(done ? WRITE_MS : REST_MS);
      });
    });
  }

  /** @returns whether the store took it */
  async #write(): Promise<boolean> {
    const batch = this.#waiting.slice(0, MAX_AT_ONCE);
    try {
      await this.deps.journal.append(batch.map((heard) => this.#entryOf(heard)));
      this.#failing = false;
    } catch (error) {
      this.#fail(error);
      // What was asked may be there already, and twice would look like two things that happened.
      if (error instanceof JournalAwayError) return false;
    }
    this.#waiting = this.#waiting.slice(batch.length);
    return !this.#failing;
  }

  #entryOf({ event, detail, at }: Heard): NewJournalEntry {
    const late = this.deps.clock.monotonic() - at;
    const heldUp = late > HELD_UP_MS ? { heldUpMs: Math.round(late) } : {};
    return {
      pod: this.#pod,
      role: this.#role,
      event,
      level: eventLevel(event, detail),
      cron: nameIn(detail, 'cron'),
      runId: nameIn(detail, 'runId'),
      detail: { ...journalDetail(detail), ...heldUp },
    };
  }

  /** Once, until the store is back. */
  #fail(error: unknown): void {
    if (this.#failing) return;
    this.#failing = true;
    reportStoreFailure(this.deps.telemetry, { operation: 'journal.append' }, error);
  }

  #tellDropped(): void {
    const { count, toldAt } = this.#dropped;
    const now = this.deps.clock.monotonic();
    if (count === 0 || now - toldAt < TELL_DROPPED_MS) return;
    this.#dropped = { count: 0, toldAt: now };
    this.deps.telemetry.emit('journal.dropped', { count });
  }
}

/** Made once: it is asked at every event. What isn't in there is never written. */
const BEARING: ReadonlyMap<EventName, 'notable' | 'ordinary'> = new Map(
  (Object.keys(EVENT_TEXT) as EventName[]).flatMap((event) => {
    if (EVENT_TEXT[event][0] === 'debug') return [];
    return [[event, isNotable(event) ? 'notable' : 'ordinary'] as const];
  }),
);

function nameIn(detail: object, key: string): string | null {
  const value: unknown = Reflect.get(detail, key);
  return typeof value === 'string' ? value : null;
}
