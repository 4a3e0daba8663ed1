/** Where the ledger's tables and functions are. */
export interface LedgerSchema {
  /** Default `fencepost`. */
  readonly schema?: string;
}

export const DEFAULT_SCHEMA = 'fencepost';
