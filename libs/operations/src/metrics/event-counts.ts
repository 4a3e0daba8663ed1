import type { Clock } from '@fencepost/lease';
import type { SkipReason } from '@fencepost/ledger/run';
import type { EventName, Events } from '@fencepost/jobs';
import type { EventListener, Failure } from '@fencepost/jobs/internal';
import type { CronLabels } from './cron-labels.js';
import type { CATALOG_CHANGES, CATALOG_CONFLICTS } from './cron-metrics.js';
import type { Instruments } from './instruments.js';
import type { LastSuccess } from './last-success.js';

export interface CountsDeps {
  readonly count: Instruments;
  readonly labels: CronLabels;
  readonly lastSuccess: LastSuccess;
  readonly clock: Clock;
}

type Handlers = { readonly [N in EventName]?: (detail: Events[N]) => void };

/** What a reason for not running counts as. What took another one's place is gone for the same reason: too much at once. */
const SKIPPED: Readonly<Record<SkipReason, string>> = {
  misfire: 'missed',
  merged: 'merged',
  paused: 'skipped_paused',
  overlap: 'skipped_overlap',
  'no-capable-worker': 'skipped_no_worker',
  superseded: 'skipped_overlap',
};

/** Counts what happens, as it happens. */
export function countEvents(deps: CountsDeps): EventListener {
  const handlers: Handlers = {
    ...scheduling(deps),
    ...running(deps),
    ...ending(deps),
    ...declaring(deps),
    ...troubles(deps),
  };
  const heard: Readonly<Partial<Record<EventName, (detail: never) => void>>> = handlers;
  return (name, detail) => heard[name]?.(detail as never);
}

function scheduling({ count, labels }: CountsDeps): Handlers {
  const fired = (cron: string, outcome: string) => count.fires.inc({ cron: labels.of(cron), outcome });
  const moved = (transition: string) => () => count.leaseTransitions.inc({ transition });
  return {
    'occurrence.claimed': ({ cron, reason, lateByMs }) => {
      fired(cron, reason === 'catch-up' ? 'caught_up' : 'claimed');
      // What is made up for is late because nobody was there, which is told by itself.
      if (reason === 'schedule') count.fireDelay.observe(Math.max(0, lateByMs) / 1_000);
    },
    'occurrence.skipped': ({ cron, reason }) => fired(cron, SKIPPED[reason]),
    'occurrence.passed': ({ cron, reason }) => fired(cron, SKIPPED[reason]),
    'lease.acquired': moved('acquired'),
    'lease.released': moved('released'),
    'lease.lost': moved('lost'),
    'leases.lost': ({ count: lost }) => count.leaseTransitions.inc({ transition: 'lost' }, lost),
    'lease.preempted': moved('preempted'),
    'claim.stale': ({ cron }) => count.fenceRejections.inc({ cron: labels.of(cron), at: 'claim' }),
    'run.redelivered': () => count.redeliveries.inc(),
  };
}

function running({ count, labels }: CountsDeps): Handlers {
  const effect = (outcome: string) => () => count.effects.inc({ outcome });
  return {
    'attempt.refused': ({ cron, step }) => count.fenceRejections.inc({ cron: labels.of(cron), at: step }),
    'effect.finished': effect('done'),
    'effect.known': effect('known'),
    'effect.late': effect('late'),
    'effect.failed': effect('failed'),
    'effect.unknown': effect('unknown'),
  };
}

function ending({ count, labels, clock, lastSuccess }: CountsDeps): Handlers {
  const ended = (status: string) => (detail: { readonly cron: string }) =>
    count.runs.inc({ cron: labels.of(detail.cron), status });
  const [failed, cancelled] = [ended('failed'), ended('cancelled')];
  return {
    'attempt.succeeded': ({ cron: name, tookMs }) => {
      const cron = labels.of(name);
      count.runs.inc({ cron, status: 'succeeded' });
      count.runDuration.observe({ cron }, tookMs / 1_000);
      // Of many crons together it would say nothing.
      if (cron === name) lastSuccess.tell(cron, clock.now());
    },
    'attempt.failed': (detail) =>
      detail.retryInMs === null ? failed(detail) : count.retries.inc({ cron: labels.of(detail.cron) }),
    'run.exhausted': failed,
    'run.given-up': failed,
    'attempt.cancelled': cancelled,
    // One that a worker executes is counted when its attempt ends.
    'run.cancelled': (detail) => detail.verdict === 'cancelled' && cancelled(detail),
    'attempt.uncertain': ended('uncertain'),
  };
}

interface OfApp {
  readonly app: string;
  readonly count: number;
}

function declaring({ count }: CountsDeps): Handlers {
  const changed = (change: (typeof CATALOG_CHANGES)[number]) => {
    return ({ app, count: crons }: OfApp) => count.catalogChanges.inc({ app, change }, crons);
  };
  const contradicted = (conflict: (typeof CATALOG_CONFLICTS)[number]) => {
    return ({ app, count: crons }: OfApp) => count.catalogConflicts.inc({ app, conflict }, crons);
  };
  return {
    'catalog.created': changed('created'),
    'catalog.changed': changed('changed'),
    'catalog.reverted': changed('reverted'),
    'catalog.restored': changed('restored'),
    'catalog.taken': changed('taken'),
    'catalog.removed': changed('removed'),
    'catalog.redeclared': changed('redeclared'),
    'catalog.superseded': contradicted('superseded'),
    'catalog.foreign': contradicted('foreign'),
    'catalog.withheld': contradicted('withheld'),
    'catalog.later': contradicted('later'),
    'catalog.differs': contradicted('differs'),
    'catalog.app-shared': contradicted('app_shared'),
  };
}

const storeOf = (operation: Failure['operation']) => (operation.startsWith('lease.') ? 'leases' : 'ledger');

function troubles({ count }: CountsDeps): Handlers {
  const failed = (store: string, operation: Failure['operation']) => count.storeFailures.inc({ store, operation });
  return {
    'store.failed': ({ operation }) => failed(storeOf(operation), operation),
    'store.unfit': () => failed('ledger', 'store.check'),
    'program.failed': () => count.programErrors.inc(),
    'queue.failed': ({ operation }) => failed('queue', operation),
    'journal.dropped': (detail) => count.journalDropped.inc(detail.count),
  };
}
