import type { Clock } from '@fencepost/lease';
import { scrubText, type CancelTimer } from '@fencepost/lease/internal';
import type { Telemetry } from '@fencepost/jobs';
import { reportStoreFailure } from '@fencepost/jobs/internal';
import { BEFORE_ALL, compareIds, isJournalId } from './journal.js';
import type { Journal, JournalEntry } from './journal.js';

export interface JournalFeedDeps {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Between two looks while somebody listens, milliseconds. */
export const LOOK_MS = 250;
/** After a look that failed, milliseconds. */
export const LOOK_AGAIN_MS = 1_000;
/** A store that has not answered by then is said not to answer, milliseconds: a page is to say so within two seconds. */
const ANSWERED_MS = 750;
/** So many are read at once; when there are more, the next look follows at once. */
export const MAX_AT_A_LOOK = 500;

export type JournalListener = (entry: JournalEntry) => void;

interface Subscriber {
  readonly listener: JournalListener;
  /** The last entry it has heard, or that was there when it came; `null` until that is known. */
  heard: string | null;
}

/**
 * Tells what comes into the journal, to any number of listeners with one question to the store, and with none while nobody
 * listens.
 */
export class JournalFeed {
  readonly #subscribers = new Set<Subscriber>();
  #cancel: CancelTimer = () => {};
  #looking: Promise<void> | null = null;
  #failing = false;
  #answers: boolean | null = null;

  constructor(private readonly deps: JournalFeedDeps) {}

  /**
   * Tells the listener each entry once, in order.
   * @param after the id of the last entry it knows, to go on from there as far as the journal still has it; else, and for
   * what can't be an id, from now
   * @returns a function that ends it
   */
  subscribe(listener: JournalListener, after?: string | null): () => void {
    const subscriber: Subscriber = { listener, heard: isJournalId(after) ? after : null };
    if (this.#subscribers.size === 0) this.#answers = null;
    this.#subscribers.add(subscriber);
    if (!this.#looking) this.#arm(0);
    return () => {
      this.#subscribers.delete(subscriber);
      if (this.#subscribers.size === 0) this.#cancel();
    };
  }

  /** Whether the last look was answered in time; `null` before the first, and while nobody listens. */
  get storeAnswers(): boolean | null {
    return this.#subscribers.size === 0 ? null : this.#answers;
  }

  /** Ends it for all, and resolves when the look under way is through. */
  async stop(): Promise<void> {
    this.#subscribers.clear();
    this.#cancel();
    await this.#looking;
  }

  #arm(delayMs: number): void {
    this.#cancel();
    if (this.#subscribers.size === 0) return;
    this.#cancel = this.deps.clock.after(delayMs, () => {
      this.#looking = this.#look().then((nextInMs) => {
        this.#looking = null;
        this.#arm(nextInMs);
      });
    });
  }

  /** @returns when to look again */
  async #look(): Promise<number> {
    const cancel = this.deps.clock.after(ANSWERED_MS, () => (this.#answers = false));
    try {
      // Who comes while it is under way may know less than where it begins, and waits for the next one.
      const asking = [...this.#subscribers];
      await this.#place(asking);
      const found = await this.#more(asking);
      this.#failing = false;
      this.#answers = true;
      for (const subscriber of asking) this.#tell(subscriber, found);
      return found.length < MAX_AT_A_LOOK ? LOOK_MS : 0;
    } catch (error) {
      this.#answers = false;
      this.#fail(error);
      return LOOK_AGAIN_MS;
    } finally {
      cancel();
    }
  }

  /** Who has just come begins at the end of what is there. */
  async #place(asking: readonly Subscriber[]): Promise<void> {
    const newcomers = asking.filter(({ heard }) => heard === null);
    if (newcomers.length === 0) return;
    const head = (await this.deps.journal.head()) ?? BEFORE_ALL;
    for (const newcomer of newcomers) newcomer.heard = head;
  }

  /** From where the one begins that is the furthest behind; the others leave out what they know. */
  async #more(asking: readonly Subscriber[]): Promise<readonly JournalEntry[]> {
    const [behind] = asking.flatMap(({ heard }) => heard ?? []).toSorted(compareIds);
    return behind === undefined ? [] : this.deps.journal.since(behind, MAX_AT_A_LOOK);
  }

  #tell(subscriber: Subscriber, found: readonly JournalEntry[]): void {
    for (const entry of found) {
      // It may end its listening at any entry.
      if (!this.#subscribers.has(subscriber)) return;
      if (compareIds(entry.id, subscriber.heard ?? BEFORE_ALL) <= 0) continue;
      subscriber.heard = entry.id;
      try {
        subscriber.listener(entry);
      } catch (error) {
        process.emitWarning(`A listener of the journal failed: ${scrubText(String(error))}`);
      }
    }
  }

  /** Once, until the store is back. */
  #fail(error: unknown): void {
    if (!this.#failing) {
      reportStoreFailure(this.deps.telemetry, { operation: 'journal.read' }, error);
    }
    this.#failing = true;
  }
}
