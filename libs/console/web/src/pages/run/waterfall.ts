import type { Attempt, Effect, RunReport } from '../../data/types.js';
import { WORDS } from '../../words.js';

const { waits, attempt: attemptName, attempts: attemptNames, effect: effectName } = WORDS.run;

/** One step of a run. Times are milliseconds from the beginning; `null` for what nobody has recorded. */
export interface WaterfallRow {
  readonly key: string;
  readonly kind: 'wait' | 'attempt' | 'effect';
  readonly name: string;
  readonly from: number | null;
  /** `null` while it goes on, or where no end is recorded. */
  readonly to: number | null;
  readonly tookMs: number | null;
  /** Goes on until now. */
  readonly open: boolean;
  readonly tone: 'good' | 'bad' | 'warn' | 'info' | 'calm';
}

export interface Waterfall {
  /** The instant that all offsets count from. */
  readonly begin: string;
  /** How long all of it took so far. */
  readonly ms: number;
  readonly rows: readonly WaterfallRow[];
}

type Told = Pick<RunReport, 'run' | 'effects' | 'attempts'>;

/** Of a run that has not ended. */
export const OPEN_STATES: ReadonlySet<string> = new Set(['claimed', 'enqueued', 'running', 'orphaned', 'uncertain']);

/** What a run did from its due time to its end, wait by wait and attempt by attempt. */
export function waterfallOf(told: Told, now: number): Waterfall {
  const { run } = told;
  const begin = wasDue(run) ? earlier(run.dueAt, run.claimedAt) : run.claimedAt;
  const end = OPEN_STATES.has(run.state) ? now : lastOf(told);
  const scale = new Scale(Date.parse(begin), end);
  return { begin, ms: Math.max(1, end - Date.parse(begin)), rows: [...rowsOf(told, scale)] };
}

/** A manual or backfilled run was not due before somebody asked for it. */
function wasDue({ reason }: RunReport['run']): boolean {
  return reason === 'schedule' || reason === 'catch-up';
}

function earlier(a: string, b: string): string {
  return a < b ? a : b;
}

/** Effects may be recorded after the end of their run. */
function lastOf({ run, effects, attempts }: Told): number {
  const ends = [run.finishedAt, ...effects.map((one) => one.finishedAt), ...attempts.map((one) => one.endedAt)];
  return Math.max(Date.parse(run.claimedAt), ...ends.flatMap((at) => (at === null ? [] : [Date.parse(at)])));
}

class Scale {
  constructor(
    private readonly begin: number,
    private readonly end: number,
  ) {}

  offset(iso: string | null): number | null {
    return iso === null ? null : Math.max(0, Date.parse(iso) - this.begin);
  }

  get now(): number {
    return this.end - this.begin;
  }
}

type Step = Omit<WaterfallRow, 'from' | 'to' | 'tookMs' | 'open' | 'tone'> & {
  readonly span: readonly [from: string | null, to: string | null];
  readonly tone?: WaterfallRow['tone'];
  readonly goesOn?: boolean;
};

function rowOf({ span: [begin, end], tone = 'calm', goesOn = false, ...step }: Step, scale: Scale): WaterfallRow {
  const [from, to] = [scale.offset(begin), scale.offset(end)];
  const until = to ?? (goesOn ? scale.now : null);
  const tookMs = from === null || until === null ? null : Math.max(0, until - from);
  return { ...step, from, to, tookMs, open: goesOn && to === null, tone };
}

function* rowsOf(told: Told, scale: Scale): Generator<WaterfallRow> {
  const { run, effects } = told;
  const attempts = told.attempts.toReversed();
  for (const step of waitsBefore(told)) yield rowOf(step, scale);
  const left = new Set(effects);
  let before: Attempt | null = null;
  for (const attempt of attempts) {
    const gap = before && waitBetween(before, attempt);
    if (gap) yield rowOf(gap, scale);
    yield rowOf(stepOf(attempt), scale);
    for (const effect of [...left].filter((one) => isWithin(one, attempt))) {
      left.delete(effect);
      yield rowOf(effectStep(effect, run.state), scale);
    }
    before = attempt;
  }
  for (const effect of left) yield rowOf(effectStep(effect, run.state), scale);
  const last = before && waitAfter(before, told);
  if (last) yield rowOf(last, scale);
}

function* waitsBefore({ run }: Told): Generator<Step> {
  const wait = { kind: 'wait' as const };
  if (wasDue(run))
    yield { ...wait, key: 'claim', name: waits.claim, span: [earlier(run.dueAt, run.claimedAt), run.claimedAt] };
  if (run.enqueuedAt !== null)
    yield { ...wait, key: 'enqueue', name: waits.enqueue, span: [run.claimedAt, run.enqueuedAt] };
  const goesOn = OPEN_STATES.has(run.state) && run.startedAt === null;
  if (run.startedAt === null && !goesOn) return;
  // A worker may begin before the scheduler has noted that it was enqueued.
  const from =
    run.startedAt !== null && run.enqueuedAt !== null ? earlier(run.enqueuedAt, run.startedAt) : run.enqueuedAt;
  yield { ...wait, key: 'worker', name: waits.worker, span: [from ?? run.claimedAt, run.startedAt], goesOn };
}

const TONES: Readonly<Record<Attempt['end'], WaterfallRow['tone']>> = {
  ...{ succeeded: 'good', failed: 'bad', refused: 'bad', uncertain: 'warn', aborted: 'warn', cancelled: 'calm' },
  ...{ open: 'info', unrecorded: 'calm', lost: 'calm' },
};

function stepOf({ number, first, beganAt, endedAt, end }: Attempt): Step {
  const name = first === number ? attemptName(number) : attemptNames(first, number);
  return {
    key: `attempt-${number}`,
    kind: 'attempt',
    name,
    span: [beganAt, endedAt],
    tone: TONES[end],
    goesOn: end === 'open',
  };
}

function waitBetween(before: Attempt, { number, beganAt }: Attempt): Step | null {
  if (before.endedAt === null || beganAt === null || beganAt <= before.endedAt) return null;
  return { key: `wait-${number}`, kind: 'wait', name: waits.retry(number), span: [before.endedAt, beganAt] };
}

function waitAfter({ number, endedAt, end }: Attempt, { run }: Told): Step | null {
  if (endedAt === null) return null;
  const wait = { key: 'end', kind: 'wait' as const };
  if (run.state === 'uncertain') return { ...wait, name: waits.operator, span: [endedAt, null], goesOn: true };
  if (run.state === 'enqueued' && end === 'failed')
    return { ...wait, name: waits.retry(number + 1), span: [endedAt, null], goesOn: true };
  return run.finishedAt !== null && run.finishedAt > endedAt
    ? { ...wait, name: waits.finish, span: [endedAt, run.finishedAt] }
    : null;
}

function isWithin({ since }: Effect, { beganAt, endedAt }: Attempt): boolean {
  return beganAt !== null && since >= beganAt && (endedAt === null || since <= endedAt);
}

function effectStep({ name, since, finishedAt, state, unknown }: Effect, runState: string): Step {
  const tone = unknown ? 'warn' : state === 'done' ? 'good' : state === 'failed' ? 'bad' : 'info';
  const goesOn = state === 'begun' && runState === 'running';
  return { key: `effect-${name}`, kind: 'effect', name: effectName(name), span: [since, finishedAt], tone, goesOn };
}
