import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { StopWatching } from '@fencepost/lease/store';
import type { Catalog, CronPing } from '@fencepost/ledger/catalog';
import type { Telemetry } from '../telemetry/telemetry.js';
import { reportStoreFailure } from '../telemetry/report-failure.js';

export interface PingCacheDeps {
  readonly catalog: Pick<Catalog, 'read' | 'watch'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** A hint of a change may get lost. */
const AGAIN_MS = 60_000;

/** Which addresses crons have, as a worker knows them: it also carries out runs of crons that are made at run time. */
export class PingCache {
  #pings: ReadonlyMap<string, CronPing> | null = null;
  #cancel: CancelTimer = () => {};
  #stopWatching: StopWatching = () => Promise.resolve();
  #reading: Promise<void> = Promise.resolve();
  #waits = false;
  #stopped = false;

  constructor(private readonly deps: PingCacheDeps) {}

  /** `undefined` for a cron without; `null` while the catalog could not be read yet. */
  of(cron: string): CronPing | null | undefined {
    return this.#pings === null ? null : this.#pings.get(cron);
  }

  /** Resolves after the first reading, also when it was not answered. */
  async start(): Promise<void> {
    try {
      this.#stopWatching = await this.deps.catalog.watch(() => this.#refresh());
    } catch (error) {
      this.#trouble(error);
    }
    this.#refresh();
    await this.#reading;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#reading;
    await this.#stopWatching();
  }

  /** One reading at a time; hints that come during one share the next. */
  #refresh(): void {
    if (this.#waits || this.#stopped) return;
    this.#waits = true;
    this.#cancel();
    this.#reading = this.#reading.then(() => this.#read());
  }

  async #read(): Promise<void> {
    this.#waits = false;
    if (this.#stopped) return;
    try {
      const { entries } = await this.deps.catalog.read();
      const found = entries.flatMap(({ definition: { name, ping } }) => (ping ? [[name, ping] as const] : []));
      this.#pings = new Map(found);
    } catch (error) {
      this.#trouble(error);
    }
    if (!this.#stopped && !this.#waits) this.#cancel = this.deps.clock.after(AGAIN_MS, () => this.#refresh());
  }

  #trouble(error: unknown): void {
    reportStoreFailure(this.deps.telemetry, { operation: 'ping.read' }, error);
  }
}
