import type { Fence } from '@fencepost/lease';
import type { RunState, UnknownReason, RunReason, SkipRange } from '@fencepost/ledger/run';
import type { AlarmKind } from '../notifying/alarm.js';

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
  'lease.evicted': OfCron & { readonly fence: Fence; readonly holder: string; readonly overdueMs: number };
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
  'attempt.uncertain': OfEffect & { readonly item: string | null; readonly doubt: UnknownReason };
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
  'effect.asked': OfEffect & { readonly item: string | null; readonly doubt: UnknownReason };
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
  'store.trouble': Failure;
  /** A bug of this program, or of something it calls that is no store. */
  'program.error': Failure;
  'queue.trouble': Failure;
}

export type EventName = keyof Events;

export type EventLevel = 'debug' | 'info' | 'warn' | 'error';

/** How loud each event is, and what it says in one sentence. */
export const EVENT_TEXT: Readonly<Record<EventName, readonly [EventLevel, string]>> = {
  'lease.acquired': ['info', 'this pod now acts for the cron'],
  'lease.released': ['info', 'this pod gave the cron up'],
  'lease.lost': ['warn', 'this pod lost the cron and stopped acting for it'],
  'lease.evicted': ['warn', 'this pod ended the term of a holder that seems dead: an occurrence is overdue'],
  'pods.changed': ['info', 'scheduler pods have come or gone, and the crons are shared anew'],
  'catalog.declared': ['info', 'the crons of this build are declared'],
  'catalog.outdated-build': [
    'warn',
    'a newer build has defined these crons: this one carries them out and defines nothing; to define them on purpose, raise buildSeq (FENCEPOST_BUILD_SEQ)',
  ],
  'catalog.removed': ['warn', 'this build no longer has these crons, which an earlier one declared: they fire no more'],
  'catalog.zone-data': [
    'warn',
    'these crons were declared with another time zone database than this process has: where the two differ, so may their instants',
  ],
  'catalog.read': ['info', 'the catalog of crons was read'],
  'catalog.unreadable': ['error', 'the record or schedule of the cron cannot be read, and this pod does not fire it'],
  'catalog.lost': [
    'error',
    'the catalog was lost: these crons have no definition any more, and changes made at run time are gone',
  ],
  'catalog.redeclared': [
    'warn',
    'the catalog no longer had these crons, which this process had declared before: they are declared again, without what was changed at run time',
  ],
  'catalog.adopted': [
    'warn',
    'the catalog in PostgreSQL was empty and took over the one in Redis, which is no longer read',
  ],
  'occurrence.claiming': ['debug', 'asking the ledger for an occurrence'],
  'occurrence.claimed': ['info', 'the occurrence is accepted'],
  'occurrence.skipped': ['warn', 'the occurrence is skipped'],
  'occurrence.passed': ['warn', 'instants went by and will not run'],
  'claim.stale': ['warn', 'the ledger refused a claim: another pod has a larger fence'],
  'claim.outdated': ['warn', 'the ledger refused a claim: the definition is older than the accepted one'],
  'run.enqueued': ['debug', 'the run was handed to the queue'],
  'run.confirmed': ['debug', 'the ledger knows that the queue has the run'],
  'run.redelivered': ['warn', 'the run was handed to the queue again'],
  'attempt.begun': ['info', 'an attempt begins'],
  'attempt.postponed': ['debug', 'the run can not begin yet'],
  'attempt.needless': ['debug', 'nothing is left to do for this delivery'],
  'attempt.unhandled': ['warn', 'no handler for this cron in this worker; left for another one'],
  'attempt.aborted': ['warn', 'the attempt may not go on'],
  'attempt.succeeded': ['info', 'the run succeeded'],
  'attempt.failed': ['warn', 'the attempt failed'],
  'attempt.cancelled': ['warn', 'the attempt stopped because its run was cancelled'],
  'attempt.uncertain': ['error', 'nobody knows whether an effect has happened: the run waits for a person to say'],
  'attempt.refused': ['warn', 'the ledger refused a stale attempt'],
  'effect.beginning': ['debug', 'asking the ledger for an effect'],
  'effect.begun': ['debug', 'an effect begins'],
  'effect.acted': ['debug', 'an effect has acted'],
  'effect.finished': ['debug', 'an effect is recorded'],
  'effect.known': ['debug', 'an effect was done before; its recorded result is used'],
  'effect.late': ['warn', 'a stale attempt, or a call that was given up, reported an effect as done; kept as a fact'],
  'effect.failed': ['warn', 'an effect has not happened'],
  'effect.unknown': ['warn', 'nobody knows whether an effect has happened'],
  'effect.asked': ['warn', 'a person is to say whether an effect has happened; this attempt begins nothing more'],
  'effect.unrecorded': ['error', 'an effect has happened, and that could not be recorded'],
  'classification.doubtful': ['warn', 'a duplicate is damage for these crons, and what was found may let one happen'],
  'store.warning': ['warn', 'the server of the leases can not promise something, or lost what it had'],
  'lease.ttl-unfit': ['warn', 'the ttl of leases does not fit how long they are held'],
  'journal.dropped': ['info', 'more happened than the journal takes: some of it is not in there'],
  'alarm.raised': ['error', 'something is wrong with a cron that is watched'],
  'alarm.cleared': ['info', 'an alarm is over'],
  'alarm.alone': ['warn', 'this is the only scheduler pod, so it watches itself: if it dies, nobody says so'],
  'webhook.sent': ['debug', 'somebody outside was told'],
  'webhook.failed': ['warn', 'somebody outside could not be told'],
  'worker.empty': [
    'warn',
    'this worker has 0 crons and jobs, and runs nothing: add the class with @SingletonCron or @JobHandler to the providers of a module',
  ],
  'alarms.unwatched': [
    'warn',
    'alarms, webhooks and pings are configured, but this scheduler sends none: import OperationsModule of @fencepost/operations',
  ],
  'shutdown.unhooked': [
    'warn',
    'shutdown hooks are off: call app.enableShutdownHooks(), or a deploy ends this app without its clean-up; on SIGTERM, Fencepost itself drains its runs and hands its crons over',
  ],
  'store.unfit': ['error', 'this pod is not ready and begins nothing new: a store is not as this release needs it'],
  'store.trouble': ['error', 'store operation failed'],
  'program.error': ['error', 'unexpected error in the program, not caused by a store; please report it with its stack'],
  'queue.trouble': ['error', 'queue operation failed'],
};

/** Why an occurrence is skipped; the ledger has just said which of them it is. */
const SKIPPED: Readonly<Record<string, string>> = {
  overlap: 'an earlier run of the cron is not over: it is running, or waits for a worker',
  paused: 'the cron is paused',
};

/** The sentence of an event, with what it carries where that says more; nothing for an event of a newer release. */
export function eventSentence(event: string, detail: object): string {
  const known: Readonly<Record<string, readonly [EventLevel, string]>> = EVENT_TEXT;
  const sentence = known[event]?.[1] ?? '';
  const reason: unknown = event === 'occurrence.skipped' ? Reflect.get(detail, 'reason') : undefined;
  const why = SKIPPED[String(reason)];
  return why === undefined ? sentence : `${sentence}: ${why}`;
}
