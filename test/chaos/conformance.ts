import { isTerminal, TRANSITIONS, type RunEvent, type RunState } from '@fencepost/ledger/run';
import type { Run } from '@fencepost/ledger/run';
import type { RecordedEvent } from './recording.js';

/** What the ledger has of a run in the end. */
export type LastRecord = Pick<Run, 'id' | 'state' | 'attempt'>;

/** What happens and no pod tells, or a pod could not tell any more: the table alone says where it may. */
const UNTOLD: readonly RunEvent[] = [
  ...(['confirm', 'orphan', 'exhaust', 'supersede', 'expire', 'cancel', 'answer', 'give-up'] as const),
];
/** Told by whoever carries the attempt out, unless that ended in the instant between. */
const ENDS: readonly RunEvent[] = ['succeed', 'fail', 'retry', 'need-operator'];

interface Attempt {
  readonly begun: readonly RecordedEvent[];
  readonly ends: readonly { readonly event: RunEvent; readonly by: RecordedEvent }[];
  readonly refused: boolean;
}

/**
 * Holds what pods told of a run against the table of states. When they told it says little, as a pod may be frozen between
 * the ledger's answer and its word; the order is that of the attempts, whose fences the ledger has issued.
 * @returns what can't be, a sentence each
 */
function conformanceOf(events: readonly RecordedEvent[], last: LastRecord | undefined): string[] {
  const claims = events.filter(({ event }) => event === 'occurrence.claimed');
  const attempts = attemptsOf(events);
  const problems = [
    ...(claims.length > 1 ? [`it was claimed ${claims.length} times`] : []),
    ...impossibleAttempts(attempts),
    ...redeliveredAfterItsEnd(events),
  ];
  return [...problems, ...walk(attempts, last)];
}

function attemptsOf(events: readonly RecordedEvent[]): ReadonlyMap<number, Attempt> {
  const numbers = new Set(
    events.flatMap(({ detail }) => (typeof detail['attempt'] === 'number' ? [detail['attempt']] : [])),
  );
  const ascending = [...numbers].toSorted((a, b) => a - b);
  return new Map(
    ascending.map((number) => [number, attemptOf(events.filter(({ detail }) => detail['attempt'] === number))]),
  );
}

function attemptOf(events: readonly RecordedEvent[]): Attempt {
  return {
    begun: events.filter(({ event }) => event === 'attempt.begun'),
    ends: events.flatMap((by) => {
      const event = endOf(by);
      return event === null ? [] : [{ event, by }];
    }),
    refused: events.some(({ event, detail }) => event === 'attempt.refused' && detail['step'] === 'finish'),
  };
}

function endOf({ event, detail }: RecordedEvent): RunEvent | null {
  if (event === 'attempt.succeeded') return 'succeed';
  if (event === 'attempt.uncertain') return 'need-operator';
  if (event === 'attempt.cancelled') return 'cancel';
  if (event !== 'attempt.failed') return null;
  return detail['state'] === 'failed' ? 'fail' : 'retry';
}

function* impossibleAttempts(attempts: ReadonlyMap<number, Attempt>): Generator<string, void, undefined> {
  let fence = 0;
  for (const [number, { begun, ends, refused }] of attempts) {
    if (begun.length !== 1) yield `attempt ${number} was begun ${begun.length} times`;
    if (ends.length > 1) yield `attempt ${number} ended ${ends.length} times`;
    if (ends.length > 0 && refused) yield `attempt ${number} ended, and its end was refused`;
    const issued = Number(begun[0]?.detail['fence'] ?? Infinity);
    if (issued <= fence) yield `attempt ${number} has fence ${issued} after fence ${fence}`;
    fence = issued;
  }
}

function redeliveredAfterItsEnd(events: readonly RecordedEvent[]): string[] {
  const late = events.filter(
    ({ event, detail }) => event === 'run.redelivered' && isTerminal(detail['was'] as RunState),
  );
  return late.map(({ detail }) => `it was handed over again as ${String(detail['was'])}`);
}

/** Whether a path of the table goes through all that was told, in the order of the attempts, to what the ledger has. */
function* walk(
  attempts: ReadonlyMap<number, Attempt>,
  last: LastRecord | undefined,
): Generator<string, void, undefined> {
  // Claimed, or skipped when it was: somebody may have ended before telling.
  let at = after(new Set<RunState | null>([null]), ['claim', 'skip']);
  let previous = 0;
  for (const [number, attempt] of attempts) {
    at = through(at, UNTOLD);
    // Attempts of which nobody told anything were begun all the same: the numbers say so.
    for (let untold = previous + 1; untold < number; untold += 1)
      at = through(after(at, ['begin']), [...UNTOLD, ...ENDS]);
    at = after(at, ['begin']);
    if (at.size === 0) return yield `attempt ${number} began when no attempt could`;
    at = ended(at, attempt);
    if (at.size === 0) return yield `attempt ${number} ended as the table doesn't allow`;
    previous = number;
  }
  if (last === undefined) return;
  for (let untold = previous + 1; untold <= last.attempt; untold += 1)
    at = through(after(at, ['begin']), [...UNTOLD, ...ENDS]);
  const end = through(at, UNTOLD);
  if (last.attempt < previous) yield `the ledger has ${last.attempt} attempts, and attempt ${previous} was begun`;
  else if (!end.has(last.state)) yield `the ledger has it as ${last.state}, which none of ${told(end)} leads to`;
}

function ended(at: ReadonlySet<RunState | null>, { ends: [end], refused }: Attempt): ReadonlySet<RunState | null> {
  if (end) return after(at, [end.event]);
  return refused ? at : new Set([...at, ...after(at, ENDS)]);
}

type States = ReadonlySet<RunState | null>;

function after(from: States, events: readonly RunEvent[]): States {
  return new Set(TRANSITIONS.flatMap((step) => (from.has(step.from) && events.includes(step.event) ? [step.to] : [])));
}

/** With any number of these events, or none. */
function through(from: States, events: readonly RunEvent[]): States {
  let [reached, before] = [from, -1];
  while (reached.size > before) {
    before = reached.size;
    reached = new Set([...reached, ...after(reached, events)]);
  }
  return reached;
}

function told(states: States): string {
  return [...states].join(', ') || 'nothing';
}

export interface ConformanceReport {
  /** How many runs were looked at. */
  readonly runs: number;
  /** A sentence for each run that did what can't be. */
  readonly problems: readonly string[];
}

export function checkConformance(events: readonly RecordedEvent[], records: readonly LastRecord[]): ConformanceReport {
  const last = new Map(records.map((record) => [record.id, record]));
  const byRun = eventsByRun(events);
  const problems = [...byRun].flatMap(([runId, ofRun]) => {
    const found = conformanceOf(ofRun, last.get(runId));
    return found.length === 0 ? [] : [`Of run ${runId}: ${found.join('; ')}.`];
  });
  return { runs: byRun.size, problems };
}

function eventsByRun(events: readonly RecordedEvent[]): ReadonlyMap<string, readonly RecordedEvent[]> {
  const byRun = new Map<string, RecordedEvent[]>();
  for (const event of events) {
    const runId = event.detail['runId'];
    if (typeof runId === 'string') byRun.set(runId, [...(byRun.get(runId) ?? []), event]);
  }
  return byRun;
}
