import { scrubText } from '@fencepost/lease';
import { channel, hasChannels } from './channels.js';
import type { EventName, Events } from './events.js';

export type EventListener = <N extends EventName>(name: N, detail: Events[N]) => void;

/**
 * Where everything that happens is told, once and synchronously: logs, metrics and tests listen to the same list.
 *
 * Synchronously, because a listener that stops the process at an event then stops it exactly there. One that throws
 * changes nothing: it would make a step that has happened look like one that failed.
 */
export class Telemetry {
  readonly #listeners = new Set<EventListener>();

  /** @returns a function that ends the listening */
  listen(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whether anybody would hear the event: who emits thousands needn't put them together for nobody. */
  listens(name: EventName): boolean {
    return this.#listeners.size > 0 || hasChannels(name);
  }

  emit<N extends EventName>(name: N, detail: Events[N]): void {
    for (const listener of this.#listeners) {
      try {
        listener(name, detail);
      } catch (error) {
        process.emitWarning(`A listener of the event ${name} failed: ${scrubText(String(error))}`);
      }
    }
    if (hasChannels(name)) channel(name).publish(detail);
  }
}
