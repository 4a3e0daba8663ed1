/** The validated options of `JobsModule`: {@link JobsSettings}. */
export const JOBS_SETTINGS = Symbol('JOBS_SETTINGS');
/** The {@link Ledger} of this process. */
export const LEDGER = Symbol('LEDGER');
/** The connection on which a ledger in Redis waits for replicas, or `null` where it waits for none. */
export const LEDGER_REDIS = Symbol('LEDGER_REDIS');
/** The {@link Database} of a ledger in PostgreSQL, or `null`. */
export const DATABASE = Symbol('DATABASE');
/** The {@link Catalog} of this process. */
export const CATALOG = Symbol('CATALOG');
/** The {@link Presence} of this process: who is there, and what nobody has seen to. */
export const PRESENCE = Symbol('PRESENCE');
/** The {@link RunQueue} that runs are enqueued into. */
export const RUN_QUEUE = Symbol('RUN_QUEUE');
/** A source of numbers in [0, 1), for jitter. */
export const RANDOM = Symbol('RANDOM');
/** The connection of this process' BullMQ worker. */
export const WORKER_REDIS = Symbol('WORKER_REDIS');
