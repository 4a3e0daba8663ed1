import type { AuditRecord } from '@fencepost/ledger/audit-trail';
import type { Run, SkipReason } from '@fencepost/ledger/run';
import { mergedInto } from './timeline.js';
import { spoken, utc } from './why-words.js';
import { step, type InstantFacts, type Verdict, type WhyStep } from './why.js';

/** An instant whose record says that it was skipped. */
export function skippedRun(instantFacts: InstantFacts, run: Run): Verdict {
  return skipped(instantFacts, run.skipped ?? 'misfire', run);
}

/** @param run where the instant has a record of its own, and not only a place in a range */
export function skipped(instantFacts: InstantFacts, reason: SkipReason, run: Run | null): Verdict {
  switch (reason) {
    case 'overlap':
      return overlapped(instantFacts, run);
    case 'no-capable-worker':
      return unrouted(instantFacts, run);
    case 'paused':
      return paused(instantFacts);
    case 'merged':
      return merged(instantFacts);
    case 'superseded':
      return superseded(instantFacts, run);
    case 'misfire':
      return run ? notBegun(instantFacts, run) : notMadeUp(instantFacts);
  }
}

function overlapped(instantFacts: InstantFacts, run: Run | null): Verdict {
  const at = timeOfClaim(instantFacts, run);
  const going = runsInTheWay(instantFacts, run);
  const { overlap, maxConcurrency = 1 } = definitionThen(instantFacts);
  const which =
    going.length === 0
      ? 'an earlier run was not over'
      : going
          .map((other) => `${other.id} ${hadBegun(other, at) ? 'was still going' : 'waited for a worker'}`)
          .join(' and ');
  const rule = step(
    'overlap',
    `Its overlap policy is "${overlap}", and at most ${maxConcurrency} of its runs may be open at once.`,
    { level: 'warn' },
  );
  return {
    verdict: 'overlap',
    answer: `It did not run: ${which}, and its overlap policy is "${overlap}".`,
    steps: [...going.map(stillOpen), rule],
  };
}

/** Nothing overlapped: the run in its way could not begin. */
function unrouted(instantFacts: InstantFacts, run: Run | null): Verdict {
  const going = runsInTheWay(instantFacts, run);
  const { name, handler = name } = definitionThen(instantFacts);
  const which = going.length === 0 ? 'an earlier run' : going.map(({ id }) => id).join(' and ');
  const text = `No live worker had the handler "${handler}" when the instant was claimed (no-capable-worker).`;
  return {
    verdict: 'no-capable-worker',
    answer: `It did not run: no live worker had the handler "${handler}", and ${which} already waited for one.`,
    steps: [...going.map(stillOpen), step('enqueue', text, { at: run?.claimedAt ?? null, level: 'bad' })],
  };
}

function stillOpen({ id, claimedAt: at, finishedAt, state }: Run): WhyStep {
  const end = finishedAt === null ? 'and goes on' : `and ended at ${utc(finishedAt)} (${state})`;
  return step('overlap', `${id} was claimed at ${utc(at)} ${end}.`, { at, level: 'note' });
}

function timeOfClaim({ context }: InstantFacts, run: Run | null): number {
  return run?.claimedAt ?? context.dueAt;
}

/** The runs that were open when the instant was claimed. */
function runsInTheWay(instantFacts: InstantFacts, run: Run | null): Run[] {
  const at = timeOfClaim(instantFacts, run);
  const { account, context } = instantFacts;
  return account.runs.filter((other) => other.id !== run?.id && isInTheWay(other, context.at, at));
}

function hadBegun({ startedAt }: Run, at: number): boolean {
  return startedAt !== null && startedAt <= at;
}

/** Claimed by then, and not over. The schedule claims its instants in their order: a later one was claimed later. */
function isInTheWay({ state, scheduledAt, by, claimedAt, finishedAt }: Run, instant: number, at: number): boolean {
  if (state === 'skipped' || (by === null && scheduledAt >= instant)) return false;
  return claimedAt <= at && (finishedAt === null || finishedAt > at);
}

function paused(instantFacts: InstantFacts): Verdict {
  const pause = pauseOf(instantFacts);
  if (pause === null) {
    return {
      verdict: 'paused',
      answer: 'It did not run: the cron was paused.',
      steps: [step('pause', `The cron was paused then; ${unnamed(instantFacts)}.`, { level: 'warn' })],
    };
  }
  const why = pause.reason === null ? '' : `: ${pause.reason}`;
  const text = `${pause.by} paused the cron at ${utc(pause.at)}${why}.`;
  return {
    verdict: 'paused',
    answer: `It did not run: ${pause.by} had paused the cron at ${utc(pause.at)}${why}.`,
    steps: [step('pause', text, { at: pause.at, level: 'warn' }), ...resumeSteps(instantFacts, pause.at)],
  };
}

function unnamed({ orders }: InstantFacts): string {
  return orders
    ? 'the audit trail has no record of who paused it'
    : 'who paused it is unknown, because the audit trail could not be read';
}

