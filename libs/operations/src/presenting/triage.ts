import { z } from 'zod';
import { healthStateSchema } from './cron-health.js';
import { HEALTH_STATES, type CronHealth, type HealthState } from '../operating/health-of.js';
import type { CronHistory } from '../operating/cron-history.js';
import type { DoctorFinding } from '../operating/doctor-facts.js';
import { counted } from '../operating/doctor-words.js';
import { grouped } from '../operating/grouped.js';
import { count, instant, instantOrNull, iso, textOrNull } from './values.js';

const triageItemSchema = z
  .strictObject({
    kind: z
      .enum([...healthStateSchema.options, 'finding'])
      .describe('State of these crons, or a finding of the doctor.'),
    count: count.describe('How many crons; of a finding 1.'),
    crons: z.array(z.string()).describe('The first five of them, the longest in this state first; of a finding none.'),
    text: z.string().describe('What is wrong.'),
    code: textOrNull.describe('Code of the finding.'),
    danger: z.enum(['error', 'warning']).nullable().describe('How much it matters.'),
  })
  .describe('Something that needs a person.');

export const triageSchema = z
  .strictObject({
    now: instant.describe('When the crons were looked at, by the clock of the store.'),
    examinedAt: instantOrNull.describe('When the doctor looked, by the clock of the store; null: it was not asked.'),
    wellSince: instantOrNull.describe(
      'Since when nothing needs a person, as far as the newest runs of each cron and this process tell; null: something does, or it is not known.',
    ),
    unread: count.describe('Crons whose history has not been read yet: nothing is known of their runs.'),
    items: z.array(triageItemSchema).describe('The worst first; empty: all is well.'),
  })
  .describe('What needs a person now.');

export type TriageJson = z.infer<typeof triageSchema>;
type Item = TriageJson['items'][number];

/** What is known of a cron. */
interface Judged {
  readonly name: string;
  readonly health: CronHealth;
  readonly history: CronHistory | null;
}

export interface TriageFacts {
  /** Epoch milliseconds, as all instants here. */
  readonly now: number;
  readonly crons: readonly Judged[];
  readonly findings: readonly DoctorFinding[];
  /** When the findings were found; `null`: nobody looked for any. */
  readonly examinedAt: number | null;
  /** When whoever asks last saw something wrong; `null` for never. */
  readonly troubleAt: number | null;
}

const MAX_NAMED = 5;

type Trouble = Exclude<HealthState, 'unknown' | 'paused' | 'disabled' | 'removed' | 'healthy'>;

/** What is said of crons in a state, and the findings of the doctor that say the same. */
const TROUBLES: Readonly<
  Record<Trouble, readonly [text: readonly [string, string], danger: 'error' | 'warning', codes: readonly string[]]>
> = {
  uncertain: [['cron waits for an operator', 'crons wait for an operator'], 'error', ['UNCERTAIN']],
  standstill: [['cron stands still', 'crons stand still'], 'error', ['HANDLER_HANGS', 'CLAIMS_FAIL', 'UNCLAIMED']],
  failing: [['cron is failing', 'crons are failing'], 'error', ['FAILING']],
  missed: [['cron has missed an instant', 'crons have missed an instant'], 'error', ['OVERDUE']],
  late: [['cron is late', 'crons are late'], 'warning', ['RUNS_LATE']],
  'no-worker': [['cron has no worker', 'crons have no worker'], 'error', ['NO_CAPABLE_WORKER', 'RUNS_WAIT']],
  'never-succeeded': [['cron has never succeeded', 'crons have never succeeded'], 'warning', ['NEVER_SUCCEEDED']],
};

/** Puts what needs a person on one list; asks nobody. */
export function triageOf({ now, crons, findings, examinedAt, troubleAt }: TriageFacts): TriageJson {
  const states = grouped(crons, ({ health }) => health.state);
  const sick = HEALTH_STATES.filter(isTrouble).flatMap((kind) => groupItem(kind, states.get(kind) ?? []));
  const said = new Set(sick.flatMap(({ kind }) => TROUBLES[kind as Trouble][2]));
  const found = findings.flatMap((finding) => (said.has(finding.code) ? [] : findingItem(finding)));
  const items = [...sick, ...found];
  const ranked = [
    ...items.filter(({ danger }) => danger === 'error'),
    ...items.filter(({ danger }) => danger !== 'error'),
  ];
  // By its history, and not by its state: one that is paused is known though it was never read.
  const unread = crons.filter(({ history }) => history === null).length;
  const wellSince = items.length > 0 || unread > 0 ? null : latest([troubleAt, ...crons.map(recoveredAt)]);
  return { now: iso(now), examinedAt: iso(examinedAt), wellSince: iso(wellSince), unread, items: ranked };
}

function isTrouble(state: HealthState): state is Trouble {
  return state in TROUBLES;
}

function groupItem(kind: Trouble, crons: readonly Judged[]): Item[] {
  if (crons.length === 0) return [];
  const [[one, many], danger] = TROUBLES[kind];
  const names = crons
    .toSorted(bySince)
    .slice(0, MAX_NAMED)
    .map(({ name }) => name);
  return [
    { kind, count: crons.length, crons: names, text: `${counted(crons.length, one, many)}.`, code: null, danger },
  ];
}

function findingItem({ code, level, subject, text }: DoctorFinding): Item[] {
  if (level !== 'bad' && level !== 'warn') return [];
  const danger = level === 'bad' ? 'error' : 'warning';
  return [{ kind: 'finding', count: 1, crons: [], text: `${subject}: ${text}`, code, danger }];
}

function bySince({ health: a }: Judged, { health: b }: Judged): number {
  return (a.since ?? Infinity) - (b.since ?? Infinity) || 0;
}

/** When it was last known to be unwell. */
function recoveredAt({ health }: Judged): number | null {
  return health.state === 'healthy' ? health.since : null;
}

function latest(times: readonly (number | null)[]): number | null {
  return times.reduce((a, b) => (a === null || b === null ? (a ?? b) : Math.max(a, b)), null);
}
