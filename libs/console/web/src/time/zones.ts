import { signal } from '@preact/signals';
import { remembered, remember } from '../ui/remembered.js';
import { localZone } from './instants.js';

export type ZoneChoice = 'cron' | 'utc';

/** Whether instants are shown in the zone of their cron, or in UTC. */
export const zoneChoice = signal<ZoneChoice>(remembered('zone') === 'utc' ? 'utc' : 'cron');

export function chooseZone(choice: ZoneChoice): void {
  zoneChoice.value = choice;
  remember('zone', choice);
}

/** @param own the zone of the cron; without one, that of the reader */
export function shownZone(own?: string): string {
  return zoneChoice.value === 'utc' ? 'UTC' : (own ?? localZone());
}
