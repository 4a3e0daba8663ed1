import { parseSchedule } from '@fencepost/schedule';
import type { CatalogEntry, RedisCatalog, RedisLedger } from '@fencepost/jobs';
import type { Clock } from '@fencepost/lease';
import type { RedisLeaseStore } from '@fencepost/lease/redis';
import type { RedisFencedRows } from '@fencepost/lease/sinks';
import type { Holding } from '@fencepost/lease/store';
import { Archive } from './archive.js';
import type { CronSight, Sight } from './sight.js';
import type { Evidence } from './tally.js';

/** What is read; nothing here can write, and nothing asks a pod. */
export interface Stores {
  readonly catalog: Pick<RedisCatalog, 'read'>;
  readonly ledger: Pick<RedisLedger, 'readCron' | 'runs' | 'readRun' | 'skips'>;
  readonly leases: Pick<RedisLeaseStore, 'inspect'>;
  readonly sink: Pick<RedisFencedRows, 'journal' | 'turnedDown'>;
}

/** Read at each look; when the oldest of them is new, there may be more that are, and the deep limit is read. */
const NEWEST = 10;
const DEEP = 2_000;

/** The journal is read as a whole: so rarely that it takes at most a twentieth of the time, however long it has grown. */
const JOURNAL_SHARE = 20;

/** Looks at the stores, and keeps what it has seen. */
export class Observer {
  readonly archive = new Archive();
  #journalAgainAt = -Infinity;

  constructor(
    private readonly stores: Stores,
    private readonly clock: Clock,
  ) {}

  /** One look with bounded reads. */
  async look(): Promise<Sight> {
    const entries = (await this.stores.catalog.read()).entries.filter(({ state }) => state === 'firing');
    const holdings = await this.stores.leases.inspect(entries.map(({ definition }) => definition.name));
    const crons = await Promise.all(entries.map((entry, index) => this.#cron(entry, holdings[index] ?? null)));
    if (this.clock.monotonic() >= this.#journalAgainAt) await this.#journal();
    return { at: this.clock.now(), crons, turnedDown: await this.stores.sink.turnedDown() };
  }

  /**
   * What `sight` and everything before it showed.
   * @param end no instant after this one counts, epoch milliseconds
   */
  evidence(sight: Sight, end: number): Evidence {
    const crons = sight.crons.map(({ name, entry, schedule, cursor, refusals }) => {
      this.archive.extendInstants(name, { schedule, since: entry.since, through: end });
      const { archive } = this;
      const [instants, runs, skips] = [archive.instants(name), archive.runs(name), archive.skips(name)];
      const { since, generation } = entry;
      return { cron: name, generation, since, cursor, refusals, instants, runs, skips };
    });
    return { end, crons, writes: this.archive.writes, turnedDown: sight.turnedDown };
  }

  /** A last look that leaves nothing out. */
  async lookDeeply(): Promise<Sight> {
    const sight = await this.look();
    await Promise.all(
      sight.crons.map(async ({ name }) => {
        this.archive.addRuns(name, await this.stores.ledger.runs(name, DEEP));
        this.archive.addSkips(name, await this.stores.ledger.skips(name, DEEP));
      }),
    );
    await this.#journal();
    return { ...sight, turnedDown: await this.stores.sink.turnedDown() };
  }

  /** The cursor first: whatever it has passed is then among the runs and skips that are read after it. */
  async #cron(entry: CatalogEntry, holding: Holding | null): Promise<CronSight> {
    const { name } = entry.definition;
    const schedule = parseSchedule({ ...entry.definition, seed: name }, this.clock.now());
    this.archive.extendInstants(name, { schedule, since: entry.since, through: this.clock.now() });
    const { cursor, refusals } = await this.stores.ledger.readCron(name);
    const [runs, skips] = await Promise.all([this.#runs(name), this.#skips(name)]);
    return { name, entry, schedule, holding, cursor, refusals, runs, skips };
  }

  async #runs(cron: string) {
    const newest = await this.stores.ledger.runs(cron, NEWEST);
    const oldest = newest.at(-1);
    const gap = newest.length === NEWEST && oldest && !this.archive.run(cron, oldest.id);
    if (gap) this.archive.addRuns(cron, await this.stores.ledger.runs(cron, DEEP));
    const shown = new Set(newest.map(({ id }) => id));
    const older = this.archive.openRuns(cron).filter(({ id }) => !shown.has(id));
    const reread = await Promise.all(older.map(({ id }) => this.stores.ledger.readRun(id)));
    this.archive.addRuns(
      cron,
      [...reread, ...newest].filter((run) => run !== null),
    );
    return newest;
  }

  async #skips(cron: string) {
    const newest = await this.stores.ledger.skips(cron, NEWEST);
    this.archive.addSkips(cron, newest);
    return newest;
  }

  async #journal(): Promise<void> {
    const since = this.clock.monotonic();
    this.archive.addJournal(await this.stores.sink.journal());
    const now = this.clock.monotonic();
    this.#journalAgainAt = now + JOURNAL_SHARE * (now - since);
  }
}
