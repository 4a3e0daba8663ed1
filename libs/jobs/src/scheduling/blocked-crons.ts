import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { Recovery } from './recovery.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { inGroups } from './in-groups.js';
import { reportStoreFailure } from '../telemetry/report-failure.js';

export interface BlockedCronsDeps {
  readonly recovery: Pick<Recovery, 'unblock'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/**
 * A run that waits for a worker normally blocks its successors for a moment. A run whose job is gone is found by the first
 * check after this long, a run whose job is with a dead worker by the second: both within two seconds.
 */
const LOOK_EVERY_MS = 900;

/**
 * Checks the crons whose newest instant was blocked by an older run. A lost delivery would otherwise block its cron until
 * the sweep compares it with the queue, half a minute later.
 */
export class BlockedCrons {
  /** Each with the deliveries that a worker had at the last check. */
  readonly #blocked = new Map<string, ReadonlySet<string>>();
  #cancel: CancelTimer | null = null;
  #looking: Promise<void> | null = null;
  #stopped = false;

  constructor(private readonly deps: BlockedCronsDeps) {}

  note(cron: string): void {
    if (!this.#blocked.has(cron)) this.#blocked.set(cron, new Set());
    this.#arm();
  }

  /** Another pod holds the cron now. */
  leave(cron: string): void {
    this.#blocked.delete(cron);
  }

  /** Resolves when the check in progress has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    this.#blocked.clear();
    await this.#looking;
  }

  /** Armed when the previous check has ended: with a slow store, checks would pile up. */
  #arm(): void {
    if (this.#stopped || this.#cancel || this.#looking || this.#blocked.size === 0) return;
    this.#cancel = this.deps.clock.after(LOOK_EVERY_MS, () => {
      this.#cancel = null;
      this.#looking = this.#look().finally(() => {
        this.#looking = null;
        this.#arm();
      });
    });
  }

  async #look(): Promise<void> {
    const blocked = [...this.#blocked];
    this.#blocked.clear();
    await inGroups(blocked, async ([cron, taken]) => {
      try {
        const still = await this.deps.recovery.unblock(cron, taken);
        if (still.size > 0 && !this.#stopped) this.#blocked.set(cron, still);
      } catch (error) {
        reportStoreFailure(this.deps.telemetry, { operation: 'cron.unblock', cron }, error);
      }
    });
  }
}
