import {
  DAY,
  describeFindings,
  happenedAt,
  HOUR,
  limitsOf,
  NOW,
  postgresOf,
  redisOf,
  withBoth,
  withOne,
  withServer,
} from './doctor.stage.js';

const critical = withBoth({ critical: ['charge'] });
const historyLost = { address: 'x', code: 'HISTORY_LOST', text: 'Another one.' };
const unfit = { about: 'invoice:*', verdict: 'too-short', ttlMs: 1_000, advisedTtlMs: 5_000 };
const ofPostgres = { ledger: 'postgres', postgres: postgresOf() };

describeFindings('doctor-stores', [
  ['no findings', {}, null],
  ['the journal could not be asked', { unread: [{ what: 'journal', error: 'away' }] }, 'bad UNREAD journal'],
  ['Redis evicts', withServer({ evictionPolicy: 'allkeys-lru' }), 'bad EVICTION redis 127.0.0.1:6379'],
  ['Redis is old', withServer({ version: '6.0.9' }), 'bad OLD_VERSION redis 127.0.0.1:6379'],
  ['Redis is a replica', withServer({ role: 'slave' }), 'bad REPLICA redis 127.0.0.1:6379'],
  ['Redis keeps nothing', withServer({ appendOnly: false }), 'warn NO_PERSISTENCE redis 127.0.0.1:6379'],
  [
    '… and a duplicate is damage',
    { ...critical, ...withServer({ appendOnly: false }) },
    'bad NO_PERSISTENCE redis 127.0.0.1:6379',
  ],
  [
    '… and runs are in PostgreSQL',
    { ...withBoth({ critical: ['charge'], ledger: 'postgres' }), ...withServer({ appendOnly: false }), ...ofPostgres },
    'warn NO_PERSISTENCE redis 127.0.0.1:6379',
  ],
  ['Redis syncs each second', withServer({ appendFsync: 'everysec' }), 'note APPEND_FSYNC redis 127.0.0.1:6379'],
  [
    '… and a duplicate is damage',
    { ...critical, ...withServer({ appendFsync: 'everysec' }) },
    'bad APPEND_FSYNC redis 127.0.0.1:6379',
  ],
  ['a replica follows unguarded', withServer({ replicas: 1 }), 'warn ASYNC_REPLICATION redis 127.0.0.1:6379'],
  [
    '… and a duplicate is damage',
    { ...critical, ...withServer({ replicas: 1 }) },
    'bad ASYNC_REPLICATION redis 127.0.0.1:6379',
  ],
  [
    '… and all pods wait for it',
    { ...withBoth({ critical: ['charge'], waitReplicas: 1 }), ...withServer({ replicas: 1 }) },
    null,
  ],
  [
    '… and one pod does not',
    { ...withOne({ critical: ['charge'], waitReplicas: 1 }), ...withServer({ replicas: 1 }) },
    'bad ASYNC_REPLICATION redis 127.0.0.1:6379',
  ],
  ['Redis could not write its file', withServer({ appendFails: true }), 'warn APPEND_FAILS redis 127.0.0.1:6379'],
  ['Redis has evicted keys', withServer({ evictedKeys: 3 }), 'warn KEYS_WERE_EVICTED redis 127.0.0.1:6379'],
  [
    'Redis is nearly full',
    withServer({ usedBytes: 95, limitBytes: 100 }),
    'warn MEMORY_NEARLY_FULL redis 127.0.0.1:6379',
  ],
  [
    'Redis has another time',
    withServer({ clock: { aheadMs: 5_000, uncertainMs: 1 } }),
    'warn CLOCK_SKEW redis 127.0.0.1:6379',
  ],
  ['Redis answers not everything', withServer({ unasked: ['TIME'] }), 'warn UNCHECKED redis 127.0.0.1:6379'],
  [
    'its history was lost today',
    { redis: redisOf({ changes: [{ ...historyLost, at: NOW - HOUR }] }) },
    'warn HISTORY_LOST redis x',
  ],
  [
    'its history was lost days ago',
    { redis: redisOf({ changes: [{ ...historyLost, at: NOW - 2 * DAY }] }) },
    'note HISTORY_LOST redis x',
  ],
  ['its history was lost long ago', { redis: redisOf({ changes: [{ ...historyLost, at: NOW - 8 * DAY }] }) }, null],
  [
    'Redis was restarted',
    { redis: redisOf({ changes: [{ ...historyLost, code: 'RESTARTED', at: NOW - HOUR }] }) },
    'note RESTARTED redis x',
  ],
  [
    'a pod noticed a lost history',
    { happened: [happenedAt(HOUR, 'store.warning', { detail: { code: 'HISTORY_LOST', found: 'Lost.' } })] },
    'warn HISTORY_LOST redis of the leases',
  ],
  [
    'a pod noticed what is known',
    {
      redis: redisOf({ changes: [{ ...historyLost, at: NOW - HOUR }] }),
      happened: [happenedAt(HOUR, 'store.warning', { detail: { code: 'HISTORY_LOST', found: 'Lost.' } })],
    },
    'warn HISTORY_LOST redis x',
  ],
  ['definitions were lost', { lost: { count: 1, names: ['a'] } }, 'bad DEFINITIONS_LOST catalog'],
  ['the catalog was made anew', { bornAt: NOW - HOUR }, 'warn CATALOG_REBORN catalog'],
  ['the catalog was made at the first start', { bornAt: NOW - 5 * HOUR + 10_000 }, null],
  ['the catalog was made by younger workers', { bornAt: NOW - 6 * HOUR }, null],
  [
    'the queue of an app is paused, and that of a group is not',
    { redis: redisOf({ queues: [limitsOf({ queue: 'shop.only-0123abcd', pausedUnlike: 'shop' })] }) },
    'warn QUEUE_NOT_PAUSED queue shop.only-0123abcd',
  ],
  ['a queue is paused', { redis: redisOf({ queues: [limitsOf({ isPaused: true })] }) }, 'bad QUEUE_PAUSED queue runs'],
  [
    'a queue has a concurrency',
    { redis: redisOf({ queues: [limitsOf({ concurrency: 4 })] }) },
    'note QUEUE_CONCURRENCY queue runs',
  ],
  [
    'runs wait in a queue with a concurrency',
    { redis: redisOf({ queues: [limitsOf({ concurrency: 1, waiting: 2 })] }) },
    'warn QUEUE_CONCURRENCY queue runs',
  ],
  [
    'runs wait in a queue with a rate limit',
    { redis: redisOf({ queues: [limitsOf({ rate: { max: 1, durationMs: 20_000 }, waiting: 1 })] }) },
    'warn QUEUE_RATE_LIMIT queue runs',
  ],
  ['runs wait in a queue without limits', { redis: redisOf({ queues: [limitsOf({ waiting: 9 })] }) }, null],
  [
    'leases are held too long',
    { happened: [happenedAt(HOUR, 'lease.ttl-unfit', { detail: unfit })] },
    'warn TTL_UNFIT invoice:*',
  ],
  ['there are no tables', { postgres: postgresOf({ version: 0 }) }, 'bad NO_TABLES postgres schema fencepost'],
  [
    'the tables are old',
    { postgres: postgresOf({ version: 1, expectedVersion: 2 }) },
    'bad OLD_TABLES postgres schema fencepost',
  ],
  [
    'the tables are newer than this build',
    { postgres: postgresOf({ version: 3, minimum: 2 }) },
    'bad NEWER_TABLES postgres schema fencepost',
  ],
  ['the tables are newer and admit this build', { postgres: postgresOf({ version: 2 }) }, null],
  [
    'the functions are those of other builds',
    { postgres: postgresOf({ functionsFit: false }) },
    'bad OTHER_FUNCTIONS postgres schema fencepost',
  ],
  [
    'rights are missing',
    { postgres: postgresOf({ version: null, missing: ['USAGE on fencepost'] }) },
    'bad MISSING_RIGHTS postgres schema fencepost',
  ],
  ['commits are not synced', { postgres: postgresOf({ settings: { fsync: 'off' } }) }, 'bad POSTGRES_SETTING postgres'],
  [
    'pages may be half-written',
    { postgres: postgresOf({ settings: { full_page_writes: 'off' } }) },
    'warn POSTGRES_SETTING postgres',
  ],
]);
