/** What a lost lease costs: `efficiency` work done twice, `correctness` damage, so acknowledged writes must be durable. */
export type Criticality = 'efficiency' | 'correctness';

export type FindingCode =
  | 'OLD_VERSION'
  | 'EVICTION'
  | 'REPLICA'
  | 'NO_PERSISTENCE'
  | 'NO_APPEND_ONLY_FILE'
  | 'APPEND_FAILS'
  | 'APPEND_FSYNC'
  | 'COMMIT_NOT_DURABLE'
  | 'ASYNC_REPLICATION'
  | 'KEYS_WERE_EVICTED'
  | 'MEMORY_NEARLY_FULL'
  | 'CLOCK_SKEW'
  | 'UNCHECKED'
  | 'RESTARTED'
  | 'HISTORY_LOST';

/** A guarantee that a server does not give: what was expected, what was found, what to do. */
export interface Finding {
  readonly code: FindingCode;
  /** `refuse`: leases must not be kept there. `warn`: they may, if an operator accepts the risk. */
  readonly danger: 'refuse' | 'warn';
  readonly message: string;
}
