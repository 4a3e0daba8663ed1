import { ownerPrefix } from '@fencepost/lease/internal';
import { EFFECTIVE_AFTER_MS } from '@fencepost/ledger/catalog';
import { isManual } from '@fencepost/schedule';
import { skipCover } from '../audit/skip-cover.js';
import { changeText } from './why-changes.js';
import { cronSteps, leaseStep, termBefore } from './why-journal.js';
import { nearest } from './why-schedule.js';
import { skipped } from './why-skip.js';
import { spoken, timeOfDay, utc, wallText } from './why-words.js';
import { step, type InstantFacts, type Verdict, type WhyStep } from './why.js';

/** What became of a time that has no run. */
export function withoutRun(instantFacts: InstantFacts): Verdict {
  const { context, range, record, now } = instantFacts;
  if (range && context.isInstant) return skipped(instantFacts, range.reason, null);
  if (!context.isInstant) return noInstant(instantFacts);
  const isAccountedFor = record.cursor !== null && context.at <= record.cursor;
  return context.dueAt > now && !isAccountedFor ? ahead(instantFacts) : past(instantFacts);
}

function noInstant(instantFacts: InstantFacts): Verdict {
  const { context, entry } = instantFacts;
  const { interval } = context;
  const { state, definition, since, by, reason } = interval?.generation ?? entry;
  const [tense, when] = context.at > instantFacts.now ? ['does', 'is'] : ['did', 'was'];
  if (isManual(definition.expression)) {
    return {
      verdict: 'manual',
      answer: `It ${tense} not run by itself: it has no schedule and runs only on request.`,
      steps: [],
    };
  }
  if (interval === null) return beforeKnown(instantFacts);
  if (state !== 'active') {
    return {
      verdict: state,
      answer: `It ${tense} not run: the cron ${when} ${state}, since ${utc(since)} (by ${by}${reason === null ? '' : `: ${reason}`}).`,
      steps: [],
    };
  }
  return notThen(instantFacts, tense);
}

/** A time before the oldest definition that the catalog has. */
function beforeKnown({ entry, context, account, range, now }: InstantFacts): Verdict {
  const { since, generation } = entry.past[0] ?? entry;
  if (since - EFFECTIVE_AFTER_MS > now) {
    const answer = `The clock gives no answer: the store's clock shows ${utc(now)}, and the cron was created at ${utc(since)}. The clock went back by at least ${spoken(since - now)}; no occurrence is claimed until it has caught up.`;
    return { verdict: 'clock-behind', answer, steps: [] };
  }
  const isRecorded = range !== null || account.runs.some(({ scheduledAt, by }) => by === null && scheduledAt <= since);
  if (generation > 1 || isRecorded) {
    const answer = `The schedule at that time is no longer known: the catalog has definitions of the cron only since ${utc(since)}, and there is no run at ${utc(context.at)}.`;
    return { verdict: 'forgotten', answer, steps: [] };
  }
  const answer = `It did not run: the cron exists only since ${utc(since)}, and a new cron has no missed instants.`;
  return { verdict: 'unborn', answer, steps: [] };
}

/** Clocks may be why the schedule has nothing there. */
function notThen(instantFacts: InstantFacts, tense: string): Verdict {
  const { context, asked } = instantFacts;
  const { gap, wall } = asked ?? context.local;
  const { timeZone } = context.interval?.schedule ?? instantFacts.entry.definition;
  if (gap) {
    const answer = `It ${tense} not run: ${wallText(wall)} does not exist in ${timeZone}, clocks go forward from ${timeOfDay(gap.from)} to ${timeOfDay(gap.to)}.`;
    return { verdict: 'gap', answer, steps: nextSteps(instantFacts) };
  }
  const { repeats } = context;
  if (repeats !== null) {
    const answer = `It ${tense} not run at ${utc(context.at)}: clocks show ${wallText(context.local.wall)} twice, and the cron uses the other one, ${utc(repeats)}.`;
    return { verdict: 'repeat', answer, steps: nextSteps(instantFacts) };
  }
  return {
    verdict: 'no-instant',
    answer: `It ${tense} not run at ${utc(context.at)}, because ${changeText(instantFacts) ?? 'its schedule has no instant there'}. ${nearest(instantFacts)}`,
    steps: nextSteps(instantFacts),
  };
}

/** What there is to say of the instants beside it, where the one asked about is none. */
function nextSteps(instantFacts: InstantFacts): WhyStep[] {
  const { context, record, now } = instantFacts;
  const { after } = context.neighbours;
  if (after === null || after <= now) return beforeSteps(instantFacts);
  const held = record.paused && (record.paused.until === null || record.paused.until > after);
  const text = `Its next instant is ${utc(after)}, in ${spoken(after - now)}${held ? '; it is paused then' : ''}.`;
  return [...beforeSteps(instantFacts), step('next', text, { at: after, level: held ? 'warn' : 'ok' })];
}

