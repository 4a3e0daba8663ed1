import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { CronRecord, RunHistory } from '@fencepost/ledger';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { Run, SkipRange } from '@fencepost/ledger/run';
import { historyOf, MAX_MARKS, type CronHistory } from './cron-history.js';

/** A cron as the last look at all of them has found it. */
export interface FollowedCron {
  readonly entry: Pick<CatalogEntry, 'definition'>;
  readonly record: Pick<CronRecord, 'cursor'>;
}

export interface HistoryListener {
  readonly happened: (cron: string) => void;
  /** The history of a cron was read, or is not known any more. */
  readonly read: (cron: string) => void;
}

/** Where it hears of what happens. */
export interface LiveEvents {
  subscribe(listener: (entry: { readonly cron: string | null }) => void): () => void;
}

interface Kept {
  readonly history: CronHistory;
  readonly cursor: number | null;
  readonly readAt: number;
  /** A run of it has not ended, so the next look may find another one. */
  readonly isOpen: boolean;
}

/**
 * Crons whose history is kept, the first by name. A mark takes about 200 bytes, so 20,000 crons take at most about 120 MB; the
 * others stay unknown, and the triage says how many they are.
 */
export const MAX_KEPT = 20_000;
/** Of each cron so many ranges of skips are read. */
export const MAX_SKIPS = 10;
/**
 * One slice at a time: at most 500 crons with 30 runs each in a second, five calls per slice, over the connection that only pages
 * use. 5,000 crons are read within about ten seconds; after that only what has changed is read again.
 */
const AT_ONCE = 25;
const SLICE_EVERY_MS = 50;
/** A page of crons. */
const MAX_WAITED_FOR = 50;
const AFTER_FAILURE_MS = 1_000;
/** Between two looks at a cron that has an open run, and at any. */
const OPEN_MS = 10_000;
const REFRESH_MS = 10 * 60_000;
/** As often as a page asks: what may have changed for longer is not shown any more. */
const SHOWN_MS = 5_000;
/** Who has not looked for so long is gone, and nothing is read any more. */
const IDLE_MS = 60_000;

/** The newest runs of all crons, read little by little in the background while somebody looks. */
export class CronHistories {
  readonly #kept = new Map<string, Kept>();
  #crons = new Map<string, FollowedCron>();
  /** In the order in which they are read: what was never read first. */
  readonly #unread = new Set<string>();
  /** What may have changed, and since when that is known, monotonic. */
  readonly #stale = new Map<string, number>();
  #cancel: CancelTimer = () => {};
  #cancelIdle: CancelTimer = () => {};
  #stopHearing: (() => void) | null = null;
  #isRunning = false;
  #listener: HistoryListener | null = null;

  /** @param events without them it reads only when `read` is called */
  constructor(
    private readonly ledger: Pick<RunHistory, 'newestRuns' | 'newestSkips'>,
    private readonly clock: Clock,
    private readonly events: LiveEvents | null,
  ) {}

  /** Who hears of what it finds out. */
  tell(listener: HistoryListener): void {
    this.#listener = listener;
  }

  /** `null`: not read yet. */
  of(cron: string): CronHistory | null {
    return this.#kept.get(cron)?.history ?? null;
  }

  /** This run is the newest one of its cron: a history that does not have it, or has it otherwise, is old. */
  compare({ cron, id, finishedAt, state }: Run): void {
    const known = this.#kept.get(cron)?.history.marks.find(({ runId }) => runId === id);
    const isSame = known?.endedAt === finishedAt && (known.outcome === 'running') === (state === 'running');
    if (!isSame) this.#touch(cron);
  }

