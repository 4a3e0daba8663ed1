import type { CatalogEntry } from '@fencepost/ledger/catalog';
import { zoneNamed } from '@fencepost/schedule';
import { plural, spoken, timeOfDay } from './why-words.js';

/** Clocks of a zone that some crons go by change. */
export interface ClockChange {
  readonly zone: string;
  readonly at: number;
  readonly text: string;
  /** How many crons that fire go by them. */
  readonly crons: number;
}

/** Where clocks change in `[from, to)`, epoch milliseconds. */
export function clockChangesOf(entries: readonly CatalogEntry[], from: number, to: number): ClockChange[] {
  const zones = new Map<string, number>();
  for (const { definition } of entries) zones.set(definition.timeZone, (zones.get(definition.timeZone) ?? 0) + 1);
  const changes = [...zones].flatMap(([zone, crons]) => changesIn(zone, crons, { from, to }));
  return changes.toSorted((a, b) => a.at - b.at || (a.zone < b.zone ? -1 : 1));
}

function changesIn(
  name: string,
  crons: number,
  { from, to }: { readonly from: number; readonly to: number },
): ClockChange[] {
  const zone = zoneNamed(name);
  const changes: ClockChange[] = [];
  let interval = zone.offsetIntervalAt(Math.floor(from / 1_000));
  while (interval.end * 1_000 < to) {
    interval = zone.offsetIntervalAt(interval.end);
    const { start, before, offset } = interval;
    // The table of a zone is also cut where nothing changes.
    if (offset !== before)
      changes.push({ zone: name, at: start * 1_000, crons, text: sentence(name, interval, crons) });
  }
  return changes;
}

interface Change {
  readonly start: number;
  readonly before: number;
  readonly offset: number;
}

function sentence(zone: string, { start, before, offset }: Change, crons: number): string {
  const [from, to] = [timeOfDay((start + before) * 1_000), timeOfDay((start + offset) * 1_000)];
  const [low, high] = offset > before ? [from, to] : [to, from];
  const moved = spoken((offset - before) * 1_000);
  const what =
    offset > before
      ? `go forward by ${moved}, from ${from} to ${to}: times from ${low} up to ${high} do not exist`
      : `go back by ${moved}, from ${from} to ${to}: times from ${low} up to ${high} come twice`;
  return `Clocks in ${zone} ${what}. ${plural(crons, 'cron')} ${crons === 1 ? 'uses' : 'use'} this zone.`;
}
