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
  /** Between two searches for runs whose commit no pod was notified of. */
  readonly lookEveryMs: number;
  /** Knows which crons this pod holds: of the pods that hear of a run, the holder hands it over. */
  readonly engine: Pick<Engine, 'held'>;
}

/** Runs that the ledger returns per call. */
const MAX_PENDING = 100;
/** Then other crons get their turn; the next search finds the rest. */
const MAX_ROUNDS = 50;
const CRONS_AT_ONCE = 200;

/**
 * Enqueues runs that were requested inside a transaction of the application, once it has committed.
 *
 * A notification makes it immediate. A lost one costs seconds, because waiting runs are searched for periodically. A run is
 * enqueued under its existing delivery number, so that several pods at the same time add one job.
 */
export class OutboxRelay {
  /** Crons whose runs are being enqueued, and whether another notification came meanwhile. */
  readonly #passes = new Map<string, { again: boolean }>();
  readonly #working = new Set<Promise<void>>();
  #cancel: CancelTimer = () => {};
  #stopped = false;

  constructor(private readonly deps: OutboxRelayDeps) {}

  /** @throws when the subscription failed */
  watch(): Promise<StopWatching> {
    return this.deps.ledger.watchTriggered((runId) => {
      const cron = cronOfRun(runId);
      if (this.deps.engine.held(cron)) this.look(cron);
    });
  }

  start(): void {
    this.#arm();
  }

  /** Resolves when no call is in progress. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await Promise.all(this.#working);
  }

  /** Searches one cron: after a takeover, notifications may have been missed. */
  look(cron: string): void {
    if (!this.#stopped) this.#track(this.#relay(cron));
  }

  /** Armed when the previous search has ended: with a slow store, searches would pile up. */
  #arm(): void {
    if (this.#stopped) return;
    this.#cancel = this.deps.clock.after(this.deps.lookEveryMs, () => {
      this.#track(this.#lookAround().then(() => this.#arm()));
    });
  }

  /** Searches all crons, held by this pod or not. */
  async #lookAround(): Promise<void> {
    try {
      const crons = await this.deps.ledger.waitingCrons(CRONS_AT_ONCE);
      await inGroups(crons, (cron) => this.#relay(cron));
    } catch (error) {
      reportStoreFailure(this.deps.telemetry, { operation: 'outbox.read' }, error);
    }
  }

  /** One call per cron at a time; never rejects. */
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
      // Asks the holder of the cron for a recheck, so that it sweeps these runs from now on.
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
