import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { Pool, PoolClient } from 'pg';

/** Many times what a statement takes. */
export const MAX_MS = 1_000;
const LOOK_MS = MAX_MS / 4;

/**
 * A pool that can be told to hurry: from then on a connection that has been used for longer than a second is cut off. The
 * network may have forgotten one without a word, and a process that ends would wait for its answer for as long as for any
 * other. What was asked there is unknown, as with any connection that breaks.
 */
export class DeadlinePool {
  /** Since when each is used, monotonic. */
  readonly #used = new Map<PoolClient, number>();
  #cancel: CancelTimer | undefined;

  constructor(
    private readonly pool: Pool,
    private readonly clock: Clock,
  ) {
    pool.on('acquire', (client) => this.#used.set(client, clock.monotonic()));
    pool.on('release', (_error, client) => this.#used.delete(client));
    pool.on('remove', (client) => this.#used.delete(client));
  }

  enforceDeadline(): void {
    if (!this.#cancel) this.#arm();
  }

  async end(): Promise<void> {
    this.enforceDeadline();
    await this.pool.end();
    this.#cancel?.();
  }

  #arm(): void {
    this.#cancel = this.clock.after(LOOK_MS, () => {
      this.#cutOff();
      this.#arm();
    });
  }

  #cutOff(): void {
    const now = this.clock.monotonic();
    for (const [client, since] of this.#used) {
      if (now - since < MAX_MS) continue;
      // With a statement under way this is no graceful close: the socket is destroyed, and whoever waits hears of it.
      if (isWhole(client)) client.end().catch(() => {});
    }
  }
}

/** What a pool lends out is a whole client, of which its type shows the part that borrowers should use. */
function isWhole(client: PoolClient): client is PoolClient & { end(): Promise<void> } {
  return 'end' in client;
}
