import type { Fence } from '@fencepost/lease';
import type { RunState, UnknownReason, RunReason, SkipRange, WaitReason } from '@fencepost/ledger/run';
import type { AlarmKind } from './alarm.js';
import type { Operation } from './operation.js';
import type { Standstill } from './standstill.js';

interface OfCron {
  readonly cron: string;
}

type OfRun = OfCron & { readonly runId: string };

/** A decision about definitions, by a pod of a revision. */
interface OfRevision {
  readonly app: string;
  readonly revision: number;
  /** At most 20 of them. */
  readonly crons: readonly string[];
  readonly count: number;
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
  /** A cron should have run and did not, or its run does not end. Also emitted when the cause becomes another one. */
  'cron.standstill': OfCron & Pick<Standstill, 'cause' | 'since' | 'text' | 'runId'>;
  /** `cause` is the last one. */
  'cron.resumed': OfCron & Pick<Standstill, 'cause'> & { readonly standstillMs: number };
  /** How long the oldest due cron of this pod has been waiting to be dispatched, and how many do. */
  'pod.behind': { readonly lateMs: number; readonly crons: number };
  /** `lateMs` and `crons` are the most that there were since `pod.behind`. */
  'pod.caught-up': { readonly lateMs: number; readonly crons: number };
  /** `superseded`: crons that a newer live revision of the app defines. */
  'catalog.declared': Pick<OfRevision, 'app' | 'revision'> &
    Readonly<Record<'declared' | 'changed' | 'superseded', number>>;
  'catalog.created': OfRevision;
  'catalog.changed': OfRevision;
  'catalog.reverted': OfRevision;
  'catalog.restored': OfRevision;
  'catalog.taken': OfRevision;
  'catalog.removed': OfRevision & { readonly removeAfterMs: number };
  /** `by`: the newer revisions, the newest first. */
  'catalog.superseded': OfRevision & { readonly by: readonly number[] };
  'catalog.foreign': OfRevision & { readonly owners: readonly string[] };
  'catalog.withheld': OfRevision;
  'catalog.later': OfRevision;
  /** `other`: the other live revision. */
  'catalog.differs': OfRevision & { readonly other: number };
  'catalog.app-shared': OfRevision & { readonly other: number };
  'revision.unstable': Pick<OfRevision, 'app' | 'revision'> & { readonly pods: number };
  'catalog.zone-data': { readonly theirs: string; readonly ours: string; readonly crons: readonly string[] };
  'catalog.read': { readonly crons: number };
  'catalog.adopted': { readonly crons: number };
  'catalog.lost': { readonly crons: readonly string[]; readonly count: number };
  'catalog.redeclared': OfRevision;
  'catalog.unreadable': OfCron & { readonly err: Error };
  'catalog.texts-held': { readonly crons: readonly string[]; readonly pod: string; readonly format: number };
  'format.risen': { readonly format: number };

  /** Just before the call to the ledger: the last moment at which this pod can be late. */
  'occurrence.claiming': OfCron & { readonly scheduledAt: number | null; readonly fence: Fence };
  'occurrence.claimed': OfRun & { readonly fence: Fence; readonly lateByMs: number; readonly reason: RunReason };
  /** An operator asked Bull Board to remove a cron that live pods of these apps declare. */
  'cron.paused-instead': OfCron & { readonly apps: readonly string[]; readonly by: string };
  'occurrence.skipped': OfCron & { readonly scheduledAt: number; readonly reason: 'overlap' | WaitReason | 'paused' };
  'occurrence.passed': OfCron & SkipRange;
  'claim.stale': OfCron & { readonly fence: Fence; readonly accepted: Fence };
  'claim.outdated': OfCron & { readonly generation: number; readonly accepted: number };
  'run.enqueued': OfRun & { readonly delivery: number };
  'run.confirmed': OfRun;
  /** No live worker has its handler. */
  'run.unrouted': OfRun;
  'run.redelivered': OfRun & { readonly delivery: number; readonly was: RunState };
  'attempt.begun': OfAttempt & { readonly lateByMs: number; readonly worker: string };
  /** `key-limit`: all permits of its key are taken; `rate-limit`: all permits of the period are taken. */
  'attempt.postponed': OfRun & {
    readonly verdict: 'busy' | 'not-due' | 'key-limit' | 'rate-limit';
    readonly waitMs: number;
  };
  /** The worker of its last attempt never reported; `attempt` is that one. Emitted by the process that found it. */
  'run.exhausted': OfRun & { readonly attempt: number; readonly reason: string };
  /** The run succeeded, and what its handler returned is no JSON or too large to be kept. */
  'run.result-dropped': OfAttempt & { readonly reason: string };
  /** An operator gave up an uncertain run, which has failed by that. Emitted by one scheduler pod, wherever the order came from. */
  'run.given-up': OfOrder;
  /** `cancelling`: a worker executes it and is told. Emitted by one scheduler pod, wherever the order came from. */
  'run.cancelled': OfOrder & { readonly verdict: 'cancelled' | 'cancelling' };
  'attempt.needless': OfRun & { readonly state: RunState | 'missing' };
  /** A worker that has no handler for the run has taken it, and hands it on. */
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
  /** This process has no role. `by` is what decided that, such as `FENCEPOST_ROLES=none`. */
  'roles.disabled': { readonly by: string };
  'script.suspected': Readonly<{ roles: string; reason: 'closed-by-itself' | 'exited' | 'interactive'; upMs: number }>;
  /** This worker has no handlers. */
  'worker.empty': { readonly app: string };
  /** At most twenty methods with `@SingletonCron` or `@JobHandler`, each with the reason why it never runs here. */
  'crons.undiscovered': { readonly methods: readonly string[] };
  /** Of a module that was loaded after the boot. */
  'crons.discovered': { readonly crons: readonly string[] };
  'crons.refused': { readonly err: Error };
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
