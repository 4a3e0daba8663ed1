/** The validated options of `JobsModule`: {@link JobsSettings}. */
export const JOBS_SETTINGS = Symbol('JOBS_SETTINGS');
/** The {@link Ledger} of this process. */
export const LEDGER = Symbol('LEDGER');
/** The {@link ReadStores} of this process: the ledger, for whatever only looks. */
export const READ_STORES = Symbol('READ_STORES');
/** The connection on which a ledger in Redis waits for replicas, or `null` where it waits for none. */
export const LEDGER_REDIS = Symbol('LEDGER_REDIS');
/** The {@link Database} of a ledger in PostgreSQL, or `null`. */
export const DATABASE = Symbol('DATABASE');
/** The store of the crons' leases, and what closes it: an `OwnedLeaseStore`. */
export const OPENED_CRON_LEASES = Symbol('OPENED_CRON_LEASES');
/** The `LeaseStore` with the leases of crons, which one's own leases never meet. */
export const CRON_LEASE_STORE = Symbol('CRON_LEASE_STORE');
/** The `Leases` of this process on crons. */
export const CRON_LEASES = Symbol('CRON_LEASES');
/** The {@link Catalog} of this process. */
export const CATALOG = Symbol('CATALOG');
/** The {@link Membership} of this process: which pods are live, and which crons are overdue. */
export const MEMBERSHIP = Symbol('MEMBERSHIP');
/** The {@link PodRegistry} of this deployment: the live pods, and how each is doing. */
export const POD_REGISTRY = Symbol('POD_REGISTRY');
/** The {@link ChosenRoles} of this process. */
export const CHOSEN_ROLES = Symbol('CHOSEN_ROLES');
/** What this process does: a list of {@link Role}s, empty where nothing runs. */
export const ROLES = Symbol('ROLES');
/** The {@link RunQueue} that runs are enqueued into. */
export const RUN_QUEUE = Symbol('RUN_QUEUE');
/** The {@link SchedulerRunner} of this process; `null` where it is no scheduler. */
export const SCHEDULER = Symbol('SCHEDULER');
/** A source of numbers in [0, 1), for jitter. */
export const RANDOM = Symbol('RANDOM');
/** The {@link AlarmQueue} of this process: webhook messages and pings. */
export const ALARM_QUEUE = Symbol('ALARM_QUEUE');
/** The {@link Tracing} of this process, or `null`. */
export const TRACING = Symbol('TRACING');
/** The {@link CronExplorer} of a worker. */
export const CRON_EXPLORER = Symbol('CRON_EXPLORER');
/** The {@link CronDiscovery} of a worker. */
export const CRON_DISCOVERY = Symbol('CRON_DISCOVERY');
/** The {@link RunNotifications} of a worker. */
export const RUN_NOTIFICATIONS = Symbol('RUN_NOTIFICATIONS');
/** The {@link WorkerRunner} of this process; `null` where it is no worker. */
export const WORKER = Symbol('WORKER');
/** The connection of this process' BullMQ worker; `null` where it is no worker. */
export const WORKER_REDIS = Symbol('WORKER_REDIS');
/** Stands for this `JobsModule` among the {@link AwaitedWorkers}. */
export const WORKER_TOKEN = Symbol('WORKER_TOKEN');
