import { channel as nodeChannel, hasSubscribers, type Channel } from 'node:diagnostics_channel';
import type { EventName } from './events.js';

/** Each event is also published on the `node:diagnostics_channel` of this name, for tools outside the application. */
function channelName(event: EventName): string {
  return `fencepost:${event}`;
}

export function hasChannels(event: EventName): boolean {
  return hasSubscribers(channelName(event));
}

export function channel(event: EventName): Channel {
  return nodeChannel(channelName(event));
}
