import { channel as nodeChannel, type Channel } from 'node:diagnostics_channel';
import { scrubText } from '@fencepost/lease/internal';
import type { EventName, Events } from './events.js';

/** Cached, to avoid a lookup by name at every event. */
const channels = new Map<EventName, Channel>();

/** Each event is also published on the `node:diagnostics_channel` of this name, for tools outside the application. */
function channel(event: EventName): Channel {
  const known = channels.get(event);
  if (known) return known;
  const found = nodeChannel(`fencepost:${event}`);
  channels.set(event, found);
  return found;
}

function hasChannels(event: EventName): boolean {
  return channel(event).hasSubscribers;
}

export type EventListener = <N extends EventName>(name: N, detail: Events[N]) => void;

/**
 * Emits every event once and synchronously: logs, metrics and tests listen to the same events.
 *
 * Synchronously, so that a listener that stops the process at an event stops it exactly there. A listener that throws
 * is ignored: its error would make a step that has happened look like one that failed.
 */
export class Telemetry {
  /** Listeners, and the events that each wants; `null` for all. */
  readonly #listeners = new Map<EventListener, ReadonlySet<EventName> | null>();
  #logs = 0;

  /** @returns a function that ends the listening */
  listen(listener: EventListener, only: ReadonlySet<EventName> | null = null): () => boolean {
    this.#listeners.set(listener, only);
    return () => this.#listeners.delete(listener);
  }

  /** Whether an application logs the events itself, see `logEvents`. */
  get isLogged(): boolean {
    return this.#logs > 0;
  }

  /** @returns a function that ends the logging */
  listenAsLog(listener: EventListener): () => void {
    const end = this.listen(listener);
    this.#logs += 1;
    return () => {
      if (end()) this.#logs -= 1;
    };
  }

  /** Whether the event has a listener: an emitter of thousands can skip building them. */
  listens(name: EventName): boolean {
    return this.#isHeard(name) || hasChannels(name);
  }

  emit<N extends EventName>(name: N, detail: Events[N]): void {
    for (const [listener, only] of this.#listeners) {
      if (only && !only.has(name)) continue;
      try {
        listener(name, detail);
      } catch (error) {
        process.emitWarning(`A listener of the event ${name} failed: ${scrubText(String(error))}`);
      }
    }
    if (hasChannels(name)) channel(name).publish(detail);
  }

  #isHeard(name: EventName): boolean {
    for (const only of this.#listeners.values()) if (!only || only.has(name)) return true;
    return false;
  }
}
