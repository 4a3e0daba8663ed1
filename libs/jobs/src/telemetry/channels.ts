import { channel as nodeChannel, type Channel } from 'node:diagnostics_channel';
import type { EventName } from './events.js';

/** Kept, so that asking whether somebody listens is not a search by name at every event. */
const channels = new Map<EventName, Channel>();

/** Each event is also published on the `node:diagnostics_channel` of this name, for tools outside the application. */
export function channel(event: EventName): Channel {
  const known = channels.get(event);
  if (known) return known;
  const found = nodeChannel(`fencepost:${event}`);
  channels.set(event, found);
  return found;
}

export function hasChannels(event: EventName): boolean {
  return channel(event).hasSubscribers;
}
