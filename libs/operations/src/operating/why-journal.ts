import type { Run } from '@fencepost/ledger/run';
import { eventSentence, type EventLevel } from '@fencepost/jobs/internal';
import type { JournalEntry } from '../journal/journal.js';
import { spoken, utc } from './why-words.js';
import { step, type InstantFacts, type WhyStep, type WhyTopic } from './why.js';

/** What the record of a run and its effects say better. */
const TOLD_ELSEWHERE =
  /^(occurrence|run\.(enqueued|confirmed)|attempt\.(begun|succeeded|needless)|effect\.(begun|finished))/;

/** What pods said about the run, in the order in which it happened. Hints: the ledger is what counts. */
export function journalSteps({ journal }: InstantFacts, { id }: Run): WhyStep[] {
  const about = journal.filter((entry) => entry.runId === id && !TOLD_ELSEWHERE.test(entry.event));
  return about.toReversed().map(stepOf);
}

/** What was said of the cron as a whole between two times: who acted for it, and whose claims were refused. */
export function cronSteps({ journal }: InstantFacts, from: number, to: number): WhyStep[] {
  const about = journal.filter(({ runId, at }) => runId === null && at >= from && at <= to);
  return about.toReversed().map(stepOf);
}

/** The last that was heard of who acts for the cron, up to a time. */
export function termBefore({ journal }: InstantFacts, at: number): WhyStep[] {
  const last = journal.find((entry) => entry.event.startsWith('lease.') && entry.at <= at);
  return last ? [stepOf(last)] : [];
}

function stepOf(entry: JournalEntry): WhyStep {
  const { at, event, level, pod, detail } = entry;
  const sentence = eventSentence(event, detail) || event;
  const facts = factsOf(detail);
  return step(topicOf(event), `${pod}: ${sentence}${facts}.`, { at, level: LEVELS[level] });
}

const LEVELS: Readonly<Record<EventLevel, WhyStep['level']>> = { debug: 'ok', info: 'ok', warn: 'warn', error: 'bad' };

const TOPICS: readonly (readonly [RegExp, WhyTopic])[] = [
  [/^lease\./, 'lease'],
  [/^claim\.outdated|^catalog\./, 'generation'],
  [/^claim\.|refused|effect\.late/, 'fence'],
  [/^effect\./, 'effect'],
  [/^attempt\./, 'attempt'],
  [/^run\.|^queue\./, 'enqueue'],
];

function topicOf(event: string): WhyTopic {
  return TOPICS.find(([pattern]) => pattern.test(event))?.[1] ?? 'claim';
}

/** The words of an event that say more than its sentence. */
const SHOWN = [
  ...['attempt', 'fence', 'accepted', 'step', 'effect', 'delivery', 'was', 'cause', 'err'],
  ...['app', 'revision', 'other', 'owners'],
];

function factsOf(detail: Readonly<Record<string, unknown>>): string {
  const known = SHOWN.filter((name) => detail[name] !== undefined && detail[name] !== null);
  const words = [...manyOf(detail), ...known.map((name) => `${name} ${String(detail[name])}`)];
  return words.length === 0 ? '' : ` (${words.join(', ')})`;
}

/** Told of many crons at once: which, as far as they are named, and how many. */
function manyOf({ crons, count }: Readonly<Record<string, unknown>>): string[] {
  if (!Array.isArray(crons)) return [];
  const names = crons.join(', ');
  return [typeof count === 'number' && count > crons.length ? `${count} crons, such as ${names}` : `crons ${names}`];
}

/** Who holds the lease now, and for how long. */
export function leaseStep({ lease, now }: InstantFacts, holder: string | null): WhyStep[] {
  if (lease === undefined) return [];
  if (lease === null || holder === null) {
    return [
      step('lease', 'No scheduler holds the lease of the cron now: none is live, or none has acquired it yet.', {
        at: now,
        level: 'warn',
      }),
    ];
  }
  return [
    step(
      'lease',
      `${holder} holds the lease of the cron, for ${spoken(lease.remainingMs)} more if it is not renewed (seen at ${utc(now)}).`,
      { at: now },
    ),
  ];
}