type PauseSeen = Pick<AuditRecord, 'at' | 'by' | 'reason'>;

/**
 * The pause that an instant fell into: the last one by the time it was claimed. What nobody had claimed before the cron was
 * paused was paused as well, however long ago it was due, and so it may have been the first one after.
 */
function pauseOf({ record, orders, context, entry }: InstantFacts): PauseSeen | null {
  const latest = context.dueAt + entry.definition.graceMs;
  const { paused: now } = record;
  const pauses = [...(now ? [{ ...now, at: now.since }] : []), ...carriedOut(orders, 'pause')];
  const earlier = pauses.find(({ at }) => at <= latest);
  // Where the trail could not be read there may have been another one.
  return earlier ?? (orders ? pauses.at(-1) : null) ?? null;
}

/** One that failed may have changed nothing: its record says how it failed. */
function carriedOut(orders: InstantFacts['orders'], wanted: 'pause' | 'resume'): readonly AuditRecord[] {
  return (orders ?? []).filter(({ action, after }) => action === wanted && !Object.hasOwn(Object(after), 'error'));
}

function resumeSteps({ orders, record }: InstantFacts, since: number): WhyStep[] {
  const resumed = carriedOut(orders, 'resume').findLast(({ at }) => at >= since);
  if (resumed) return [step('pause', `${resumed.by} resumed it at ${utc(resumed.at)}.`, { at: resumed.at })];
  const { paused: now } = record;
  if (!now) return [];
  const end = now.until === null ? 'until it is resumed' : `until ${utc(now.until)}`;
  return [step('pause', `It is still paused, ${end}.`, { level: 'warn' })];
}

function merged(instantFacts: InstantFacts): Verdict {
  const into = mergedInto(instantFacts.account.runs, instantFacts.context.at);
  const policy = step(
    'misfire',
    definitionThen(instantFacts).misfire === 'fire-once'
      ? 'No pod claimed it in time, and its misfire policy "fire-once" covers all missed instants with one run.'
      : 'No pod claimed it in time. It was still within its grace, so the next run covers it.',
    { level: 'warn' },
  );
  const what = into ? `${into.id} covers it (${into.state})` : 'a later run covers it';
  const steps = into
    ? [
        step('misfire', `${into.id} was claimed at ${utc(into.claimedAt)} and covers it; it is ${into.state}.`, {
          at: into.claimedAt,
        }),
      ]
    : [];
  return {
    verdict: 'merged',
    answer: `It did not run by itself: it was missed, and ${what}.`,
    steps: [policy, ...steps],
  };
}

function superseded(instantFacts: InstantFacts, run: Run | null): Verdict {
  const next = instantFacts.account.runs.find(
    ({ scheduledAt, state }) => run !== null && scheduledAt > run.scheduledAt && state !== 'skipped',
  );
  const by = next ? next.id : 'a newer instant';
  const text = run
    ? `${by} replaced it while it waited: its overlap policy keeps only the newest.`
    : 'A newer definition replaced its own before it was claimed.';
  return {
    verdict: 'superseded',
    answer: `It did not run. ${text}`,
    steps: [...waitSteps(run), step(run ? 'overlap' : 'generation', text, { level: 'warn' })],
  };
}

function waitSteps(run: Run | null): WhyStep[] {
  return run?.waiting ? [step('enqueue', 'No live worker had its handler (no-capable-worker).', { level: 'bad' })] : [];
}

/** No worker came in time. */
function notBegun(instantFacts: InstantFacts, run: Run): Verdict {
  const { startDeadlineMs } = definitionThen(instantFacts);
  const limit = startDeadlineMs === undefined ? '' : ` within ${spoken(startDeadlineMs)} after it was due`;
  const answer = `It did not run: no worker started it${limit}, and its start deadline passed.`;
  const why = run.waiting === null ? 'no worker was free' : 'no live worker had its handler';
  return {
    verdict: 'misfire',
    answer,
    steps: [
      step('misfire', `It was claimed at ${utc(run.claimedAt)} but never started: ${why}.`, {
        at: run.claimedAt,
        level: 'warn',
      }),
    ],
  };
}

/** Nobody was there in time, and it was not made up for. */
function notMadeUp(instantFacts: InstantFacts): Verdict {
  const { misfire, graceMs, catchUpWindowMs } = definitionThen(instantFacts);
  const window = catchUpWindowMs === null ? 'one period, at most 24 h' : spoken(catchUpWindowMs);
  const grace = `its grace of ${spoken(graceMs)} was over`;
  const rule =
    misfire === 'skip'
      ? `its misfire policy is "skip" and ${grace}`
      : `it was older than the catch-up window ("${misfire}", ${window}) and ${grace}`;
  const answer = `It did not run: no pod claimed it in time, and ${rule}.`;
  return { verdict: 'misfire', answer, steps: [step('misfire', `It was missed, and ${rule}.`, { level: 'warn' })] };
}

function definitionThen({ context, entry }: InstantFacts) {
  return (context.interval?.generation ?? entry).definition;
}
