/** One statement as `pg` takes it: `$1` in the text is the first value. */
export interface SqlQuery {
  readonly text: string;
  /** The same with a `?` for each value, as `mysql2` takes it. */
  readonly sql?: string;
  /** A mutable array, because the type that `pg` asks for is one; nothing here changes it. */
  readonly values?: unknown[];
}

export interface SqlResult {
  readonly rows: readonly unknown[];
  /** Of the rows that were changed or found; `null` for statements that count none. */
  readonly rowCount: number | null;
}

/** The interface of a PostgreSQL client that is needed: `Pool`, `Client` and `PoolClient` of `pg` have it. */
export interface SqlClient {
  query(query: SqlQuery): Promise<SqlResult>;
}

/** A connection that was taken out of a pool. */
export interface SqlConnection extends SqlClient {
  on(event: 'notification', listener: (message: { readonly payload?: string | undefined }) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  /** @param destroy whether it is closed instead of used again */
  release(destroy?: boolean): void;
}

/** A `Pool` of `pg` is one. */
export interface SqlPool extends SqlClient {
  connect(): Promise<SqlConnection>;
}
