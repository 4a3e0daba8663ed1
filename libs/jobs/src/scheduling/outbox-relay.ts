import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { StopWatching } from '@fencepost/lease/store';
import type { TransactionalLedger } from '@fencepost/ledger';
import { cronOfRun } from '@fencepost/ledger/run';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Dispatcher } from './dispatcher.js';
import type { Engine } from './engine.js';
import { inGroups } from './in-groups.js';
import type { Membership } from '../membership/membership.js';
import { reportStoreFailure } from '../telemetry/report-failure.js';

export interface OutboxRelayDeps {
  readonly ledger: Pick<TransactionalLedger, 'pending' | 'watchTriggered' | 'waitingCrons'>;
  readonly dispatcher: Pick<Dispatcher, 'deliver'>;
  readonly membership: Pick<Membership, 'publishDue'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Between two looks for runs of whose transaction nobody was told. */
  readonly lookEveryMs: number;
  /** Knows which crons this pod holds: of the pods that hear of a run, the holder hands it over. */
  readonly engine: Pick<Engine, 'held'>;
}

/** The ledger tells of so many pending runs at once. */
const MAX_PENDING = 100;
/** Then others have their turn; what is left is found by the next look. */
const MAX_ROUNDS = 50;
const CRONS_AT_ONCE = 200;

/**
 * Hands runs to the queue that were asked for on somebody's own transaction, once that has committed.
 *
 * A hint says so at once. One that got lost costs seconds: all waiting runs are looked for again and again. A run is handed
 * over under the number it has, so that pods which do it at the same time put one job into the queue.
 */
export class OutboxRelay {
  /** Crons whose runs are being handed over, and whether there was word of more meanwhile. */
  readonly #passes = new Map<string, { again: boolean }>();
  readonly #working = new Set<Promise<void>>();
  #cancel: CancelTimer = () => {};
  #stopped = false;

  constructor(private readonly deps: OutboxRelayDeps) {}

  /** @throws when the ledger could not be listened to */
  watch(): Promise<StopWatching> {
    return this.deps.ledger.watchTriggered((runId) => {
      const cron = cronOfRun(runId);
      if (this.deps.engine.held(cron)) this.look(cron);
    });
  }

  start(): void {
    this.#arm();
  }

  /** Resolves when nothing of it runs any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await Promise.all(this.#working);
  }

  /** It may have waiting runs: of one that was just taken over, nobody may have heard the hints. */
  look(cron: string): void {
    if (!this.#stopped) this.#track(this.#relay(cron));
  }

  /** Armed when the look before has ended: over a store that is slow to answer, looks would pile up. */
  #arm(): void {
    if (this.#stopped) return;
    this.#cancel = this.deps.clock.after(this.deps.lookEveryMs, () => {
      this.#track(this.#lookAround().then(() => this.#arm()));
    });
  }

  /** At all crons, whoever holds them. */
  async #lookAround(): Promise<void> {
    try {
      const crons = await this.deps.ledger.waitingCrons(CRONS_AT_ONCE);
      await inGroups(crons, (cron) => this.#relay(cron));
    } catch (error) {
      reportStoreFailure(this.deps.telemetry, { operation: 'outbox.read' }, error);
    }
  }

  /** One at a time of each cron; never rejects. */
  async #relay(cron: string): Promise<void> {
    const under = this.#passes.get(cron);
    if (under) return void (under.again = true);
    const pass = { again: false };
    this.#passes.set(cron, pass);
    try {
      do {
        pass.again = false;
        await this.#handOver(cron);
      } while (pass.again && !this.#stopped);
      // Whoever holds the cron sweeps its runs from now on.
      await this.deps.membership.publishDue(new Map([[cron, 0]]));
    } catch (error) {
      reportStoreFailure(this.deps.telemetry, { operation: 'outbox.relay', cron }, error);
    } finally {
      this.#passes.delete(cron);
    }
  }

  async #handOver(cron: string): Promise<void> {
    for (let rounds = 0; rounds < MAX_ROUNDS && !this.#stopped; rounds += 1) {
      const pending = await this.deps.ledger.pending(cron);
      await this.deps.dispatcher.deliver(pending);
      if (pending.length < MAX_PENDING) return;
    }
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#working.delete(tracked));
    this.#working.add(tracked);
  }
}
