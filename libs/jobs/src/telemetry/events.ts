import type { Fence } from '@fencepost/lease';
import type { RunState, UnknownReason, RunReason, SkipRange } from '@fencepost/ledger/run';
import type { AlarmKind } from './alarm.js';

interface OfCron {
  readonly cron: string;
}

interface OfRun extends OfCron {
  readonly runId: string;
}

interface OfBuild {
  readonly crons: readonly string[];
  readonly buildSeq: number;
  readonly app: string;
}

interface OfAttempt extends OfRun {
  readonly attempt: number;
  readonly fence: Fence;
}

interface OfEffect extends OfAttempt {
  readonly effect: string;
}

interface OfAlarm {
  readonly kind: AlarmKind;
  /** Epoch milliseconds of the store. */
  readonly since: number;
  readonly text: string;
}

interface OfMessage {
  readonly cron: string;
  readonly about: string;
  readonly messageId: string;
  readonly to: string;
  readonly attempt: number;
}

/** An operation that failed. */
export interface Failure {
  /** `object.verb`; a fixed set, so that logs can be grouped by it. */
  readonly operation: `${string}.${string}`;
  readonly err: Error;
  readonly cron?: string;
  readonly runId?: string;
  readonly attempt?: number;
  /** How many crons, where there are several. */
  readonly count?: number;
}

/** Every event and what it carries. What is not in this list doesn't happen. */
export interface Events {
  'lease.acquired': OfCron & { readonly fence: Fence; readonly holder: string; readonly ttlMs: number };
  'lease.released': OfCron & { readonly fence: Fence; readonly holder: string };
  'lease.lost': OfCron & { readonly fence: Fence; readonly holder: string; readonly cause: string };
  /** `holder` is who had it. */
  'lease.preempted': OfCron & { readonly fence: Fence; readonly holder: string; readonly overdueMs: number };
  /** How many scheduler pods are there, and how many crons are this one's share. */
  'pods.changed': { readonly pods: number; readonly share: number };

  'catalog.declared': { readonly declared: number; readonly changed: number; readonly older: number };
  'catalog.outdated-build': OfBuild;
  'catalog.removed': OfBuild;
  'catalog.zone-data': { readonly theirs: string; readonly ours: string; readonly crons: readonly string[] };
  'catalog.read': { readonly crons: number };
  'catalog.adopted': { readonly crons: number };
  'catalog.lost': { readonly crons: readonly string[]; readonly count: number };
  'catalog.redeclared': OfBuild;
  'catalog.unreadable': OfCron & { readonly err: Error };

  /** About to ask the ledger; the last moment at which this pod can be late. */
  'occurrence.claiming': OfCron & { readonly scheduledAt: number | null; readonly fence: Fence };
  'occurrence.claimed': OfRun & { readonly fence: Fence; readonly lateByMs: number; readonly reason: RunReason };
  'occurrence.skipped': OfCron & { readonly scheduledAt: number; readonly reason: 'overlap' | 'paused' };
  'occurrence.passed': OfCron & SkipRange;
  'claim.stale': OfCron & { readonly fence: Fence; readonly accepted: Fence };
  'claim.outdated': OfCron & { readonly generation: number; readonly accepted: number };
  'run.enqueued': OfRun & { readonly delivery: number };
  'run.confirmed': OfRun;
  'run.redelivered': OfRun & { readonly delivery: number; readonly was: RunState };

  'attempt.begun': OfAttempt & { readonly lateByMs: number; readonly worker: string };
  /** `key-limit`: as many runs go on with its key as may; `rate-limit`: as many have begun as may in that time. */
  'attempt.postponed': OfRun & {
    readonly verdict: 'busy' | 'not-due' | 'key-limit' | 'rate-limit';
    readonly waitMs: number;
  };
  'attempt.needless': OfRun & { readonly state: RunState | 'missing' };
  'attempt.unhandled': OfRun;
  'attempt.aborted': OfAttempt & { readonly cause: string };
  'attempt.succeeded': OfAttempt & { readonly tookMs: number };
  'attempt.failed': OfAttempt & { readonly error: string; readonly state: RunState; readonly retryInMs: number | null };
  /** The run was told to stop, and its handler has ended; `error` is what it threw. */
  'attempt.cancelled': OfAttempt & { readonly error: string };
  /** A person is to say whether the effect has happened. */
  'attempt.uncertain': OfEffect & { readonly item: string | null; readonly unknownReason: UnknownReason };
  'attempt.refused': OfAttempt & { readonly step: 'effect' | 'finish' };

