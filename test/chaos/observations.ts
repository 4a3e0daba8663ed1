import type { Stall } from '../pods/stall.js';
import type { RecordedEvent, Recording } from './recording.js';

/** Branches in which somebody is refused, put off or asked, as they are told in the closing line. */
export const OBSERVATIONS = [
  ...(['claim.stale', 'claim.moved', 'claim.outdated', 'lease.preempted', 'lease.lost', 'run.redelivered'] as const),
  ...(['run.orphaned', 'takeover', 'attempt.refused', 'attempt.busy', 'attempt.needless', 'attempt.aborted'] as const),
  ...([
    'effect.late',
    'effect.known',
    'effect.unknown',
    'effect.unresolved',
    'skipped.overlap',
    'passed.merged',
  ] as const),
  ...(['passed.misfire', 'superseded', 'answered.done', 'answered.not-done', 'sink.stale', 'sink.repeated'] as const),
  ...(['store.failed', 'stalled', 'transaction.refused', 'claimed.minority-away'] as const),
];

export type Observation = (typeof OBSERVATIONS)[number];

/** What a minute of chaos reliably provokes: a run in which one of these is missing has not tested it. */
const RELIABLE: readonly Observation[] = [
  ...(['claim.stale', 'lease.lost', 'run.redelivered', 'takeover', 'attempt.refused', 'attempt.aborted'] as const),
  ...(['effect.late', 'effect.unknown', 'effect.unresolved', 'answered.done', 'answered.not-done'] as const),
  ...(['store.failed', 'stalled'] as const),
];

export function sometimesOf(_ledger: 'redis' | 'postgres'): readonly Observation[] {
  return RELIABLE;
}

/** Past its lease, after the last look at it and before the claim is sent. */
export const SCHEDULER_STALLS: readonly Stall[] = [{ event: 'occurrence.claiming', every: 15, forMs: 2_500 }];

/** Past the run lease: before the ledger is asked for an effect, after that has acted, and before its attempt is finished. */
export const WORKER_STALLS: readonly Stall[] = [
  { event: 'effect.beginning', every: 30, forMs: 2_500 },
  { event: 'effect.acted', every: 8, forMs: 2_500, where: { cron: 'chaos-asked' } },
  { event: 'effect.finished', every: 40, forMs: 2_500 },
];

type Counts = Partial<Record<Observation, number>>;

/** Events that are a sighting by themselves. */
const AS_TOLD: readonly Observation[] = [
  ...([
    'claim.stale',
    'claim.outdated',
    'lease.preempted',
    'lease.lost',
    'run.redelivered',
    'attempt.refused',
  ] as const),
  ...([
    'attempt.needless',
    'attempt.aborted',
    'effect.late',
    'effect.known',
    'effect.unknown',
    'effect.unresolved',
  ] as const),
  ...(['store.failed', 'stalled'] as const),
];

/** Which branches in which somebody is refused, put off or asked were taken, and how often. */
export function observationsIn({ events, calls }: Recording): Counts {
  const counts: Counts = {};
  const saw = (name: Observation, times = 1) => (counts[name] = (counts[name] ?? 0) + times);
  for (const one of events) {
    const told = AS_TOLD.find((name) => name === one.event);
    if (told) saw(told);
    const more = otherObservation(one);
    if (more) saw(more);
  }
  saw('claim.moved', calls.filter(({ op, output }) => op === 'claimAll' && hasMoved(output)).length);
  saw('takeover', takeovers(events).length);
  return counts;
}

function hasMoved(replies: unknown): boolean {
  return JSON.stringify(replies)?.includes('"moved"') ?? false;
}

function otherObservation({ event, detail }: RecordedEvent): Observation | null {
  if (event === 'attempt.postponed' && detail['verdict'] === 'busy') return 'attempt.busy';
  if (event === 'run.redelivered' && detail['was'] === 'running') return 'run.orphaned';
  if (event === 'occurrence.skipped' && detail['reason'] !== 'paused') return 'skipped.overlap';
  if (event === 'occurrence.passed' && detail['reason'] === 'merged') return 'passed.merged';
  if (event === 'occurrence.passed' && detail['reason'] === 'misfire') return 'passed.misfire';
  if (event === 'attempt.refused' && detail['cron'] === 'chaos-booked') return 'transaction.refused';
  return null;
}

const ENDS = new Set(['attempt.succeeded', 'attempt.failed', 'attempt.uncertain', 'attempt.cancelled']);

/** Attempts that began although the one before them never told its end. */
function takeovers(events: readonly RecordedEvent[]): RecordedEvent[] {
  const ended = new Set(events.filter(({ event }) => ENDS.has(event)).map(({ detail }) => nameOf(detail, 0)));
  return events.filter(
    ({ event, detail }) => event === 'attempt.begun' && Number(detail['attempt']) > 1 && !ended.has(nameOf(detail, -1)),
  );
}

function nameOf(detail: RecordedEvent['detail'], offset: number): string {
  return `${String(detail['runId'])}#${Number(detail['attempt']) + offset}`;
}
