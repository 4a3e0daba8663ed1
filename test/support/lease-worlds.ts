import type { LeaseStore } from '@fencepost/lease';
import { MemoryLeaseStore, ManualClock } from '@fencepost/lease/testing';
import type { Fault, LeaseWorld } from './lease-commands.js';
import { leaseRoom } from './postgres-room.js';
import type { PostgresRoom } from './postgres-room.js';

/** The twin in memory. */
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
  private constructor(private readonly room: PostgresRoom) {}

  static async open(url: string): Promise<PostgresLeaseWorld> {
    return new PostgresLeaseWorld(await leaseRoom(url));
  }

  /** For the next run: nothing is stored. */
  async fresh(): Promise<void> {
    await this.#truncate();
  }

  close(): Promise<void> {
    return this.room.close();
  }

  store(): LeaseStore {
    return this.room.store();
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
    await this.room.pool.query(`TRUNCATE "${this.room.schema}".leases`);
  }
}
