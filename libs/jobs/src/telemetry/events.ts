import type { Fence } from '@fencepost/lease';
import type { RunState, UnknownReason, RunReason, SkipRange } from '@fencepost/ledger/run';
import type { AlarmKind } from './alarm.js';
import type { Operation } from './operation.js';

interface OfCron {
  readonly cron: string;
}

type OfRun = OfCron & { readonly runId: string };

interface OfBuild {
  readonly crons: readonly string[];
  readonly buildSeq: number;
  readonly app: string;
}

interface OfAttempt extends OfRun {
  readonly attempt: number;
  readonly fence: Fence;
}
type OfFailed = OfAttempt & { readonly err: Error };

/** An operator's order. `scheduledAt` is `null`, and `attempt` 0, where the run is no longer on record. */
type OfOrder = Omit<OfAttempt, 'fence'> & Readonly<Record<'by' | 'reason', string> & { scheduledAt: number | null }>;

type OfEffect = OfAttempt & { readonly effect: string };

interface FailedEffect extends OfEffect {
  /** The key of the item, for an effect of `run.forEach`. */
  readonly item?: string;
  readonly err: Error;
}

interface OfAlarm {
  readonly kind: AlarmKind;
  /** Epoch milliseconds of the store. */
  readonly since: number;
  readonly text: string;
  readonly muted?: true;
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
  readonly operation: Operation;
  readonly err: Error;
  readonly cron?: string;
  readonly runId?: string;
  readonly attempt?: number;
  /** How many crons, where there are several. */
  readonly count?: number;
}

/** Every event and its fields. */
export interface Events {
  'lease.acquired': OfCron & { readonly fence: Fence; readonly holder: string; readonly ttlMs: number };
  'lease.released': OfCron & { readonly fence: Fence; readonly holder: string };
  'lease.lost': OfCron & { readonly fence: Fence; readonly holder: string; readonly cause: string };
  'leases.lost': Events['catalog.lost'] & { readonly holder: string; readonly cause: string };
  /** `holder` is the previous holder. */
  'lease.preempted': OfCron & { readonly fence: Fence; readonly holder: string; readonly overdueMs: number };
  /** The number of live scheduler pods, and of the crons assigned to this one. */
  'pods.changed': { readonly pods: number; readonly assigned: number };
  /** How long the oldest due cron of this pod has been waiting to be dispatched, and how many do. */
  'pod.behind': { readonly lateMs: number; readonly crons: number };
  /** `lateMs` and `crons` are the most that there were since `pod.behind`. */
  'pod.caught-up': { readonly lateMs: number; readonly crons: number };
  'catalog.declared': { readonly declared: number; readonly changed: number; readonly older: number };
  'catalog.outdated-build': OfBuild;
  'catalog.removed': OfBuild;
  'catalog.zone-data': { readonly theirs: string; readonly ours: string; readonly crons: readonly string[] };
  'catalog.read': { readonly crons: number };
  'catalog.adopted': { readonly crons: number };
  'catalog.lost': { readonly crons: readonly string[]; readonly count: number };
  'catalog.redeclared': OfBuild;
  'catalog.unreadable': OfCron & { readonly err: Error };
  'catalog.texts-held': { readonly crons: readonly string[]; readonly pod: string; readonly format: number };
  'format.risen': { readonly format: number };

  /** Just before the call to the ledger: the last moment at which this pod can be late. */
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
  /** `key-limit`: all permits of its key are taken; `rate-limit`: all permits of the period are taken. */
  'attempt.postponed': OfRun & {
    readonly verdict: 'busy' | 'not-due' | 'key-limit' | 'rate-limit';
    readonly waitMs: number;
  };
  /** The worker of its last attempt never reported; `attempt` is that one. Emitted by the process that found it. */
  'run.exhausted': OfRun & { readonly attempt: number; readonly reason: string };
  /** An operator gave up an uncertain run, which has failed by that. Emitted by one scheduler pod, wherever the order came from. */
  'run.given-up': OfOrder;
  /** `cancelling`: a worker executes it and is told. Emitted by one scheduler pod, wherever the order came from. */
  'run.cancelled': OfOrder & { readonly verdict: 'cancelled' | 'cancelling' };
  'attempt.needless': OfRun & { readonly state: RunState | 'missing' };
  'attempt.unhandled': OfRun;
  'attempt.aborted': OfAttempt & { readonly cause: string };
  'attempt.succeeded': OfAttempt & { readonly tookMs: number };
  'attempt.failed': OfFailed & { readonly state: RunState; readonly retryInMs: number | null; readonly tookMs: number };
  /** The run was cancelled and its handler has ended; `err` is what the handler threw. */
  'attempt.cancelled': OfFailed;
  /** An operator must say whether the effect has happened. */
  'attempt.uncertain': OfEffect & { readonly item: string | null; readonly unknownReason: UnknownReason };
  'attempt.refused': OfAttempt & { readonly step: 'effect' | 'finish' };

