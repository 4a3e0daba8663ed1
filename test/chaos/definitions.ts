import { contentHash, EFFECTIVE_AFTER_MS, type CatalogEntry, type Generation } from '@fencepost/ledger/catalog';
import type { Run } from '@fencepost/ledger/run';
import { parseSchedule } from '@fencepost/schedule';
import { wayOf, type Decision } from './decisions.js';
import type { Knowledge } from './kept-definitions.js';

/** What is known of one cron from outside. */
export interface DefinitionSources {
  readonly cron: string;
  readonly decisions: readonly Decision[];
  /** Of all processes, the oracle's own readings among them, in the order in which they returned. */
  readonly knowledge: readonly Knowledge[];
  readonly runs: readonly Run[];
  /** Of the ledger, in the end. */
  readonly cursor: number | null;
  /** The recorders' clock plus this is epoch time, milliseconds. */
  readonly epochMs: number;
  /** How wrong the catalog's clock may have been made, milliseconds. */
  readonly clockErrorMs?: number;
}

export interface DefinitionHistory {
  /** As a catalog would have it that was never lost, its generations counted from 1. */
  readonly entry: CatalogEntry;
  /** With the generations of {@link entry}; 0 where the ledger has another one than the decision was made under. */
  renumbered(run: Run): Run;
  /** Decisions by what the catalog had not said for longer than a pod may rely on it, and by what nobody knows. */
  readonly outdated: readonly string[];
}

interface ValidityInterval {
  readonly since: number;
  readonly generation: Generation;
  readonly content: string;
}

/**
 * By which definition each instant was to be decided. A catalog that was never lost says it by itself. One that was lost is
 * born again from whichever build declares first, its first generation reaches back to the ledger's cursor, and until they
 * hear of it pods go on for a moment with what they know. So each move of the cursor counts with the definitions that its
 * pod had read; whether they might still be relied on is judged apart.
 * @throws where nobody has ever read the cron
 */
export function definitionHistory(sources: DefinitionSources): DefinitionHistory {
  const { cron, decisions, knowledge, runs, cursor } = sources;
  const newest = knowledge.findLast(({ entries }) => entries.has(cron))?.entries.get(cron);
  if (!newest) throw new Error(`Expected somebody to have read ${cron} in the catalog.`);
  const ran = new Map(runs.map((run) => [run.scheduledAt, run.generation]));
  const isLikely = ({ through, generation }: Decision) => (ran.get(through) ?? generation) === generation;
  const ofCron = decisions.filter((decision) => decision.cron === cron);
  const intervals: ValidityInterval[] = [];
  const outdated: string[] = [];
  let at: number | null = null;
  for (const decision of wayOf(ofCron, cursor, isLikely)) {
    const known = knownBy(decision, knowledge);
    const entry = known?.entries.get(cron) ?? newest;
    // Where nobody decided anything, what holds now held.
    if (decision.after !== at) extend(intervals, partOf(newest, at, decision.after ?? Infinity));
    extend(intervals, partOf(entry, decision.after, decision.through));
    at = decision.through;
    const wrong = known ? replacement(decision, known, sources) : untold(decision);
    if (wrong) outdated.push(wrong);
  }
  extend(intervals, partOf(newest, at, Infinity));
  return historyOf(newest, intervals, outdated);
}

function historyOf(
  newest: CatalogEntry,
  intervals: readonly ValidityInterval[],
  outdated: readonly string[],
): DefinitionHistory {
  const generations = intervals.map(({ generation, since }, n) => ({ ...generation, since, generation: n + 1 }));
  const last = generations.at(-1) ?? newest;
  return {
    outdated,
    entry: { ...newest, ...last, past: generations.slice(0, -1) },
    renumbered: (run) => {
      const n = intervals.findLastIndex(({ since }) => since < run.scheduledAt);
      return { ...run, generation: intervals[n]?.generation.generation === run.generation ? n + 1 : 0 };
    },
  };
}

/** The generations in force in `(after, through]`; the first one reaches back to where the ledger had come. */
function partOf(entry: CatalogEntry, after: number | null, through: number): ValidityInterval[] {
  const generations = [...entry.past, entry];
  return generations.flatMap((generation, n) => {
    const { definition, state } = generation;
    const begun = n === 0 && after !== null ? Math.min(after, generation.since) : generation.since;
    const since = Math.max(begun, after ?? -Infinity);
    if (since >= Math.min(through, generations[n + 1]?.since ?? Infinity)) return [];
    return [{ since, generation, content: contentHash({ definition, disabled: state !== 'active' }) }];
  });
}

function extend(intervals: ValidityInterval[], more: readonly ValidityInterval[]): void {
  for (const interval of more) {
    const last = intervals.at(-1);
    const goesOn = last?.content === interval.content && last.generation.generation === interval.generation.generation;
    if (!goesOn) intervals.push(interval);
  }
}

/** What its pod had read when it decided: the latest reading by which the decision leaves nothing out and adds nothing. */
function knownBy(decision: Decision, knowledge: readonly Knowledge[]): Knowledge | undefined {
  const had = knowledge.filter(({ process, at }) => process === decision.process && at <= decision.calledAt);
  const latestFirst = had.toReversed().filter(({ entries }) => entries.has(decision.cron));
  return latestFirst.find((known) => explains(known.entries.get(decision.cron)!, decision)) ?? latestFirst[0];
}

function explains(entry: CatalogEntry, { after, through, generation, occurrence, skips }: Decision): boolean {
  const part = partOf(entry, after, through);
  if (part.findLast(({ since }) => since < through)?.generation.generation !== generation) return false;
  const isSkipped = (at: number) => skips.some((skip) => skip.after < at && at <= skip.through);
  const instants = instantsIn(entry, after, through);
  return (
    (occurrence === null || instants.has(occurrence)) && [...instants].every((at) => at === occurrence || isSkipped(at))
  );
}

function instantsIn(entry: CatalogEntry, after: number | null, through: number): Set<number> {
  const part = partOf(entry, after, through);
  const instants = part.flatMap(({ since, generation: { definition, state } }, n) => {
    if (state !== 'active') return [];
    const until = Math.min(through, part[n + 1]?.since ?? Infinity);
    return [...parseSchedule({ ...definition, seed: definition.name }, since).between(since + 1, until + 1)];
  });
  return new Set(instants);
}

/** Without what a pod had read, nothing that it decided is judged. */
function untold({ process, cron, through }: Decision): string {
  return `${process} moved ${cron} to ${through} by a definition that it never told of`;
}

/** A reading after that of the pod, long enough before the instant, of a catalog that has other instants. */
function replacement(decision: Decision, known: Knowledge, sources: DefinitionSources): string | null {
  const { cron, after, through, process } = decision;
  const { knowledge, epochMs, clockErrorMs = 0 } = sources;
  const relied = instantsIn(known.entries.get(cron)!, after, through);
  const late = knowledge.find(({ calledAt, at, entries }) => {
    if (calledAt < known.at || at / 1_000 + epochMs + EFFECTIVE_AFTER_MS + clockErrorMs >= through) return false;
    const entry = entries.get(cron);
    const other = entry ? instantsIn(entry, after, through) : new Set<number>();
    return other.size !== relied.size || [...other].some((instant) => !relied.has(instant));
  });
  if (!late) return null;
  const tookMs = Math.round(through - late.at / 1_000 - epochMs);
  return `${process} moved ${cron} to ${through} by a definition that ${late.process} had seen replaced ${tookMs} ms before`;
}
