import { SetupError, type Clock } from '@fencepost/lease';
import { sleep, type CancelTimer } from '@fencepost/lease/internal';
import type { Telemetry } from '../telemetry/telemetry.js';

/** Whether one of the stores that a process needs can be worked with. */
export interface StoreStatus {
  /** `leases`: where a scheduler keeps the leases of crons, if that is not the Redis of the deployment. */
  readonly store: 'redis' | 'postgres' | 'leases';
  readonly up: boolean;
  /** One sentence; `null` while it is up. */
  readonly message: string | null;
}

/** By the name of each store `up`, or a sentence. */
type StoreIndicator = { readonly status: 'up' | 'down' } & Readonly<Partial<Record<StoreStatus['store'], string>>>;

export interface StoreHealthDeps {
  /** Rejects where the store can't be worked with: with a `SetupError` where it answers and is not as it must be. */
  readonly ask: Readonly<Partial<Record<StoreStatus['store'], () => Promise<unknown>>>>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** Below the second in which an orchestrator's probe expects its answer by default. */
const ANSWER_MS = 800;
/** Probes within this time share an answer: they cost the stores nothing, however often they come. */
const FRESH_MS = 1_000;
const LOOK_MS = 60_000;

const NAMES = { redis: 'Redis', postgres: 'PostgreSQL', leases: 'The lease store' };

/** Checks each store that this process needs: for probes, and once a minute. */
export class StoreHealth {
  #asked: { readonly at: number; readonly answer: Promise<readonly StoreStatus[]> } | undefined;
  /** What was last said to be unfit: probes come often, and a line a minute is enough. */
  #said: string | null = null;
  #cancel: CancelTimer = () => {};
  #stopped = false;

  constructor(private readonly deps: StoreHealthDeps) {}

  /** Never rejects, and takes less than a second. */
  check(): Promise<readonly StoreStatus[]> {
    const now = this.deps.clock.monotonic();
    if (this.#asked && now - this.#asked.at < FRESH_MS) return this.#asked.answer;
    const { ask } = this.deps;
    const stores = (Object.keys(NAMES) as StoreStatus['store'][]).flatMap((store) => {
      const one = ask[store];
      return one ? [this.#statusOf(store, one)] : [];
    });
    const answer = Promise.all(stores);
    this.#asked = { at: now, answer };
    return answer;
  }

  /** The same as an indicator of `@nestjs/terminus`: `health.check([() => stores.isHealthy('fencepost')])`. */
  async isHealthy<Key extends string>(key: Key): Promise<Record<Key, StoreIndicator>> {
    const stores = await this.check();
    const status = stores.every(({ up }) => up) ? ('up' as const) : ('down' as const);
    const each = Object.fromEntries(stores.map(({ store, message }) => [store, message ?? 'up']));
    return { [key]: { ...each, status } } as Record<Key, StoreIndicator>;
  }

  /** A schema that was migrated under a running process is noticed within a minute, also where no probe asks. */
  start(): void {
    if (this.#stopped) return;
    this.#cancel = this.deps.clock.after(LOOK_MS, () => {
      this.#said = null;
      void this.check().then(() => this.start());
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  async #statusOf(store: StoreStatus['store'], ask: () => Promise<unknown>): Promise<StoreStatus> {
    const { clock } = this.deps;
    const answered = new AbortController();
    const late = sleep(clock, ANSWER_MS, answered.signal).then(() => false);
    try {
      const inTime = await Promise.race([ask().then(() => true), late]);
      return inTime
        ? { store, up: true, message: null }
        : { store, up: false, message: `${NAMES[store]} does not answer in time` };
    } catch (error) {
      if (!(error instanceof SetupError)) return { store, up: false, message: `${NAMES[store]} does not answer` };
      this.#report(error.message);
      return { store, up: false, message: error.message };
    } finally {
      answered.abort();
    }
  }

  #report(found: string): void {
    if (this.#said !== found) this.deps.telemetry.emit('store.unfit', { found });
    this.#said = found;
  }
}
