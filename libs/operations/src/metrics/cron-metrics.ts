/** The values that a label can take; `null` for a bounded set that is not listed. */
export type LabelValues = readonly string[] | null;

/** One metric, as registration, the table of the docs, the dashboard and the alerts know it. */
export interface MetricSpec {
  readonly name: string;
  /** Its older name, under which it is shown too; one that ends in `_ms` has milliseconds. */
  readonly alias?: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Of its values: an instant is in seconds since 1970, what is only counted has none. */
  readonly unit: 'seconds' | null;
  readonly labels: Readonly<Record<string, LabelValues>>;
  /** Of a histogram, in its unit. */
  readonly buckets?: readonly number[];
  /** Which processes show it; a quorum of Redis servers is never that of a pod, but of an application of one's own. */
  readonly by: 'scheduler' | 'worker' | 'both' | 'quorum';
}

/** The names of crons, up to a configured number, and `other` for the rest. */
export const NAMES = null as LabelValues;

/** Where a call went: the store of the leases, which may be another than that of everything else, or the queue. */
const STORES = ['leases', 'ledger', 'queue'] as const;
/** At most ten of each cron that has series of its own. */
const TAGS = null as LabelValues;

/** What people wrote of it. */
const TEXTS = null as LabelValues;

/** The app of this process. */
const OWN_APP = null as LabelValues;

/** The apps and revisions with live pods, at most 100 of them, and `other` for the rest. */
const LIVE = null as LabelValues;

/** The operations of `store.failed` and `queue.failed`, a closed type: their series begin with the first failure. */
const OPERATIONS = null as LabelValues;

/** Seconds. Most runs are claimed within milliseconds of their instant; what is a minute late is an outage. */
const DELAY_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600];

/** Seconds. From a look at a table to a report of hours; few, because there is a set of them for each cron. */
const DURATION_S = [0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 900, 3_600];

/** What a declaring pod changes in the catalog; each is an event `catalog.…` of the log. */
export const CATALOG_CHANGES = [
  'created',
  'changed',
  'reverted',
  'restored',
  'taken',
  'removed',
  'redeclared',
] as const;
/** Why a declaration of it is not in force, or may not be what people mean. */
export const CATALOG_CONFLICTS = ['superseded', 'foreign', 'withheld', 'later', 'differs', 'app_shared'] as const;

const FIRED = [
  'claimed',
  'caught_up',
  'skipped_overlap',
  'skipped_no_worker',
  'skipped_paused',
  'missed',
  'merged',
] as const;

