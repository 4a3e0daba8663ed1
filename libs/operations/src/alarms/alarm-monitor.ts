import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { CronRecord, OccurrenceLog, RunHistory } from '@fencepost/ledger';
import { isTerminal, type Run } from '@fencepost/ledger/run';
import { reportStoreFailure, type AlarmChange, type SharedSchedules } from '@fencepost/jobs/internal';
import { inGroups } from '@fencepost/jobs/internal/scheduling';
import type { Telemetry } from '@fencepost/jobs';
import { spreadOf } from '@fencepost/schedule';
import type { AlarmStore, Swap } from './alarm-store.js';
import { newRecord, readRecord, settle, told, type AlarmRecord, type Settled } from './alarm-record.js';
import { MUTES, muteOf, type Mute, type Mutes } from './mutes.js';
import { evaluateRules, isWatched, newestSuccess } from './evaluate-rules.js';
import type { Standstill } from './standstills.js';

export interface AlarmMonitorDeps {
  readonly ledger: Pick<OccurrenceLog, 'readCrons' | 'unstarted'> & Pick<RunHistory, 'runs' | 'runsIn' | 'readRun'>;
  readonly store: AlarmStore;
  readonly mutes: Pick<Mutes, 'list'>;
  readonly schedules: Schedules;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Between two looks. */
  readonly lookEveryMs: number;
  /** The crons that this pod watches now, and those it knows of that nobody has to watch. */
  readonly watch: (standing: Standing) => Watch;
  /** The crons that stand still, as pods report them. */
  readonly standstills: () => Promise<Standing>;
  /** Puts the news where others hear of it; what was not told is told again. */
  readonly tell: (news: readonly AlarmChange[], now: number) => Promise<void>;
}

/** By cron. */
type Standing = ReadonlyMap<string, Standstill>;

/** What a pod is to look at. */
export interface Watch {
  readonly crons: readonly CatalogEntry[];
  /** Whether nobody watches a cron of this name, and it is this pod that sees to what is left of its alarms. */
  readonly isOver: (cron: string) => boolean;
}

/** One command of more would hold up everybody else's. */
const BATCH = 200;
/** Of each cron so many runs are looked at: one that ended longer ago was seen by an earlier look. */
const RUNS = 20;
const ROUGHLY_MS = 60_000;
/** Once in so many looks the records of crons are looked for that nobody watches any more. */
const TIDY_EVERY = 12;

/** What one look at a cron has to start from. */
interface Found {
  readonly entry: CatalogEntry;
  readonly was: string | null;
  readonly record: AlarmRecord;
  readonly known: CronRecord;
}

/** What all crons of one look are judged by. */
interface Seen {
  readonly runs: ReadonlyMap<string, readonly Run[]>;
  readonly now: number;
  readonly mutes: readonly Mute[];
  readonly standing: Standing;
}

/** Looks at crons that other pods hold, again and again, and raises the alarms that those can't: a holder may be what is wrong. */
export class AlarmMonitor {
  #cancel: CancelTimer = () => {};
  #looking: Promise<void> = Promise.resolve();
  #looks = 0;
  #stopped = false;

  constructor(private readonly deps: AlarmMonitorDeps) {}

  start(): void {
    this.#arm();
  }

  /** Resolves when the look under way is through. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#looking;
  }

  /** One look at everything that this pod watches. Never rejects. */
  async look(): Promise<void> {
    try {
      const standing = await this.deps.standstills();
      const { crons, isOver } = this.deps.watch(standing);
      const mutes = crons.length === 0 ? [] : await this.deps.mutes.list();
      for (let at = 0; at < crons.length && !this.#stopped; at += BATCH)
        await this.#lookAt(crons.slice(at, at + BATCH), { mutes, standing });
      this.#looks += 1;
      if (this.#looks % TIDY_EVERY === 1) await this.#tidy(isOver);
    } catch (error) {
      reportStoreFailure(this.deps.telemetry, { operation: 'alarm.evaluate' }, error);
    }
  }

  /** Armed when the look before has ended: over a store that is slow to answer, looks would pile up. */
  #arm(): void {
    if (this.#stopped) return;
    this.#cancel = this.deps.clock.after(this.deps.lookEveryMs, () => {
      this.#looking = this.look().then(() => this.#arm());
    });
  }

