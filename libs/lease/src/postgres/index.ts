export { PostgresLeaseStore } from './postgres-lease-store.js';
export type { PostgresLeaseStoreOptions } from './postgres-lease-store.js';
export { createLeaseTable, createFenceTable } from './table.js';
export { watchPostgresChannel } from './watch-channel.js';
export type { SqlClient, SqlConnection, SqlPool, SqlQuery, SqlResult } from './sql-client.js';
export { identifier, sql } from './sql.js';
export type { SqlFragment } from './sql.js';