/** What is counted as it happens. */
const COUNTED = {
  fires: {
    ...{ name: 'fencepost_fires_total', type: 'counter', unit: null, by: 'scheduler' },
    help: 'Instants that came due, by what became of them; a range of instants that went by together counts once.',
    labels: { cron: NAMES, outcome: FIRED },
  },
  fireDelay: {
    ...{ name: 'fencepost_fire_delay_seconds', type: 'histogram', unit: 'seconds', by: 'scheduler' },
    help: 'Time from the due time of an instant until the ledger accepted its run.',
    labels: {},
    buckets: DELAY_S,
  },
  leaseTransitions: {
    ...{ name: 'fencepost_cron_lease_transitions_total', type: 'counter', unit: null, by: 'scheduler' },
    help: 'Leases on crons that this pod acquired, released, lost, or took over from a suspected holder.',
    labels: { transition: ['acquired', 'released', 'lost', 'preempted'] },
  },
  fenceRejections: {
    ...{ name: 'fencepost_fence_rejections_total', type: 'counter', unit: null, by: 'both' },
    help: 'Stale writes of this pod that the ledger refused by their fence: each is a prevented duplicate.',
    labels: { cron: NAMES, at: ['claim', 'effect', 'finish'] },
  },
  redeliveries: {
    ...{ name: 'fencepost_redeliveries_total', type: 'counter', unit: null, by: 'scheduler' },
    help: 'Runs delivered again because their worker or their delivery was lost.',
    labels: {},
  },
  runs: {
    ...{ name: 'fencepost_runs_total', type: 'counter', unit: null, by: 'both' },
    help: 'Runs that this worker finished, or that became uncertain; in a scheduler, runs that an operator ended.',
    labels: { cron: NAMES, status: ['succeeded', 'failed', 'cancelled', 'uncertain'] },
  },
  retries: {
    ...{ name: 'fencepost_retries_total', type: 'counter', unit: null, by: 'worker' },
    help: 'Failed attempts that will be retried.',
    labels: { cron: NAMES },
  },
  runDuration: {
    ...{ name: 'fencepost_run_duration_seconds', type: 'histogram', unit: 'seconds', by: 'worker' },
    help: 'Duration of successful attempts.',
    labels: { cron: NAMES },
    buckets: DURATION_S,
  },
  effects: {
    ...{ name: 'fencepost_effects_total', type: 'counter', unit: null, by: 'worker' },
    help: 'Side effects by outcome; known: done by an earlier attempt and not repeated.',
    labels: { outcome: ['done', 'known', 'late', 'failed', 'unknown'] },
  },
  catalogChanges: {
    ...{ name: 'fencepost_catalog_changes_total', type: 'counter', unit: null, by: 'worker' },
    help: 'Crons whose definition this pod changed in the catalog, by what it did.',
    labels: { app: OWN_APP, change: CATALOG_CHANGES },
  },
  catalogConflicts: {
    ...{ name: 'fencepost_catalog_conflicts_total', type: 'counter', unit: null, by: 'worker' },
    help: 'Crons that this pod declares and another declaration decides, or that pods declare in contradiction.',
    labels: { app: OWN_APP, conflict: CATALOG_CONFLICTS },
  },
  storeFailures: {
    ...{ name: 'fencepost_store_failures_total', type: 'counter', unit: null, by: 'both' },
    help: 'Failed calls, by where they went; operation is one of about 50 fixed names, such as lease.acquire.',
    labels: { store: STORES, operation: OPERATIONS },
  },
  programErrors: {
    ...{ name: 'fencepost_program_errors_total', type: 'counter', unit: null, by: 'both' },
    help: 'Unexpected errors in the program itself, not caused by a store; the log has their stacks.',
    labels: {},
  },
  journalDropped: {
    ...{ name: 'fencepost_journal_dropped_total', type: 'counter', unit: null, by: 'both' },
    help: 'Ordinary events that this pod dropped from the journal because there were too many at once.',
    labels: {},
  },
} as const satisfies Record<string, MetricSpec>;

