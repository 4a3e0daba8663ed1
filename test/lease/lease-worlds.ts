import type { LeaseStore } from '@fencepost/lease';
import { MemoryLeaseStore, ManualClock } from '@fencepost/lease/testing';
import type { Fault, LeaseWorld } from './lease-commands.js';
import { leaseSandbox, type PostgresSandbox } from '../support/postgres-sandbox.js';

/** The adapter in memory. */
export class MemoryLeaseWorld implements LeaseWorld {
  readonly #clock = new ManualClock();
  readonly #store = new MemoryLeaseStore({ clock: this.#clock });

  store(): MemoryLeaseStore {
    // Nothing takes no time, or two fences would be issued in one instant.
    this.#clock.jumpWall(1);
    return this.#store;
  }

  now(): number {
    return this.#clock.now();
  }

  step(ms: number): void {
    this.#clock.jumpWall(ms);
  }

  readonly faults = {
    clear: async (book) => {
      this.#store.clear();
      book.forget();
    },
  } satisfies Record<string, Fault>;
}

/** A PostgreSQL, whose clock is this machine's and stays what it is. */
export class PostgresLeaseWorld implements LeaseWorld {
  private constructor(private readonly sandbox: PostgresSandbox) {}

  static async open(url: string): Promise<PostgresLeaseWorld> {
    return new PostgresLeaseWorld(await leaseSandbox(url));
  }

  /** For the next run: nothing is stored. */
  async fresh(): Promise<void> {
    await this.#truncate();
  }

  close(): Promise<void> {
    return this.sandbox.close();
  }

  store(): LeaseStore {
    return this.sandbox.store();
  }

  now(): number {
    return Date.now();
  }

  readonly faults = {
    TRUNCATE: async (book) => {
      await this.#truncate();
      book.forget();
    },
  } satisfies Record<string, Fault>;

  async #truncate(): Promise<void> {
    await this.sandbox.pool.query(`TRUNCATE "${this.sandbox.schema}".leases`);
  }
}
