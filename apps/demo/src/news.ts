import { lateBy, type Run, type SkipRange, type SkipReason } from '@fencepost/jobs';
import type { Archive } from './archive.js';
import type { Happening } from './happening.js';
import { podOf, type CronSight, type Sight } from './sight.js';
import { count, runName, shortFence, span, timeOfDay } from './words.js';

/** What is new in a look at the stores, compared with the look before it. */
export class News {
  readonly #holders = new Map<string, string>();
  #before: Sight | null = null;
  #notes = 0;

  /** @param explained crons whose change of holder is told elsewhere, with its cause */
  tell(sight: Sight, archive: Archive, explained: ReadonlySet<string>): Happening[] {
    const { ended, skipped } = archive.takeNew();
    const before = this.#before;
    this.#before = sight;
    const note = (kind: Happening['kind']) => (text: string) => this.#note(sight.at, kind, text);
    return [
      ...redefinitions(before, sight).map(note('note')),
      ...sight.crons.flatMap((cron) => this.#lease(cron, explained)).map(note('lease')),
      ...skipped.map(({ cron, range }) => passed(cron, range)).map(note('skip')),
      ...ended.map((run) => note(run.state === 'skipped' ? 'skip' : 'run')(outcome(run, archive))),
      ...refusals(before, sight).map(note('refusal')),
    ];
  }

  #note(at: number, kind: Happening['kind'], text: string): Happening {
    return { id: `note-${++this.#notes}`, at, kind, text };
  }

  #lease({ name, holding }: CronSight, explained: ReadonlySet<string>): string[] {
    const before = this.#holders.get(name);
    if (holding === null || holding.holder === before) return [];
    this.#holders.set(name, holding.holder);
    const [now, fence] = [podOf(holding.holder), shortFence(holding.fence)];
    if (explained.has(name)) return [];
    if (before === undefined) return [`${now} holds ${name} under fence ${fence}`];
    return [`${now} took ${name} over from ${podOf(before)} under fence ${fence}`];
  }
}

const PASSED: Readonly<Record<SkipReason, string>> = {
  merged: 'they are merged into the next run',
  misfire: 'too late to catch up',
  paused: 'the cron is paused',
  superseded: 'the cron was defined anew before anybody could see to them',
  overlap: 'the previous run was still going',
};

function passed(cron: string, { after, through, reason }: SkipRange): string {
  const why = PASSED[reason];
  return `instants of ${cron} up to ${timeOfDay(through)} did not run, from after ${timeOfDay(after)}: ${why}`;
}

function outcome(run: Run, archive: Archive): string {
  const name = runName(run.cron, run.scheduledAt);
  if (run.state === 'skipped') return `${name} skipped: the previous run was still going`;
  const lateMs = lateBy(run);
  const late = run.startedAt === null ? 'never begun' : lateMs === null ? run.reason : `${span(lateMs)} late`;
  const effects = archive.effects(run.id);
  const parts = [
    `${name} ${run.state} on ${podOf(run.worker ?? '')}`,
    late,
    `attempt ${run.attempt}`,
    `fence ${shortFence(run.fence)}`,
    ...(effects.length > 0 ? [`wrote ${effects.join(' ')}`] : []),
    ...(run.missed ? [`stands for ${count(run.missed.count, 'missed instant')} too`] : []),
    ...(run.state === 'failed' && run.error ? [run.error] : []),
  ];
  return parts.join(', ');
}

/** Also when Redis has lost what it knew and the workers have declared again: either way the counting begins anew. */
function redefinitions(before: Sight | null, sight: Sight): string[] {
  const earlier = new Map(before?.crons.map(({ name, entry }) => [name, entry.since]));
  return sight.crons.flatMap(({ name, entry: { since, generation } }) =>
    (earlier.get(name) ?? since) === since
      ? []
      : [`${name} is defined anew (generation ${generation}); instants before ${timeOfDay(since)} count no more`],
  );
}

function refusals(before: Sight | null, sight: Sight): string[] {
  const earlier = new Map(before?.crons.map((cron) => [cron.name, cron.refusals]));
  const ledger = sight.crons.flatMap(({ name, refusals: now }) => {
    const more = now - (earlier.get(name) ?? 0);
    return more > 0 ? [`the ledger refused ${count(more, 'stale call')} for ${name}`] : [];
  });
  const { stale, repeated } = sight.turnedDown;
  const [moreStale, moreRepeated] = [
    stale - (before?.turnedDown.stale ?? 0),
    repeated - (before?.turnedDown.repeated ?? 0),
  ];
  return [
    ...ledger,
    ...(moreStale > 0 ? [`the sink refused ${count(moreStale, 'stale write')}`] : []),
    ...(moreRepeated > 0 ? [`the sink recognised ${count(moreRepeated, 'repeated write')} and changed nothing`] : []),
  ];
}
