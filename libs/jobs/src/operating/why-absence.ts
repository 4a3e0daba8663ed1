import { ownerPrefix } from '@fencepost/lease/internal';
import { EFFECTIVE_AFTER_MS } from '@fencepost/ledger/catalog';
import { skipCover } from '../audit/skip-cover.js';
import { isManual } from '@fencepost/schedule';
import { cronSteps, leaseStep, termBefore } from './why-journal.js';
import { nearest } from './why-schedule.js';
import { skipped } from './why-skip.js';
import { spoken, timeOfDay, utc, wallText } from './why-words.js';
import { step, type Scene, type Verdict, type WhyStep } from './why.js';

/** What became of a time that has no run. */
export function withoutRun(scene: Scene): Verdict {
  const { standing, range, record, now } = scene;
  if (range && standing.isInstant) return skipped(scene, range.reason, null);
  if (!standing.isInstant) return noInstant(scene);
  const isAccountedFor = record.cursor !== null && standing.at <= record.cursor;
  return standing.dueAt > now && !isAccountedFor ? ahead(scene) : past(scene);
}

function noInstant(scene: Scene): Verdict {
  const { standing, entry } = scene;
  const { reign } = standing;
  const { state, definition, since, by } = reign?.generation ?? entry;
  const [tense, when] = standing.at > scene.now ? ['does', 'is'] : ['did', 'was'];
  if (isManual(definition.expression)) {
    return {
      verdict: 'manual',
      answer: `It ${tense} not run by itself: it has no schedule, and runs when somebody asks for it.`,
      steps: [],
    };
  }
  if (reign === null) return beforeKnown(scene);
  if (state !== 'firing') {
    return {
      verdict: state,
      answer: `It ${tense} not run: the cron ${when} ${state}, since ${utc(since)} (by ${by}).`,
      steps: [],
    };
  }
  return notThen(scene, tense);
}

/** A time before the oldest definition that the catalog has. */
function beforeKnown({ entry, standing, account, range, now }: Scene): Verdict {
  const { since, generation } = entry.past[0] ?? entry;
  if (since - EFFECTIVE_AFTER_MS > now) {
    const answer = `It can't be told from the clock: the store's clock shows ${utc(now)}, and the cron was made at ${utc(since)}. The clock went back by at least ${spoken(since - now)}; nothing runs by the schedule until it has caught up.`;
    return { verdict: 'clock-behind', answer, steps: [] };
  }
  const isRecorded = range !== null || account.runs.some(({ scheduledAt, by }) => by === null && scheduledAt <= since);
  if (generation > 1 || isRecorded) {
    const answer = `What was to run then is not known any more: the catalog has the definitions of the cron since ${utc(since)} only, and there is no run at ${utc(standing.at)}.`;
    return { verdict: 'forgotten', answer, steps: [] };
  }
  const answer = `It did not run: the cron is known since ${utc(since)} only, and a new cron has missed nothing.`;
  return { verdict: 'unborn', answer, steps: [] };
}

/** Clocks may be why the schedule has nothing there. */
function notThen(scene: Scene, tense: string): Verdict {
  const { standing, asked } = scene;
  const { gap, wall } = asked ?? standing.local;
  const { timeZone } = standing.reign?.schedule ?? scene.entry.definition;
  if (gap) {
    const answer = `It ${tense} not run: ${wallText(wall)} does not exist in ${timeZone}, clocks go forward from ${timeOfDay(gap.from)} to ${timeOfDay(gap.to)}.`;
    return { verdict: 'gap', answer, steps: nextSteps(scene) };
  }
  const { twin } = standing;
  if (twin !== null) {
    const answer = `It ${tense} not run at ${utc(standing.at)}: clocks show ${wallText(standing.local.wall)} twice, and the cron goes by the other one, ${utc(twin)}.`;
    return { verdict: 'repeat', answer, steps: nextSteps(scene) };
  }
  return {
    verdict: 'no-instant',
    answer: `It ${tense} not run at ${utc(standing.at)}, because its schedule has no instant there. ${nearest(scene)}`,
    steps: nextSteps(scene),
  };
}

/** What there is to say of the instants beside it, where the one asked about is none. */
function nextSteps(scene: Scene): WhyStep[] {
  const { standing, record, now } = scene;
  const { after } = standing.neighbours;
  if (after === null || after <= now) return beforeSteps(scene);
  const held = record.paused && (record.paused.until === null || record.paused.until > after);
  const text = `Its next instant is ${utc(after)}, in ${spoken(after - now)}${held ? '; it is paused then' : ''}.`;
  return [...beforeSteps(scene), step('next', text, { at: after, level: held ? 'warn' : 'ok' })];
}