  async #lookAt(entries: readonly CatalogEntry[], known: Pick<Seen, 'mutes' | 'standing'>): Promise<void> {
    const { store, ledger } = this.deps;
    const names = entries.map(({ definition }) => definition.name);
    const [{ now, records }, read] = await Promise.all([store.read(names), ledger.readCrons(names)]);
    const runs = await this.#runsOf(names);
    const found = entries.flatMap((entry, index): Found[] => {
      const [was = null, cron] = [records[index], read[index]];
      if (!cron || !runs.has(entry.definition.name)) return [];
      return [{ entry, was, record: readRecord(was) ?? newRecord(now), known: cron }];
    });
    const settled = found.map((one) => ({ ...one, ...this.#settle(one, { ...known, runs, now }) }));
    await this.#write(settled, now);
  }

  /** The newest of each, and the first that blocks them or waits for a person, however old. */
  async #runsOf(names: readonly string[]): Promise<ReadonlyMap<string, readonly Run[]>> {
    const { ledger } = this.deps;
    const runs = new Map<string, Run[]>();
    await inGroups(names, async (name) => {
      try {
        const newest = await ledger.runs(name, RUNS);
        runs.set(name, [...newest, ...(await this.#blocking(name, newest))]);
      } catch (error) {
        // The others are watched all the same.
        reportStoreFailure(this.deps.telemetry, { operation: 'alarm.evaluate', cron: name }, error);
      }
    });
    for (const run of await ledger.runsIn('uncertain', names, 1)) runs.get(run.cron)?.push(run);
    return runs;
  }

  /** A run that has not begun, while all that is seen of its cron was skipped because of it. */
  async #blocking(cron: string, newest: readonly Run[]): Promise<Run[]> {
    const { ledger } = this.deps;
    if (newest[0]?.state !== 'skipped' || newest.some(({ state }) => !isTerminal(state))) return [];
    const [first] = await ledger.unstarted(cron, 1);
    const run = first ? await ledger.readRun(first.runId) : null;
    return run ? [run] : [];
  }

  #settle({ entry, record, known }: Found, { runs: all, now, mutes, standing }: Seen): Settled {
    const { definition, state } = entry;
    const runs = all.get(definition.name) ?? [];
    const muted = muteOf(mutes, definition) !== null;
    const successAt = latest(record.successAt, newestSuccess(runs));
    // Somebody wants it to be silent: that is no alarm, and the time it takes does not count against it afterwards.
    const quiet = known.paused !== null || state !== 'active';
    const countFrom = quiet ? quietSince(record.countFrom, now, definition.expectEveryMs) : record.countFrom;
    const nextDueAt = quiet ? null : nextDue(this.deps.schedules, entry, known.cursor);
    const standstill = standing.get(definition.name) ?? null;
    const snapshot = { definition, now, countFrom, successAt, nextDueAt, runs, standstill };
    const found = evaluateRules(snapshot).filter(({ kind }) => {
      // Nobody asked for the others.
      if (!isWatched(definition)) return kind === 'standstill' && !quiet;
      return !quiet || kind === 'failed' || kind === 'uncertain';
    });
    return settle(definition.name, { ...record, countFrom, successAt }, { found, now, muted });
  }

  /** Of pods that look at the same time one manages to write what it found, and that one tells. */
  async #write(
    settled: readonly (Settled & { readonly entry: CatalogEntry; readonly was: string | null })[],
    now: number,
  ) {
    const swaps = settled.map(({ entry, was, record }): Swap => ({
      cron: entry.definition.name,
      was,
      is: JSON.stringify(record),
    }));
    const changed = swaps.filter(({ was, is }) => was !== is);
    const written = await this.deps.store.swap(changed);
    const won = new Set(changed.filter((_, index) => written[index] === true).map(({ cron }) => cron));
    const telling = settled.filter(({ entry, tell }) => tell.length > 0 && won.has(entry.definition.name));
    await this.#tell(
      telling.map(({ entry, record, tell }) => ({ cron: entry.definition.name, record, tell })),
      now,
    );
  }

  /** Noted as told only afterwards: a pod that dies in between leaves it to the next look, of whichever pod. */
  async #tell(telling: readonly (Settled & { readonly cron: string })[], now: number): Promise<void> {
    if (telling.length === 0) return;
    await this.deps.tell(
      telling.flatMap(({ tell }) => tell),
      now,
    );
    const swaps = telling.map(({ cron, record, tell }) => ({
      cron,
      was: JSON.stringify(record),
      is: JSON.stringify(told(record, tell)),
    }));
    await this.deps.store.swap(swaps);
  }

  /** What was wrong with a cron that nobody watches any more is over. */
  async #tidy(isOver: Watch['isOver']): Promise<void> {
    const over = (await this.deps.store.names()).filter((name) => name !== MUTES && isOver(name)).slice(0, BATCH);
    if (over.length === 0) return;
    const { now, records } = await this.deps.store.read(over);
    for (const [index, cron] of over.entries()) {
      const was = records[index] ?? null;
      const { record, tell } = settle(cron, readRecord(was) ?? newRecord(now), { found: [], now, muted: false });
      if (record.untold.length === 0) await this.deps.store.swap([{ cron, was, is: null }]);
      else if ((await this.deps.store.swap([{ cron, was, is: JSON.stringify(record) }]))[0]) {
        await this.#tell([{ cron, record, tell }], now);
      }
    }
  }
}

/** About now, but not at each look another time: a record that changes is written. */
function quietSince(known: number, now: number, expectEveryMs = Infinity): number {
  return now - known < Math.min(ROUGHLY_MS, expectEveryMs / 4) ? known : now;
}

function latest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

type Schedules = SharedSchedules;

/**
 * When the first instant of the newest generation that nobody has accounted for is due, epoch milliseconds; `null` for none.
 * Earlier generations are left out: their last instants are accounted for by whoever takes the cron over, at once.
 */
function nextDue(schedules: Schedules, { definition, since }: CatalogEntry, cursor: number | null): number | null {
  const schedule = schedules.of(definition);
  const next = schedule?.next(Math.max(since, cursor ?? since)) ?? null;
  return schedule && next !== null ? next + spreadOf(definition.name, schedule.spreadOverMs) : null;
}
