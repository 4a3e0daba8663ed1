import type { SqlConnection, SqlPool, SqlQuery, SqlResult } from '@fencepost/lease/postgres';

/** A caller's pool as questions see it: they never take more than a share of its connections, and the others stay with claims. */
export class PoolShare implements SqlPool {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /** @param most so many connections at once */
  constructor(
    private readonly pool: SqlPool,
    most: number,
  ) {
    this.#free = most;
  }

  async query(query: SqlQuery): Promise<SqlResult> {
    await this.#enter();
    try {
      return await this.pool.query(query);
    } finally {
      this.#leave();
    }
  }

  async connect(): Promise<SqlConnection> {
    await this.#enter();
    try {
      const connection = await this.pool.connect();
      // The pool gives a connection a release of its own each time.
      const release = connection.release.bind(connection);
      connection.release = (destroy) => {
        this.#leave();
        release(destroy);
      };
      return connection;
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  async #enter(): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((admit) => void this.#waiting.push(admit));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
