import { NAMES, type MetricSpec } from './metric-spec.js';

/** Seconds. Most runs are claimed within milliseconds of their instant; what is a minute late is an outage. */
const DELAY_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600];

/** Seconds. From a look at a table to a report of hours; few, because there is a set of them for each cron. */
const DURATION_S = [0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 900, 3_600];

const FIRED = ['claimed', 'caught_up', 'skipped_overlap', 'skipped_paused', 'missed', 'merged'] as const;

/** What is counted as it happens. */
const COUNTED = {
  fires: {
    ...{ name: 'cron_fires_total', type: 'counter', unit: null, by: 'scheduler' },
    help: 'Instants that came due, by what became of them; a range of instants that went by together counts once.',
    labels: { cron: NAMES, outcome: FIRED },
  },
  fireDelay: {
    ...{ name: 'cron_fire_delay_seconds', type: 'histogram', unit: 'seconds', by: 'scheduler' },
    help: 'From when an instant was due to when the ledger accepted its run.',
    labels: {},
    buckets: DELAY_S,
  },
  leaseTransitions: {
    ...{ name: 'cron_lease_transitions_total', type: 'counter', unit: null, by: 'scheduler' },
    help: 'Leases on crons that this pod acquired, released, lost, or took from a holder that seemed dead.',
    labels: { transition: ['acquired', 'released', 'lost', 'evicted'] },
  },
  fenceRejections: {
    ...{ name: 'cron_fence_rejections_total', type: 'counter', unit: null, by: 'both' },
    help: 'Stale writes of this pod that the ledger refused by their fence: each is a duplicate that did not happen.',
    labels: { cron: NAMES, at: ['claim', 'effect', 'finish'] },
  },
  redeliveries: {
    ...{ name: 'cron_redeliveries_total', type: 'counter', unit: null, by: 'scheduler' },
    help: 'Runs handed to the queue again, because their worker or their delivery was lost.',
    labels: {},
  },
  runs: {
    ...{ name: 'cron_runs_total', type: 'counter', unit: null, by: 'worker' },
    help: 'Runs that this worker brought to an end, or to a question only a person can answer.',
    labels: { cron: NAMES, status: ['succeeded', 'failed', 'cancelled', 'uncertain'] },
  },
  retries: {
    ...{ name: 'cron_retries_total', type: 'counter', unit: null, by: 'worker' },
    help: 'Attempts that failed and after which another one was allowed.',
    labels: { cron: NAMES },
  },
  runDuration: {
    ...{ name: 'cron_run_duration_seconds', type: 'histogram', unit: 'seconds', by: 'worker' },
    help: 'How long attempts took that succeeded.',
    labels: { cron: NAMES },
    buckets: DURATION_S,
  },
  effects: {
    ...{ name: 'cron_effects_total', type: 'counter', unit: null, by: 'worker' },
    help: 'Side effects, by how they ended; known: done by an earlier attempt and not again.',
    labels: { outcome: ['done', 'known', 'late', 'failed', 'unknown'] },
  },
  storeTroubles: {
    ...{ name: 'cron_store_troubles_total', type: 'counter', unit: null, by: 'both' },
    help: 'Calls that the store or the queue did not answer.',
    labels: { store: ['store', 'queue'] },
  },
  programErrors: {
    ...{ name: 'cron_program_errors_total', type: 'counter', unit: null, by: 'both' },
    help: 'Unexpected errors of the program itself, which no store has caused; the log has their stacks.',
    labels: {},
  },
  journalDropped: {
    ...{ name: 'cron_journal_dropped_total', type: 'counter', unit: null, by: 'both' },
    help: 'Ordinary events that this pod left out of the journal, because there were too many at once.',
    labels: {},
  },
} as const satisfies Record<string, MetricSpec>;

/** What is looked up when somebody asks. */
const OBSERVED = {
  lastSuccess: {
    ...{ name: 'cron_last_success_timestamp_seconds', type: 'gauge', unit: 'seconds', by: 'both' },
    help: 'When the last run ended well: told by its worker at once, and from the ledger by whoever holds the cron.',
    labels: { cron: NAMES },
  },
  successAwaited: {
    ...{ name: 'cron_success_awaited_since_timestamp_seconds', type: 'gauge', unit: 'seconds', by: 'scheduler' },
    help: 'Since when a success of the cron is awaited: its last one, its definition, or the end of its pause. None while paused.',
    labels: { cron: NAMES },
  },
  consecutiveFailures: {
    ...{ name: 'cron_consecutive_failures', type: 'gauge', unit: null, by: 'scheduler' },
    help: 'How many of the newest runs have failed in a row, whoever ended them; at most 20.',
    labels: { cron: NAMES },
  },
  nextFire: {
    ...{ name: 'cron_next_fire_timestamp_seconds', type: 'gauge', unit: 'seconds', by: 'scheduler' },
    help: 'When the first instant that nobody has accounted for is due, of each cron that this pod holds.',
    labels: { cron: NAMES },
  },
  fireInterval: {
    ...{ name: 'cron_fire_interval_seconds', type: 'gauge', unit: 'seconds', by: 'scheduler' },
    help: 'The longer one of the distances from the next instant to the one before and to the one after it.',
    labels: { cron: NAMES },
  },
  leaseHeld: {
    ...{ name: 'cron_lease_held', type: 'gauge', unit: null, by: 'scheduler' },
    help: '1 for each cron that this pod holds; of the crons without a series of their own, how many.',
    labels: { cron: NAMES },
  },
  definitions: {
    ...{ name: 'cron_definitions', type: 'gauge', unit: null, by: 'scheduler' },
    help: 'Crons in the catalog, as this pod knows it.',
    labels: { state: ['firing', 'disabled', 'removed'] },
  },
  uncertainRuns: {
    ...{ name: 'cron_uncertain_runs', type: 'gauge', unit: null, by: 'scheduler' },
    help: 'Runs that wait for a person to say whether an effect has happened, of the crons that this pod holds.',
    labels: { cron: NAMES },
  },
  queueJobs: {
    ...{ name: 'cron_queue_jobs', type: 'gauge', unit: null, by: 'scheduler' },
    help: 'Deliveries in the queue, the same for every pod that asks.',
    labels: { state: ['waiting', 'active', 'delayed', 'prioritized', 'completed', 'failed'] },
  },
  pods: {
    ...{ name: 'cron_pods', type: 'gauge', unit: null, by: 'both' },
    help: 'Pods that were heard lately, the same for every pod that asks.',
    labels: { role: ['scheduler', 'worker'] },
  },
  clockSkew: {
    ...{ name: 'cron_clock_skew_seconds', type: 'gauge', unit: 'seconds', by: 'both' },
    help: "By how much this pod's clock is ahead of the store's.",
    labels: {},
  },
  otherCrons: {
    ...{ name: 'cron_other_crons', type: 'gauge', unit: null, by: 'both' },
    help: 'Crons that have no series of their own and are counted as other.',
    labels: {},
  },
} as const satisfies Record<string, MetricSpec>;

/** The metrics of crons and their runs. */
export const CRON_METRICS = { ...COUNTED, ...OBSERVED };
