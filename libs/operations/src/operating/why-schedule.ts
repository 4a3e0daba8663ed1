import { EFFECTIVE_AFTER_MS } from '@fencepost/ledger/catalog';
import { isManual } from '@fencepost/schedule';
import type { LocalTime } from './why-when.js';
import { bothClocks, plural, spoken, timeOfDay, utc, wallText } from './why-words.js';
import { step, type InstantFacts, type WhyStep } from './why.js';

/** Whether it is an instant at all, and what changes of the clocks have to do with it. */
export function scheduleSteps(instantFacts: InstantFacts): WhyStep[] {
  const { context, entry } = instantFacts;
  const { expression, timeZone } = (context.interval?.generation ?? entry).definition;
  if (isManual(expression)) {
    return [step('schedule', `"${expression}" has no instants: it runs only on request.`, { level: 'note' })];
  }
  const what = `"${expression}" in ${timeZone}`;
  const said = context.isInstant
    ? step('schedule', `${what} has an instant at ${bothClocks(context.at, timeZone)}.`, { at: context.at })
    : step('schedule', `${what} has no instant at ${bothClocks(context.at, timeZone)}. ${nearest(instantFacts)}`, {
        level: 'note',
      });
  return [said, ...clockSteps(instantFacts), ...spreadSteps(instantFacts)];
}

/** The instants next to it, in a sentence. */
export function nearest({ context }: Pick<InstantFacts, 'context'>): string {
  const { before, after } = context.neighbours;
  if (before === null && after === null) return 'There is none before it and none after it.';
  if (before === null) return `The first one is ${utc(after ?? 0)}.`;
  if (after === null) return `The last one was ${utc(before)}.`;
  return `The nearest are ${utc(before)} before it and ${utc(after)} after it.`;
}

function clockSteps({ context, asked, entry }: InstantFacts): WhyStep[] {
  const { definition } = context.interval?.generation ?? entry;
  const local = asked ?? context.movedFrom ?? context.local;
  const missing = local.gap ? local : context.movedFrom;
  if (missing?.gap) return [step('schedule', gapText(missing, definition), { at: missing.gap.at, level: 'note' })];
  if (local.instants.length < 2 || context.interval === null) return [];
  return [step('schedule', repeatText(local, context.interval.schedule.kind, definition), { level: 'note' })];
}

type Ruled = Pick<InstantFacts['entry']['definition'], 'dst' | 'timeZone'>;

function gapText({ wall, gap }: LocalTime, { dst, timeZone }: Ruled): string {
  const jump = gap ? `clocks went forward from ${timeOfDay(gap.from)} to ${timeOfDay(gap.to)} at ${utc(gap.at)}` : '';
  const rule = dst?.gap ?? 'next-valid';
  return `${wallText(wall)} does not exist in ${timeZone}: ${jump}. A fixed time in such a gap ${GAP[rule]} (dst.gap "${rule}"); an interval has no instant there.`;
}

const GAP = {
  'next-valid': 'runs at the first instant after it',
  skip: 'does not run',
  shift: 'runs as much later as the gap is long',
} as const;

function repeatText({ wall, instants }: LocalTime, kind: 'fixed' | 'interval', { dst, timeZone }: Ruled): string {
  const twice = `Clocks in ${timeZone} show ${wallText(wall)} twice, at ${instants.map(utc).join(' and at ')}`;
  const rule = dst?.repeat ?? 'first';
  return kind === 'interval'
    ? `${twice}: an interval runs through both.`
    : `${twice}: of a fixed time ${rule === 'both' ? 'both count' : `only the ${rule} counts`} (dst.repeat "${rule}").`;
}

function spreadSteps({ context }: InstantFacts): WhyStep[] {
  const spreadMs = context.dueAt - context.at;
  if (!context.isInstant || spreadMs === 0) return [];
  const text = `It is due ${spoken(spreadMs)} later, at ${utc(context.dueAt)}: the cron is spread.`;
  return [step('schedule', text, { at: context.dueAt })];
}

/** The newest record of the cron is later than the store's clock shows: nothing more can happen until the clock is past it. */
export function storeClockSteps({ entry, record, account, now }: InstantFacts): WhyStep[] {
  const changes = [...entry.past, entry].map(({ since }) => since - EFFECTIVE_AFTER_MS);
  const claims = account.runs.map(({ claimedAt }) => claimedAt);
  const latest = Math.max(record.cursor ?? 0, ...changes, ...claims);
  // Clocks of two stores differ a little, and a claim may be a little early.
  if (latest - EFFECTIVE_AFTER_MS <= now) return [];
  const text = `The store's clock shows ${utc(now)}, and the cron has records up to ${utc(latest)}: the clock went back by at least ${spoken(latest - now)}. No occurrence is claimed until it has caught up.`;
  return [step('claim', text, { at: latest, level: 'bad' })];
}

/** Which definition was in force, and what came of it since. */
export function generationSteps({ context, entry, now }: InstantFacts): WhyStep[] {
  const { interval, at } = context;
  if (interval === null) {
    const first = entry.past[0] ?? entry;
    return [step('generation', `The cron has no history before ${utc(first.since)}.`, { level: 'note' })];
  }
  const { generation, since, by, state, reason } = interval.generation;
  const words = reason === null ? '' : `: ${reason}`;
  const level = state === 'active' ? 'ok' : 'warn';
  const said = `Generation ${generation} ${at > now ? 'is in force' : 'was in force then'}, ${state}, since ${utc(since)} (by ${by}${words}).`;
  const later = [...entry.past, entry].filter((other) => other.since >= at && other.since <= now);
  const steps = [step('generation', said, { at: since, level })];
  const newest = later.at(-1);
  if (!newest) return steps;
  const { definition } = newest;
  const today = `Since then it was changed ${plural(later.length, 'time')}; it is ${newest.state} now, with "${definition.expression}" in ${definition.timeZone} (by ${newest.by}).`;
  return [...steps, step('generation', today, { at: newest.since, level: 'note' })];
}