  /** Just before the call to the ledger: the last moment at which this attempt can be late. */
  'effect.beginning': OfEffect;
  'effect.begun': OfEffect & { readonly unknown: boolean };
  /** The side effect has happened and is not recorded yet. */
  'effect.acted': OfEffect;
  'effect.finished': OfEffect;
  'effect.known': OfEffect;
  'effect.late': OfEffect;
  /** It has not happened: its function threw. */
  'effect.failed': FailedEffect;
  /** It may have happened; `ifUnknown` decides what happens next. */
  'effect.unknown': FailedEffect;
  'effect.unresolved': OfEffect & { readonly item: string | null; readonly unknownReason: UnknownReason };
  /** It has happened, and that could not be recorded. */
  'effect.unrecorded': FailedEffect;

  /** A guarantee that jobs of criticality `correctness` need, and that the ledger's store or a declaration does not give. */
  'classification.doubtful': { readonly crons: readonly string[]; readonly found: string };

  /** A risk in the configuration of the lease server, or a loss of its data; `probeRedis` has the codes. */
  'store.warning': { readonly code: string; readonly found: string };
  /** `about` is the type of the resources, or the hash of one. */
  'lease.ttl-unfit': {
    readonly about: string;
    readonly verdict: 'too-short' | 'too-long';
    readonly ttlMs: number;
    readonly advisedTtlMs: number;
  };

  /** The number of entries dropped since the last event of this name. */
  'journal.dropped': { readonly count: number };

  'alarm.raised': OfCron & OfAlarm;
  'alarm.cleared': OfCron & OfAlarm;
  /** The number of crons that this pod both holds and monitors. */
  'alarm.alone': { readonly crons: number };
  /** `to` is the host alone: the rest of a URL may contain a secret. */
  'webhook.sent': OfMessage;
  /** `retryInMs` is `null` after the last try. */
  'webhook.failed': OfMessage & { readonly err: Error; readonly retryInMs: number | null };

  /** All roles of this process have started. `names` has at most ten of the `crons` and jobs that its worker has handlers for. */
  'pod.started': {
    readonly holder: string;
    /** Joined by `+`. */
    readonly roles: string;
    /** Without credentials; for several servers what they are: `sentinel` or `cluster`. */
    readonly redis: string;
    readonly ledger: 'redis' | 'postgres';
    readonly crons: number;
    readonly names: readonly string[];
  };
  /** This worker has no handlers. */
  'worker.empty': { readonly app: string };
  /** At most twenty classes with `@SingletonCron` or `@JobHandler` that this process has imported and no module of it provides. */
  'worker.unprovided': { readonly classes: readonly string[] };
  /** Nothing else listens to SIGTERM. */
  'shutdown.unhooked': { readonly drainDeadlineMs: number };
  /** `crons` has at most ten of the crons whose alarms and pings are not sent. */
  'alarms.unwatched': { readonly crons: readonly string[]; readonly webhooks: number };

  /** The data in a store does not fit this release. */
  'store.unfit': { readonly found: string };
  'store.failed': Failure;
  /** A bug of this program, or of something it calls other than a store. */
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
  'leases.lost': ['warn', 'leases lost; this pod stopped acting for their crons'],
  'lease.preempted': ['warn', 'lease of a suspected holder preempted: an occurrence is overdue'],
  'pods.changed': ['info', 'live scheduler pods or their shares changed; crons reassigned'],
  'pod.behind': ['warn', 'this pod is behind: crons that are due wait to be claimed'],
  'pod.caught-up': ['info', 'this pod has caught up; it was at most this late'],
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
  'catalog.texts-held': ['info', 'description, owner and runbook follow once every process has format 3'],
  'format.risen': ['info', 'every live process has this format now, and records are written in it'],
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
  'run.exhausted': ['error', 'run failed: every attempt is used up'],
  'run.given-up': ['error', 'run failed: an operator gave it up'],
  'run.cancelled': ['info', 'run cancelled by an operator'],
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
  'pod.started': ['info', 'this pod has started'],
  'worker.empty': [
    'warn',
    'no crons or jobs found; this worker runs nothing: add the class with @SingletonCron or @JobHandler to the providers of a module',
  ],
  'worker.unprovided': [
    'warn',
    'crons or jobs of these classes do not run here: no module provides the class; add it to the providers of a module',
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
