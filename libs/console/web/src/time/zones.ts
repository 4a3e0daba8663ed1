import { signal } from '@preact/signals';
import { remembered, remember } from '../ui/remembered.js';
import { WORDS } from '../words.js';
import { localZone } from './instants.js';

export type ZoneChoice = 'browser' | 'cron' | 'utc';

/** What can be chosen, for a select. */
export const ZONE_OPTIONS: readonly (readonly [ZoneChoice, string])[] = [
  ['cron', WORDS.time.choices.cron],
  ['browser', WORDS.time.choices.browser],
  ['utc', WORDS.time.choices.utc],
];

function choiceOf(text: string | null): ZoneChoice {
  return text === 'utc' || text === 'browser' ? text : 'cron';
}

/** In whose zone instants are shown; remembered by this browser. */
export const zoneChoice = signal<ZoneChoice>(choiceOf(remembered('zone')));

export function chooseZone(choice: string): void {
  zoneChoice.value = choiceOf(choice);
  remember('zone', zoneChoice.value);
}

/** @param own the zone of the cron; without one, that of the reader */
export function shownZone(own?: string): string {
  if (zoneChoice.value === 'utc') return 'UTC';
  return zoneChoice.value === 'browser' ? localZone() : (own ?? localZone());
}

/** Which zone the times of a part of the page are in, as a sentence. */
export function zoneText(own?: string): string {
  const zone = shownZone(own);
  const isReaders = zone !== 'UTC' && zone !== own;
  return isReaders ? WORDS.time.inYours(zone) : WORDS.time.inZone(zone);
}