  /** About to ask the ledger; the last moment at which this attempt can be late. */
  'effect.beginning': OfEffect;
  'effect.begun': OfEffect & { readonly unknown: boolean };
  /** The side effect has happened, and nobody has recorded it yet. */
  'effect.acted': OfEffect;
  'effect.finished': OfEffect;
  'effect.known': OfEffect;
  'effect.late': OfEffect;
  /** It has not happened: its act threw. */
  'effect.failed': OfEffect & { readonly error: string };
  /** Nobody knows whether it has happened, and its policy says what comes now. */
  'effect.unknown': OfEffect & { readonly error: string };
  'effect.unresolved': OfEffect & { readonly item: string | null; readonly unknownReason: UnknownReason };
  /** It has happened, and that could not be recorded. */
  'effect.unrecorded': OfEffect & { readonly error: string };

  /** What the ledger's store, or a declaration, can't promise to jobs for which a duplicate is damage. */
  'classification.doubtful': { readonly crons: readonly string[]; readonly found: string };

  /** What the server of the leases can't promise, and that it lost what it had: `probeRedis` has the codes. */
  'store.warning': { readonly code: string; readonly found: string };
  /** `about` is the type of the resources, or the hash of one. */
  'lease.ttl-unfit': {
    readonly about: string;
    readonly verdict: 'too-short' | 'too-long';
    readonly ttlMs: number;
    readonly advisedTtlMs: number;
  };

  /** So many were not written into the journal since the last time this was said. */
  'journal.dropped': { readonly count: number };

  'alarm.raised': OfCron & OfAlarm;
  'alarm.cleared': OfCron & OfAlarm;
  /** How many crons this pod watches although it holds them. */
  'alarm.alone': { readonly crons: number };
  /** `to` is the host alone: the rest of an address may be as good as a password. */
  'webhook.sent': OfMessage;
  /** `retryInMs` is `null` when it is given up. */
  'webhook.failed': OfMessage & { readonly err: Error; readonly retryInMs: number | null };

  /** This worker has no handler at all. */
  'worker.empty': { readonly app: string };
  /** Nothing else listens to SIGTERM. */
  'shutdown.unhooked': { readonly drainDeadlineMs: number };
  /** Up to ten of the crons whose alarms and pings nobody sends. */
  'alarms.unwatched': { readonly crons: readonly string[]; readonly webhooks: number };

  /** A store answers, and this release can't work with what it holds. */
  'store.unfit': { readonly found: string };
  'store.failed': Failure;
  /** A bug of this program, or of something it calls that is no store. */
  'program.failed': Failure;
  'queue.failed': Failure;
}

export type EventName = keyof Events;

export type EventLevel = 'debug' | 'info' | 'warn' | 'error';