function beforeSteps({ standing, account, now }: Scene): WhyStep[] {
  const { before } = standing.neighbours;
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

function past(scene: Scene): Verdict {
  const { standing, record, account } = scene;
  const { at } = standing;
  if (record.cursor === null || at > record.cursor) return unclaimed(scene);
  if (account.forgotten !== null && at <= account.forgotten) {
    const text = 'The ledger has forgotten what became of it: it is too long ago.';
    return { verdict: 'forgotten', answer: text, steps: [step('claim', text, { level: 'note' })] };
  }
  const text = `Every instant up to ${utc(record.cursor)} is accounted for, and this one has neither a run nor a reason.`;
  const answer = `It was missed, and nobody noted why: hold the ledger against the schedule with "fencepost audit --cron ${scene.cron}", and run it with "fencepost backfill".`;
  return {
    verdict: 'missed',
    answer,
    steps: [step('claim', text, { at: record.cursor, level: 'bad' }), ...termBefore(scene, standing.dueAt)],
  };
}

function unclaimed(scene: Scene): Verdict {
  const { standing, record, lease, now } = scene;
  const since = spoken(now - standing.dueAt);
  const holder = lease ? ownerPrefix(lease.holder) : null;
  const heard = cronSteps(scene, standing.dueAt, now);
  const steps = [
    ...pauseSteps(scene, standing.at),
    ...leaseStep(scene, holder),
    ...(heard.length > 0 ? heard : termBefore(scene, now)),
    ...refusalSteps(scene),
  ];
  const cause = causeOf(scene, holder);
  const level = now - standing.dueAt > scene.entry.definition.graceMs ? 'bad' : 'note';
  const text = `Instants are accounted for up to ${record.cursor === null ? 'none at all' : utc(record.cursor)}.`;
  const answer = `It was due ${since} ago and nobody has claimed it yet: ${cause}.`;
  return { verdict: 'due', answer, steps: [step('claim', text, { at: record.cursor, level }), ...steps] };
}

function causeOf({ lease, record, entry }: Scene, holder: string | null): string {
  if (record.generation > entry.generation)
    return 'its ledger knows a newer generation than the catalog, which was lost';
  if (record.paused) return 'the cron is paused, and it will be noted as skipped';
  if (lease === undefined) return 'look whether a scheduler is there';
  if (holder === null) return 'no scheduler holds its lease. Is one running? "fencepost pods" shows it';
  return `${holder} holds its lease and has not got to it. Look at that pod`;
}

function refusalSteps({ record }: Scene): WhyStep[] {
  if (record.refusals === 0) return [];
  return [
    step('fence', `The ledger has refused ${record.refusals} stale calls of this cron so far.`, { level: 'note' }),
  ];
}

function ahead(scene: Scene): Verdict {
  const { standing, now } = scene;
  const held = pauseSteps(scene, standing.at);
  const holder = scene.lease ? ownerPrefix(scene.lease.holder) : null;
  const steps = [...held, ...openSteps(scene), ...leaseStep(scene, holder)];
  const inMs = spoken(standing.dueAt - now);
  if (held.length > 0) {
    return {
      verdict: 'will-not-run',
      answer: `It is still to come, in ${inMs}, and it will be skipped: the cron is paused then.`,
      steps,
    };
  }
  const { overlap } = (standing.reign?.generation ?? scene.entry).definition;
  const open = openRuns(scene).length > 0 && overlap === 'skip' ? ' unless the run before it goes on until then' : '';
  const away = scene.lease === null ? ' once a scheduler holds its lease: none does now' : '';
  return {
    verdict: 'will-run',
    answer: `It is still to come: it will run in ${inMs}, at ${utc(standing.dueAt)}${open || away}.`,
    steps,
  };
}

function pauseSteps({ record: { paused } }: Scene, at: number): WhyStep[] {
  if (!paused || (paused.until !== null && paused.until <= at)) return [];
  const end = paused.until === null ? 'until somebody resumes it' : `until ${utc(paused.until)}`;
  return [
    step('pause', `${paused.by} paused the cron at ${utc(paused.since)}, ${end}: ${paused.reason}.`, {
      at: paused.since,
      level: 'warn',
    }),
  ];
}

function openRuns({ account }: Scene) {
  return account.runs.filter(({ finishedAt, state }) => finishedAt === null && state !== 'skipped');
}

function openSteps(scene: Scene): WhyStep[] {
  return openRuns(scene).map(({ id, state, claimedAt }) =>
    step('overlap', `${id} is ${state} since ${utc(claimedAt)}.`, { at: claimedAt, level: 'note' }),
  );
}