  /**
   * Listens from now on, before the crons themselves are looked at.
   * @returns whether it had not listened: whatever happened since is not known, so nothing that was kept may be shown
   */
  listen(): boolean {
    if (!this.events || this.#stopHearing) return false;
    this.#kept.clear();
    this.#stopHearing = this.events.subscribe(({ cron }) => {
      if (cron !== null) this.#listener?.happened(cron);
      this.#touch(cron);
    });
    return true;
  }

  /** These are all crons there are. What is not known of them, or may have changed, is read in the background from now on. */
  follow(crons: readonly FollowedCron[]): void {
    if (!this.events) return;
    this.listen();
    this.#know(crons);
    this.#forgetOld();
    this.#cancelIdle();
    this.#cancelIdle = this.clock.after(IDLE_MS, () => this.stop());
    this.#goOn(0);
  }

  /** Reads what is not known of them, or may have changed, before anybody asks for it: for a program without events. */
  async read(crons: readonly FollowedCron[]): Promise<void> {
    this.#know(crons);
    while (this.#unread.size + this.#stale.size > 0) await this.#slice();
  }

  /**
   * Reads these before their turn, as somebody waits for them: those that were never read. At most {@link MAX_WAITED_FOR} where
   * the others are read in the background.
   */
  async readNow(crons: readonly FollowedCron[]): Promise<void> {
    const most = this.events ? MAX_WAITED_FOR : Infinity;
    const waited = crons.filter((cron) => !this.#kept.has(nameOf(cron))).slice(0, most);
    for (const cron of waited) {
      this.#crons.set(nameOf(cron), cron);
      this.#unread.delete(nameOf(cron));
    }
    for (let at = 0; at < waited.length; at += MAX_WAITED_FOR) {
      await this.#readAll(waited.slice(at, at + MAX_WAITED_FOR).map(nameOf));
    }
  }

  /** Until somebody looks again. */
  stop(): void {
    this.#cancelIdle();
    this.#cancel();
    this.#isRunning = false;
    this.#stopHearing?.();
    this.#stopHearing = null;
    this.#unread.clear();
    this.#stale.clear();
  }

  /** What may have changed, and was not read for as long as a page waits until it asks again. */
  #forgetOld(): void {
    const now = this.clock.monotonic();
    for (const [name, since] of this.#stale) {
      if (now - since <= SHOWN_MS) continue;
      this.#stale.delete(name);
      this.#kept.delete(name);
      this.#unread.add(name);
      this.#listener?.read(name);
    }
  }

  #mayHaveChanged(cron: string): void {
    if (!this.#stale.has(cron)) this.#stale.set(cron, this.clock.monotonic());
  }

  #touch(cron: string | null): void {
    if (cron === null || !this.#kept.has(cron)) return;
    if (!this.events || this.#stopHearing) this.#mayHaveChanged(cron);
    if (this.#stopHearing) this.#goOn(SLICE_EVERY_MS);
  }

  #know(crons: readonly FollowedCron[]): void {
    this.#crons = new Map(crons.slice(0, MAX_KEPT).map((cron) => [cron.entry.definition.name, cron]));
    for (const name of this.#kept.keys()) if (!this.#crons.has(name)) this.#kept.delete(name);
    const now = this.clock.monotonic();
    for (const [name, { record }] of this.#crons) {
      const kept = this.#kept.get(name);
      if (!kept) this.#unread.add(name);
      else if (kept.cursor !== record.cursor || now - kept.readAt >= this.#goodForMs(kept)) this.#mayHaveChanged(name);
    }
  }

  /** Without events nothing tells of the end of a run. */
  #goodForMs({ isOpen }: Kept): number {
    if (isOpen) return this.events ? OPEN_MS : 0;
    return REFRESH_MS;
  }

  #goOn(delayMs: number): void {
    if (this.#isRunning || this.#unread.size + this.#stale.size === 0) return;
    this.#isRunning = true;
    this.#cancel = this.clock.after(delayMs, () => {
      const ended = (nextInMs: number) => {
        this.#isRunning = false;
        this.#goOn(nextInMs);
      };
      // Whoever looks finds the store away by themselves; what is unknown stays so until it is back.
      this.#slice().then(
        () => ended(SLICE_EVERY_MS),
        () => ended(AFTER_FAILURE_MS),
      );
    });
  }

  async #slice(): Promise<void> {
    const names = [...first(this.#unread, AT_ONCE), ...first(this.#stale.keys(), AT_ONCE)].slice(0, AT_ONCE);
    const since = new Map(names.map((name) => [name, this.#stale.get(name)]));
    for (const name of names) for (const waiting of [this.#unread, this.#stale]) waiting.delete(name);
    await this.#readAll(names, since);
  }

  /** @param since from when on what is kept of them may have changed */
  async #readAll(names: readonly string[], since: ReadonlyMap<string, number | undefined> = new Map()): Promise<void> {
    try {
      const readAt = this.clock.monotonic();
      const [runs, skips] = await Promise.all([
        this.ledger.newestRuns(names, MAX_MARKS),
        this.ledger.newestSkips(names, MAX_SKIPS),
      ]);
      names.forEach((name, n) => this.#keep(name, { runs: runs[n] ?? [], skips: skips[n] ?? [], readAt }));
    } catch (error) {
      for (const name of names) {
        if (this.#kept.has(name)) this.#stale.set(name, since.get(name) ?? this.clock.monotonic());
        else this.#unread.add(name);
      }
      throw error;
    }
  }

  #keep(name: string, { runs, skips, readAt }: Found): void {
    const cron = this.#crons.get(name);
    if (!cron) return;
    const history = historyOf(runs, skips, cron.entry.definition.graceMs);
    const isOpen = history.marks.some(({ outcome }) => outcome === 'waiting' || outcome === 'running');
    this.#kept.set(name, { history, cursor: cron.record.cursor, readAt, isOpen });
    this.#listener?.read(name);
  }
}

interface Found {
  readonly runs: readonly Run[];
  readonly skips: readonly SkipRange[];
  /** Monotonic. */
  readonly readAt: number;
}

function nameOf({ entry }: FollowedCron): string {
  return entry.definition.name;
}

function* first<Item>(items: Iterable<Item>, count: number): Generator<Item> {
  let left = count;
  for (const item of items) {
    if (left === 0) return;
    left -= 1;
    yield item;
  }
}
