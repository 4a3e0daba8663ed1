import type { EventName, Telemetry } from '@fencepost/jobs';
import type { Sometimes } from '../../support/seeded-random.js';

/** Where the ledger refuses, repeats or makes up for something: each has to be seen. The watch sees them in the replies. */
export const LEDGER_BRANCHES = [
  'claim: stale',
  'claim: stale definition',
  'claim: early',
  'claim: moved',
  'claim: repeated',
  'claim: paused',
  'claim: overlap',
  'claim: catch-up',
  'claim: merged',
  'claim: misfire',
  'trigger: accepted',
  'trigger: exists',
  'trigger: overlap',
  'backfill: accepted',
  'begin: repeated',
  'begin: busy',
  'begin: not due',
  'begin: terminal',
  'begin: uncertain',
  'begin: takeover',
  'begin: exhausted',
  'heartbeat: stale',
  'heartbeat: cancelled',
  'effect: stale',
  'effect: done before',
  'effect: unknown',
  'effect: again',
  'effect: late fact',
  'effect: known fact',
  'items: stale',
  'finish: stale',
  'finish: repeated',
  'finish: retry',
  'finish: uncertain',
  'redeliver: again',
  'redeliver: orphaned',
  'redeliver: refused',
  'resolve: done',
  'resolve: not done',
  'run: superseded',
  'run: expired',
  'run: replaced',
  'run: cancelled',
] as const;

/** Where a process notices that it may not go on, or that something is not there. */
export const EVENT_BRANCHES = [
  'lease.lost',
  'lease.preempted',
  'pods.changed',
  'run.redelivered',
  'attempt.postponed',
  'attempt.needless',
  'attempt.unhandled',
  'attempt.aborted',
  'attempt.cancelled',
  'attempt.refused',
  'effect.failed',
  'effect.unknown',
  'effect.unresolved',
  'effect.unrecorded',
  'store.failed',
  'catalog.created',
  'catalog.redeclared',
  'catalog.changed',
  'catalog.reverted',
  'catalog.restored',
  'catalog.taken',
  'catalog.removed',
  'catalog.superseded',
  'catalog.foreign',
  'catalog.differs',
] as const satisfies readonly EventName[];

export type LedgerBranch = (typeof LEDGER_BRANCHES)[number];
export type EventBranch = (typeof EVENT_BRANCHES)[number];
export type Branch = LedgerBranch | EventBranch;

/** All that has to happen at least once beside the mishaps themselves. */
export const BRANCHES: readonly Branch[] = [...LEDGER_BRANCHES, ...EVENT_BRANCHES];

const HEARD: ReadonlySet<string> = new Set(EVENT_BRANCHES);

/** Counts what a process notices. @returns a function that ends the listening */
export function attend(telemetry: Telemetry, sometimes: Pick<Sometimes<EventBranch>, 'saw'>): () => void {
  return telemetry.listen((name) => {
    if (HEARD.has(name)) sometimes.saw(name as EventBranch);
  });
}