/** What is looked up when somebody asks. */
const OBSERVED = {
  lastSuccess: {
    ...{ name: 'fencepost_last_success_timestamp_seconds', type: 'gauge', unit: 'seconds', by: 'both' },
    help: 'When the last run succeeded: set by its worker at once, and by the holder of the cron from the ledger.',
    labels: { cron: NAMES },
  },
  successAwaited: {
    ...{ name: 'fencepost_success_awaited_since_timestamp_seconds', type: 'gauge', unit: 'seconds', by: 'scheduler' },
    help: 'Start of the wait for a success: the last success, the definition, or the end of a pause. None while paused.',
    labels: { cron: NAMES },
  },
  consecutiveFailures: {
    ...{ name: 'fencepost_consecutive_failures', type: 'gauge', unit: null, by: 'scheduler' },
    help: 'Number of newest runs that failed in a row, at most 20.',
    labels: { cron: NAMES },
  },
  nextFire: {
    ...{ name: 'fencepost_next_fire_timestamp_seconds', type: 'gauge', unit: 'seconds', by: 'scheduler' },
    help: 'Due time of the first instant not yet accounted for, of each cron that this pod holds.',
    labels: { cron: NAMES },
  },
  fireInterval: {
    ...{ name: 'fencepost_fire_interval_seconds', type: 'gauge', unit: 'seconds', by: 'scheduler' },
    help: 'The longer of the intervals before and after the next instant.',
    labels: { cron: NAMES },
  },
  dueLateness: {
    ...{ name: 'fencepost_due_lateness_seconds', type: 'gauge', unit: 'seconds', by: 'scheduler' },
    help: 'How late the oldest cron is that this pod has not dispatched; 0 if none is due.',
    labels: {},
  },
  dueBacklog: {
    ...{ name: 'fencepost_due_backlog', type: 'gauge', unit: null, by: 'scheduler' },
    help: 'Crons of this pod that are due and not dispatched.',
    labels: {},
  },
  leaseStoreDown: {
    name: 'fencepost_lease_store_down_seconds',
    type: 'gauge',
    unit: 'seconds',
    by: 'scheduler',
    help: 'For how long every attempt to acquire the lease of a cron has failed; 0 while the store answers.',
    labels: {},
  },
  cronStandstill: {
    ...{ name: 'fencepost_cron_standstill', type: 'gauge', unit: null, by: 'both' },
    help: '1 for each cron that should have run and did not, or whose run does not end, by cause, as this pod finds it.',
    labels: {
      cron: NAMES,
      cause: [
        ...(['handler-hangs', 'lease-store-down', 'store-clock-back', 'ledger-fails', 'paused'] as const),
        ...(['no-worker', 'queue-paused', 'workers-busy', 'unclaimed'] as const),
      ],
    },
  },
  leaseHeld: {
    ...{ name: 'fencepost_cron_lease_held', type: 'gauge', unit: null, by: 'scheduler' },
    help: '1 for each cron that this pod holds; for crons without their own series, their number.',
    labels: { cron: NAMES },
  },
  definitions: {
    ...{ name: 'fencepost_definitions', type: 'gauge', unit: null, by: 'scheduler' },
    help: 'Crons in the catalog, as this pod has it.',
    labels: { state: ['active', 'disabled', 'removed'] },
  },
  tagsInfo: {
    ...{ name: 'fencepost_cron_tags_info', type: 'gauge', unit: null, by: 'scheduler' },
    help: '1 for each tag of a cron with its own series, the same for every pod: to join other metrics by tag.',
    labels: { cron: NAMES, tag: TAGS },
  },
  cronInfo: {
    ...{ name: 'fencepost_cron_info', type: 'gauge', unit: null, by: 'scheduler' },
    help: '1 for each cron with its own series and an owner or a runbook, the same for every pod: to join what alerts say.',
    labels: { cron: NAMES, owner: TEXTS, runbook_url: TEXTS },
  },
  uncertainRuns: {
    ...{ name: 'fencepost_uncertain_runs', type: 'gauge', unit: null, by: 'scheduler' },
    help: 'Uncertain runs that wait for an operator, of the crons that this pod holds.',
    labels: { cron: NAMES },
  },
  queueJobs: {
    ...{ name: 'fencepost_queue_jobs', type: 'gauge', unit: null, by: 'scheduler' },
    help: 'Deliveries in the queue, the same for every pod.',
    labels: { state: ['waiting', 'active', 'delayed', 'prioritized', 'completed', 'failed'] },
  },
  pods: {
    ...{ name: 'fencepost_pods', type: 'gauge', unit: null, by: 'both' },
    help: 'Pods that reported recently, the same for every pod.',
    labels: { role: ['scheduler', 'worker'] },
  },
  revisionPods: {
    ...{ name: 'fencepost_revision_pods', type: 'gauge', unit: null, by: 'both' },
    help: 'Live pods that declare crons, by app and revision, the same for every pod.',
    labels: { app: LIVE, revision: LIVE },
  },
  clockSkew: {
    ...{ name: 'fencepost_clock_skew_seconds', type: 'gauge', unit: 'seconds', by: 'both' },
    help: "How far this pod's clock is ahead of the store's.",
    labels: {},
  },
  otherCrons: {
    ...{ name: 'fencepost_other_crons', type: 'gauge', unit: null, by: 'both' },
    help: 'Crons without their own series, counted as other.',
    labels: {},
  },
} as const satisfies Record<string, MetricSpec>;

/** The metrics of crons and their runs. */
export const CRON_METRICS = { ...COUNTED, ...OBSERVED };
