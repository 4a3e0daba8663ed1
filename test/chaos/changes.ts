import { EFFECTIVE_AFTER_MS, type CatalogEntry, type Generation } from '@fencepost/ledger/catalog';
import type { Knowledge } from './kept-definitions.js';
import type { RecordedEvent } from './recording.js';

/** What is known from outside of the changes that pods made to definitions. */
export interface ChangeSources {
  /** Of all processes: whatever was ever read in the catalog. */
  readonly knowledge: readonly Knowledge[];
  /** Of all pods. */
  readonly events: readonly RecordedEvent[];
  /** The recorders' clock plus this is epoch time, milliseconds. */
  readonly epochMs: number;
  /** How wrong the catalog's clock may have been made, milliseconds. */
  readonly clockErrorMs?: number;
}

export interface ToldChanges {
  /** How many generations the revisions of pods have begun. */
  readonly changes: number;
  /** A sentence for each of which no pod told, though one could have. */
  readonly silent: readonly string[];
  /** How many were made by a pod that ended before it heard that it had made them. */
  readonly untold: number;
}

/** Which event tells of a generation: by the reason that the catalog keeps with it. */
const EVENTS: Readonly<Record<string, readonly string[]>> = {
  'the newer revision has no live pod any more': ['catalog.reverted'],
  'declared again': ['catalog.restored'],
  'no live pod of the app it belonged to declares it any more': ['catalog.taken'],
  'no live pod declares it any more': ['catalog.removed'],
};
const BEGUN = ['catalog.created', 'catalog.redeclared', 'catalog.changed'];

/** A request may have been on its way for this long before it had its effect, or its effect is noted otherwise. */
const SLACK_MS = 10_000;

interface Change {
  readonly cron: string;
  readonly app: string;
  readonly revision: number;
  readonly events: readonly string[];
  /** By the catalog's clock, epoch milliseconds; for the first of a cron a little early. */
  readonly at: number;
  readonly text: string;
}

/** Holds each generation that was ever seen against what the pods told of it. */
export function toldChanges(sources: ChangeSources): ToldChanges {
  const { knowledge, events } = sources;
  const changes = changesIn(knowledge);
  const told = new Map<string, number>();
  for (const { event, detail } of events)
    for (const key of keysOf(event, detail)) told.set(key, (told.get(key) ?? 0) + 1);
  const unmatched = changes.filter(({ cron, app, revision, events: names }) => {
    const key = names.map((name) => `${name} ${cron} ${app} ${revision}`).find((one) => (told.get(one) ?? 0) > 0);
    if (key !== undefined) told.set(key, (told.get(key) ?? 0) - 1);
    return key === undefined;
  });
  const silent = unmatched.filter((change) => !endedMeanwhile(change, sources));
  return {
    changes: changes.length,
    silent: silent.map(({ text }) => `No pod told that ${text}`),
    untold: unmatched.length - silent.length,
  };
}

/** Each once, however often and by however many it was read. The numbers of generations may have been moved on. */
function changesIn(knowledge: readonly Knowledge[]): Change[] {
  const found = new Map<string, Change>();
  const read = new Set<string>();
  for (const { entries } of knowledge) {
    for (const entry of entries.values()) {
      const whole = `${entry.definition.name} ${entry.generation} ${entry.since} ${entry.by} ${entry.past.length}`;
      if (read.has(whole)) continue;
      read.add(whole);
      for (const generation of [...entry.past, entry]) note(found, entry, generation);
    }
  }
  return [...found.values()].toSorted((a, b) => a.at - b.at);
}

function note(found: Map<string, Change>, { definition: { name } }: CatalogEntry, generation: Generation): void {
  const { by, reason, state, since, definition } = generation;
  const [, app, revision] = /^(.+) revision ([\d.]+)$/.exec(by) ?? [];
  if (app === undefined) return;
  const key = JSON.stringify([name, by, reason, state, since, definition.expression]);
  found.set(key, {
    ...{ cron: name, app, revision: Number(revision) },
    events: EVENTS[reason ?? ''] ?? BEGUN,
    at: since - EFFECTIVE_AFTER_MS,
    text: `${by} made ${name} ${state}, ${definition.expression}, from ${new Date(since).toISOString()} (${reason ?? 'declared'})`,
  });
}

function keysOf(event: string, { app, revision, crons }: RecordedEvent['detail']): string[] {
  if (!event.startsWith('catalog.') || !Array.isArray(crons)) return [];
  return crons.map((cron) => `${event} ${cron} ${String(app)} ${String(revision)}`);
}

/** Whether a pod of that revision asked for it and ended before it heard any answer to that. */
function endedMeanwhile(change: Change, { events, epochMs, clockErrorMs = 0 }: ChangeSources): boolean {
  const slackMs = SLACK_MS + clockErrorMs;
  return events.some(({ event, process, at, detail }, n) => {
    if (event !== 'catalog.asked' || detail['app'] !== change.app || detail['revision'] !== change.revision)
      return false;
    if (Math.abs(at / 1_000 + epochMs - change.at) > slackMs) return false;
    return !events.slice(n).some((later) => later.process === process && later.event === 'catalog.answered');
  });
}
