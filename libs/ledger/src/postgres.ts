export { PoolExhaustedError } from './postgres/borrow-connection.js';
export { readPostgresFacts } from './postgres/postgres-examination.js';
export type { PostgresFacts } from './postgres/postgres-examination.js';
export { sqlState } from './postgres/postgres-failure.js';
export { PostgresLedgerAccess } from './postgres/postgres-ledger-access.js';
export type { PostgresLedgerOptions } from './postgres/postgres-ledger-access.js';
export { PostgresLedger } from './postgres/postgres-ledger.js';
export { migrateLedger } from './postgres/postgres-migrations.js';
export { sqlJson } from './postgres/postgres-value.js';
export {
  TransactionLostError,
  TransactionMisusedError,
  TransactionUnknownError,
} from './postgres/transaction-errors.js';
