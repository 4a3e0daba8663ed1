export { systemClock, sleep } from './clock.js';
export type { CancelTimer, Clock } from './clock.js';

export {
  FencepostError,
  FenceExhaustedError,
  LeaseBusyError,
  LeaseLostError,
  SetupError,
  StaleFenceError,
  StoreAwayError,
} from './errors.js';
export type { LossReason } from './errors.js';

export { NO_FENCE, formatFence, parseFence } from './fence.js';
export type { Fence } from './fence.js';

export { mustStop, renewed, stopAt, trustedUntil } from './holding/lease.js';
export type { Grant, Term } from './holding/lease.js';

export type {
  AcquireReply,
  AcquireRequest,
  Holding,
  LeaseStore,
  QuorumMember,
  StopWatching,
} from './store/lease-store.js';
export { RedisLeaseStore } from './store/redis-lease-store.js';
export type { RedisLeaseStoreOptions } from './store/redis-lease-store.js';
export { MemoryLeaseStore } from './store/memory-lease-store.js';

export { observers } from './telemetry/lease-events.js';
export type { LeaseEvent, LeaseEventName, LeaseEvents, LeaseObserver } from './telemetry/lease-events.js';

export { LeaseKeeper } from './holding/lease-keeper.js';
export type {
  LeaseKeeperOptions,
  TryAcquireManyOptions,
  TryAcquireOptions,
  WantedLease,
} from './holding/keeper-options.js';
export type { AcquireAnswer, Lease, NotAcquired } from './holding/held-lease.js';

export { checkedOptions } from './checked-options.js';
export { isAmbiguous, parseDuration } from './duration.js';
export { knownInstead, nearNames } from './near-names.js';
export { resourceName, resourceType } from './resource.js';
export type { ResourceName } from './resource.js';
export { hashResource, ownerPrefix, processIdentity } from './identity.js';

export { RedisFencedRows } from './fencing/redis-fenced-rows.js';
export type { FencedWrite, JournalEntry, RedisFencedRowsOptions, TurnedDown } from './fencing/redis-fenced-rows.js';

export { RedisScript, loadScripts } from './redis/redis-script.js';
export type { RedisClient } from './redis/redis-script.js';
export { watchChannel } from './redis/redis-channel.js';
export { redisChannel, redisKeys } from './redis/redis-keys.js';
export type { KeyBuilder, KeySpace } from './redis/redis-keys.js';
export { isRedisUrl, redactUrl } from './redis/redis-address.js';
export { REDIS_OPTION, isRedisOption, shownRedisOption } from './redis/redis-option.js';
export { redisFromEnvironment } from './redis/redis-environment.js';
export type { RedisOption } from './redis/redis-option.js';
export { closeRedis, connectRedis } from './redis/redis-connection.js';
export type { ConnectOptions } from './redis/redis-connection.js';

export { Leases } from './holding/leases.js';
export type { AcquireOptions, LeasesOptions, WaitOptions } from './holding/leases.js';
export type { LeaseGroup } from './holding/lease-group.js';
export { currentLease } from './holding/current-lease.js';
export { connectLeases } from './connect-leases.js';
export type { ConnectLeasesOptions } from './connect-leases.js';

export { NotReplicatedError } from './redis/redis-wait.js';
export { probeRedis, readServers } from './redis/redis-probe.js';
export type { ProbeOptions } from './redis/redis-probe.js';
export type { ServerFacts } from './redis/server-facts.js';
export { judgeHistory } from './redis/server-history.js';
export type { History } from './redis/server-history.js';
export { judgeServer } from './redis/server-judgement.js';
export type { Criticality, Demands, Finding, FindingCode } from './redis/server-judgement.js';
export type {
  ClusterTarget,
  HostAndPort,
  RedisTarget,
  SentinelAddress,
  SentinelTarget,
  UrlTarget,
} from './redis/redis-target.js';
export { EtcdLeaseStore } from './etcd/etcd-lease-store.js';
export type { EtcdLeaseStoreOptions } from './etcd/etcd-lease-store.js';
export { EtcdError } from './etcd/etcd-error.js';
export type { EtcdOptions, EtcdUser } from './etcd/etcd-options.js';

