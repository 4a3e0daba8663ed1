import { zoneNamed } from '@fencepost/schedule';
import { isLong } from '../support/run-length.js';

export const ZONES = Intl.supportedValuesOf('timeZone');
/** Those of which every change of clocks is checked: reading the tables of all zones takes longer than all else in the spec. */
export const WHOLE_ZONES = isLong ? ZONES : ZONES.filter((_, n) => n % 4 === 0);
export const FIRST = Date.UTC(1970, 0, 1);
export const LAST = Date.UTC(2040, 0, 1);

/** Where to look: the instants at which a zone changes its clocks. */
export function changesOf(timeZone: string, from = FIRST, to = LAST): number[] {
  const zone = zoneNamed(timeZone);
  const changes: number[] = [];
  for (let { end } = zone.offsetIntervalAt(from / 1_000); end * 1_000 < to; end = zone.offsetIntervalAt(end).end) {
    const { before, offset } = zone.offsetIntervalAt(end);
    if (before !== offset) changes.push(end * 1_000);
  }
  return changes;
}
