import { channel as nodeChannel, type Channel } from 'node:diagnostics_channel';
import { hashResource, observers } from '@fencepost/lease/internal';
import { shownText, textOf } from './error-parts.js';
import { EVENT_TEXT } from './event-text.js';
import type { EventName, Events } from './events.js';
import type { LeaseEvent, LeaseObserver } from '@fencepost/lease';

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

/** Warnings kept until a log begins: stores open, and warn, before modules start. */
const MAX_EARLY = 20;

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
  #early: ((listener: EventListener) => void)[] | null = [];

  /** @returns a function that ends the listening */
  listen(listener: EventListener, only: ReadonlySet<EventName> | null = null): () => boolean {
    this.#listeners.set(listener, only);
    return () => this.#listeners.delete(listener);
  }

  /** Passes on the first warnings and errors emitted before this call, and keeps none from then on. */
  replayEarly(listener: EventListener): void {
    const early = this.#early ?? [];
    this.#early = null;
    for (const replay of early) replay(listener);
  }

  /** Whether an application logs the events itself, see `logEvents`. */
  get isLogged(): boolean {
    return this.#logs > 0;
  }

  /** @returns a function that ends the logging */
  listenAsLog(listener: EventListener): () => void {
    this.replayEarly(listener);
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
    if (this.#early) this.#keepEarly(name, detail);
    for (const [listener, only] of this.#listeners) {
      if (only && !only.has(name)) continue;
      try {
        listener(name, detail);
      } catch (error) {
        process.emitWarning(`A listener of the event ${name} failed: ${shownText(textOf(error))}`);
      }
    }
    if (hasChannels(name)) channel(name).publish(detail);
  }

  #keepEarly<N extends EventName>(name: N, detail: Events[N]): void {
    const [level] = EVENT_TEXT[name];
    if (!this.#early || this.#early.length >= MAX_EARLY || level === 'debug' || level === 'info') return;
    this.#early.push((listener) => listener(name, detail));
  }

  #isHeard(name: EventName): boolean {
    for (const only of this.#listeners.values()) if (!only || only.has(name)) return true;
    return false;
  }
}

/**
 * Passes on the lease events of this process: leases are opened before metrics are set up, which listen later.
 */
export class LeaseFeed {
  readonly #observers = new Set<LeaseObserver>();
  /** The servers of a quorum, where leases are on one: whether each is asked, or left out because it fails. */
  readonly nodes = new Map<string, boolean>();

  /** @returns a function that ends the listening */
  listen(observer: LeaseObserver): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  /** The same for the lease of a cron: gives its resource a type, whatever the name of the cron. */
  readonly tellOfCron = (event: LeaseEvent): void => {
    this.tell('resource' in event ? { ...event, resource: `cron:${event.resource}` } : event);
  };

  /** An observer that throws harms no lease: the caller handles it. */
  readonly tell = (event: LeaseEvent): void => {
    if (event.name === 'node.health') this.nodes.set(event.node, event.healthy);
    for (const observe of this.#observers) observe(event);
  };
}

/** All that is heard of the leases of crons. */
export function cronLeaseEvents(feed: LeaseFeed, telemetry: Telemetry): LeaseObserver {
  return observers(feed.tellOfCron, leaseWarnings(telemetry));
}

/** Warnings of leases as events, so that the journal has those of all pods. */
export function leaseWarnings(telemetry: Telemetry): LeaseObserver {
  return (event) => {
    if (event.name === 'store.warning') {
      telemetry.emit('store.warning', { code: event.code, found: event.message });
    } else if (event.name === 'lease.ttl-unfit') {
      const { resource, verdict, ttlMs, advisedTtlMs } = event;
      // A type comes from the code; a name may contain customer data.
      const about = resource.endsWith(':*') ? resource : hashResource(resource);
      telemetry.emit('lease.ttl-unfit', { about, verdict, ttlMs, advisedTtlMs });
    }
  };
}