function beforeSteps({ context, account, now }: InstantFacts): WhyStep[] {
  const { before } = context.neighbours;
  if (before === null || before > now) return [];
  const run = account.runs.find(({ scheduledAt }) => scheduledAt === before);
  const reason = run ? run.skipped : (skipCover(account.skips)(before)?.reason ?? null);
  const became = reason === null ? run?.state : `skipped (${reason})`;
  if (became === undefined) return [];
  const good = became === 'succeeded' || became === 'running';
  return [
    step('next', `The instant before it, ${utc(before)}: ${became}.`, { at: before, level: good ? 'ok' : 'note' }),
  ];
}

function past(instantFacts: InstantFacts): Verdict {
  const { context, record, account } = instantFacts;
  const { at } = context;
  if (record.cursor === null || at > record.cursor) return unclaimed(instantFacts);
  if (account.forgotten !== null && at <= account.forgotten) {
    const text = 'The ledger no longer has a record of it: it is too long ago.';
    return { verdict: 'forgotten', answer: text, steps: [step('claim', text, { level: 'note' })] };
  }
  const text = `Every instant up to ${utc(record.cursor)} is accounted for, and this one has neither a run nor a reason.`;
  const answer = `It was missed without a recorded reason: compare the ledger with the schedule by "fencepost audit --cron ${instantFacts.cron}", and run it with "fencepost backfill".`;
  return {
    verdict: 'missed',
    answer,
    steps: [step('claim', text, { at: record.cursor, level: 'bad' }), ...termBefore(instantFacts, context.dueAt)],
  };
}

function unclaimed(instantFacts: InstantFacts): Verdict {
  const { context, record, lease, now } = instantFacts;
  const since = spoken(now - context.dueAt);
  const holder = lease ? ownerPrefix(lease.holder) : null;
  const heard = cronSteps(instantFacts, context.dueAt, now);
  const steps = [
    ...pauseSteps(instantFacts, context.at),
    ...leaseStep(instantFacts, holder),
    ...(heard.length > 0 ? heard : termBefore(instantFacts, now)),
    ...refusalSteps(instantFacts),
  ];
  const cause = causeOf(instantFacts, holder);
  const level = now - context.dueAt > instantFacts.entry.definition.graceMs ? 'bad' : 'note';
  const text = `Instants are accounted for up to ${record.cursor === null ? 'none at all' : utc(record.cursor)}.`;
  const { standstill = null } = instantFacts;
  const why = standstill ? `. ${standstill.text}` : `: ${cause}.`;
  const answer = `It was due ${since} ago and no pod has claimed it yet${why}`;
  return { verdict: 'due', answer, steps: [step('claim', text, { at: record.cursor, level }), ...steps] };
}

function causeOf({ lease, record, entry }: InstantFacts, holder: string | null): string {
  if (record.generation > entry.generation)
    return 'its ledger knows a newer generation than the catalog, which was lost';
  if (record.paused) return 'the cron is paused, and it will be noted as skipped';
  if (lease === undefined) return 'check whether a scheduler is live';
  if (holder === null) return 'no scheduler holds its lease. Check "fencepost pods" for a live one';
  return `${holder} holds its lease but has not claimed it. Check that pod`;
}

function refusalSteps({ record }: InstantFacts): WhyStep[] {
  if (record.refusals === 0) return [];
  return [
    step('fence', `The ledger has refused ${record.refusals} stale calls of this cron so far.`, { level: 'note' }),
  ];
}

function ahead(instantFacts: InstantFacts): Verdict {
  const { context, now } = instantFacts;
  const held = pauseSteps(instantFacts, context.at);
  const holder = instantFacts.lease ? ownerPrefix(instantFacts.lease.holder) : null;
  const steps = [...held, ...openSteps(instantFacts), ...leaseStep(instantFacts, holder)];
  const inMs = spoken(context.dueAt - now);
  if (held.length > 0) {
    return {
      verdict: 'will-not-run',
      answer: `It is still to come, in ${inMs}, and it will be skipped: the cron is paused then.`,
      steps,
    };
  }
  const { overlap } = (context.interval?.generation ?? instantFacts.entry).definition;
  const open =
    openRuns(instantFacts).length > 0 && overlap === 'skip' ? ' unless the previous run is still open then' : '';
  const away = instantFacts.lease === null ? ' once a scheduler holds its lease; none does now' : '';
  return {
    verdict: 'will-run',
    answer: `It is still to come: it will run in ${inMs}, at ${utc(context.dueAt)}${open || away}.`,
    steps,
  };
}

function pauseSteps({ record: { paused } }: InstantFacts, at: number): WhyStep[] {
  if (!paused || (paused.until !== null && paused.until <= at)) return [];
  const end = paused.until === null ? 'until it is resumed' : `until ${utc(paused.until)}`;
  return [
    step('pause', `${paused.by} paused the cron at ${utc(paused.since)}, ${end}: ${paused.reason}.`, {
      at: paused.since,
      level: 'warn',
    }),
  ];
}

function openRuns({ account }: InstantFacts) {
  return account.runs.filter(({ finishedAt, state }) => finishedAt === null && state !== 'skipped');
}

function openSteps(instantFacts: InstantFacts): WhyStep[] {
  return openRuns(instantFacts).map(({ id, state, claimedAt }) =>
    step('overlap', `${id} is ${state} since ${utc(claimedAt)}.`, { at: claimedAt, level: 'note' }),
  );
}