/** Level and text of each event. */
export const EVENT_TEXT: Readonly<Record<EventName, readonly [EventLevel, string]>> = {
  'lease.acquired': ['info', 'lease acquired'],
  'lease.released': ['info', 'lease released'],
  'lease.lost': ['warn', 'lease lost; this pod stopped acting for the cron'],
  'lease.preempted': ['warn', 'lease of a suspected holder preempted: an occurrence is overdue'],
  'pods.changed': ['info', 'live scheduler pods changed; crons reassigned'],
  'catalog.declared': ['info', 'crons of this build declared'],
  'catalog.outdated-build': [
    'warn',
    'a newer build has defined these crons: this pod runs them with the newer definition; to make this build define them, raise buildSeq (FENCEPOST_BUILD_SEQ)',
  ],
  'catalog.removed': [
    'warn',
    'crons removed: an earlier build declared them and this one does not; they no longer fire',
  ],
  'catalog.zone-data': [
    'warn',
    'these crons were declared with another version of the time zone database than this process has; their instants may differ',
  ],
  'catalog.read': ['info', 'catalog read'],
  'catalog.unreadable': ['error', 'record or schedule of the cron is invalid; this pod does not fire it'],
  'catalog.lost': ['error', 'catalog lost: these crons have no definition, and changes made at run time are gone'],
  'catalog.redeclared': [
    'warn',
    'crons missing from the catalog declared again; changes made to them at run time are gone',
  ],
  'catalog.adopted': ['warn', 'empty catalog in PostgreSQL filled from the one in Redis, which is no longer read'],
  'occurrence.claiming': ['debug', 'claiming an occurrence'],
  'occurrence.claimed': ['info', 'occurrence claimed'],
  'occurrence.skipped': ['warn', 'occurrence skipped'],
  'occurrence.passed': ['warn', 'instants skipped; no run was claimed for them'],
  'claim.stale': ['warn', 'claim refused: the ledger has accepted a larger fence'],
  'claim.outdated': ['warn', 'claim refused: the ledger has accepted a newer definition'],
  'run.enqueued': ['debug', 'run enqueued'],
  'run.confirmed': ['debug', 'delivery of the run confirmed in the ledger'],
  'run.redelivered': ['warn', 'run enqueued again'],
  'attempt.begun': ['info', 'attempt started'],
  'attempt.postponed': ['debug', 'attempt postponed'],
  'attempt.needless': ['debug', 'delivery ignored: the run needs no attempt'],
  'attempt.unhandled': ['warn', 'delivery put back: this worker has no handler for the cron'],
  'attempt.aborted': ['warn', 'attempt aborted'],
  'attempt.succeeded': ['info', 'run succeeded'],
  'attempt.failed': ['warn', 'attempt failed'],
  'attempt.cancelled': ['warn', 'attempt stopped: its run was cancelled'],
  'attempt.uncertain': ['error', 'outcome of an effect is unknown: the run waits for an operator'],
  'attempt.refused': ['warn', 'write refused: the attempt is stale'],
  'effect.beginning': ['debug', 'beginning an effect'],
  'effect.begun': ['debug', 'effect begun'],
  'effect.acted': ['debug', 'effect executed, not recorded yet'],
  'effect.finished': ['debug', 'effect recorded as done'],
  'effect.known': ['debug', 'effect already done; recorded result used'],
  'effect.late': ['warn', 'effect recorded as done after its attempt had timed out or lost its run lease'],
  'effect.failed': ['warn', 'effect failed and did not happen'],
  'effect.unknown': ['warn', 'outcome of an effect is unknown'],
  'effect.unresolved': ['warn', 'effect needs an operator; this attempt begins no further effects'],
  'effect.unrecorded': ['error', 'effect happened but could not be recorded'],
  'classification.doubtful': ['warn', 'duplicates must not happen for these crons, but the setup may allow one'],
  'store.warning': ['warn', 'lease server is configured unsafely or lost data'],
  'lease.ttl-unfit': ['warn', 'lease TTL does not fit how long leases are held'],
  'journal.dropped': ['info', 'journal entries dropped: too many events at once'],
  'alarm.raised': ['error', 'alarm raised'],
  'alarm.cleared': ['info', 'alarm cleared'],
  'alarm.alone': [
    'warn',
    'only one scheduler pod is live, so it monitors its own crons; no alarm is raised if it dies',
  ],
  'webhook.sent': ['debug', 'webhook message sent'],
  'webhook.failed': ['warn', 'webhook message not delivered'],
  'worker.empty': [
    'warn',
    'no crons or jobs found; this worker runs nothing: add the class with @SingletonCron or @JobHandler to the providers of a module',
  ],
  'alarms.unwatched': [
    'warn',
    'alarms, webhooks or pings are configured, but this scheduler sends none: import OperationsModule from @fencepost/operations',
  ],
  'shutdown.unhooked': [
    'warn',
    'shutdown hooks are off: call app.enableShutdownHooks() so that the app cleans up on SIGTERM; Fencepost drains its own runs and releases its leases without them',
  ],
  'store.unfit': ['error', 'store does not fit this release; this pod is not ready and begins nothing new'],
  'store.failed': ['error', 'store operation failed'],
  'program.failed': ['error', 'program error, not caused by a store; please report it with its stack'],
  'queue.failed': ['error', 'queue operation failed'],
};

/** Why an occurrence was skipped. */
const SKIPPED: Readonly<Record<string, string>> = {
  overlap: 'an earlier run of the cron is still open, running or waiting for a worker',
  paused: 'the cron is paused',
};

/** Text of an event, with the reason of a skip; empty for an event of a newer release. */
export function eventSentence(event: string, detail: object): string {
  const known: Readonly<Record<string, readonly [EventLevel, string]>> = EVENT_TEXT;
  const sentence = known[event]?.[1] ?? '';
  const reason: unknown = event === 'occurrence.skipped' ? Reflect.get(detail, 'reason') : undefined;
  const why = SKIPPED[String(reason)];
  return why === undefined ? sentence : `${sentence}: ${why}`;
}