export { Semaphore, Semaphores } from './coordination/semaphore.js';
export type { PlaceOptions, PlaceWaitOptions, SemaphoreOptions, SemaphoresOptions } from './coordination/semaphore.js';
export { MemorySemaphoreStore } from './coordination/memory-semaphore-store.js';
export { RedisSemaphoreStore } from './coordination/redis-semaphore-store.js';
export type { RedisSemaphoreStoreOptions } from './coordination/redis-semaphore-store.js';
export type { SemaphoreStore } from './coordination/semaphore-store.js';
export { SingleFlight } from './coordination/single-flight.js';
export type { SingleFlightOptions } from './coordination/single-flight.js';
export type { FlightOptions } from './coordination/flight-options.js';
export type { BuildContext } from './coordination/flight.js';
export { FlightTimeoutError, FlightValueError } from './coordination/flight-errors.js';
export { Election } from './coordination/election.js';
export type { CampaignOptions, ElectionOptions, Leadership } from './coordination/election.js';
export type { Leader } from './coordination/leaders.js';

export { RedisFencedValues } from './fencing/redis-fenced-values.js';
export type { RedisFencedValuesOptions } from './fencing/redis-fenced-values.js';
export { MemoryFencedValues } from './fencing/memory-fenced-values.js';
export type { MemoryFencedValuesOptions } from './fencing/memory-fenced-values.js';
export type { FencedValue, FencedValues, SetValueOptions } from './fencing/fenced-values.js';

export { scrub } from './telemetry/scrub.js';
export { isSuspicious, scrubText } from './telemetry/scrub-text.js';
export { leaseLog } from './telemetry/lease-log.js';
export type { LeaseLogOptions, LeaseLogger } from './telemetry/lease-log.js';
export type { LogLevel } from './telemetry/log-lines.js';
export type { TtlAdvice, TtlVerdict } from './telemetry/ttl-advice.js';

export { QuorumLeaseStore } from './quorum/quorum-lease-store.js';
export type { NamedMember, QuorumLeaseStoreOptions } from './quorum/quorum-options.js';
export { connectQuorum } from './quorum/redis-quorum.js';
export type { ConnectQuorumOptions, RedisQuorum } from './quorum/redis-quorum.js';
export { QuorumUnavailableError } from './quorum/quorum-unavailable-error.js';
export { PostgresLeaseStore } from './postgres/postgres-lease-store.js';
export type { PostgresLeaseStoreOptions } from './postgres/postgres-lease-store.js';
export { createFenceTable, createLeaseTable } from './postgres/table.js';
export type { TableName } from './postgres/table.js';
export { watchPostgresChannel } from './postgres/watch-channel.js';
export type { SqlClient, SqlConnection, SqlPool, SqlQuery, SqlResult } from './postgres/sql-client.js';
export { identifier, sql } from './fencing/sql.js';
export type { SqlFragment } from './fencing/sql.js';
export { fencedSql } from './fencing/fenced-sql.js';
export type { Fenced, FencedSql, FencedSqlOptions, NumberedFence } from './fencing/fenced-sql.js';
export { runFenced } from './fencing/run-fenced.js';
export type { FencedOutcome, FencedStatements } from './fencing/run-fenced.js';
export { transition } from './fencing/transition.js';
export type { RowState, Transition, TransitionOutcome } from './fencing/transition.js';
export { BadFenceHeadersError, fenceHeaders, readFenceHeaders } from './fencing/fence-headers.js';
export type { FenceHeaders, IncomingFenceHeaders } from './fencing/fence-headers.js';
export { MemoryFenceGate } from './fencing/fence-gate.js';
export type { FenceGate, FenceGateOptions } from './fencing/fence-gate.js';
export { PostgresFenceGate } from './fencing/postgres-fence-gate.js';
export type { PostgresFenceGateOptions } from './fencing/postgres-fence-gate.js';
