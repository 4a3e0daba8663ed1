import type { RecordedEvent, Recording } from './recording.js';
import type { Observation } from './observations.js';

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
  if (event === 'occurrence.skipped' && detail['reason'] === 'overlap') return 'skipped.overlap';
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
