import type { Telemetry } from '../telemetry/telemetry.js';
import type { Presence } from './presence.js';
import { tellTrouble } from '../telemetry/tell-trouble.js';

export interface AnnouncerDeps {
  readonly presence: Presence;
  readonly telemetry: Telemetry;
}

/**
 * Tells the other pods when crons are due, without anybody waiting for it: one call is on its way at a time, and what comes
 * meanwhile goes with the next. One that fails is only told: a holder announces again what is wrongly taken for overdue.
 */
export class Announcer {
  #waiting = new Map<string, number | null>();
  #telling: Promise<void> | null = null;

  constructor(private readonly deps: AnnouncerDeps) {}

  /** Epoch milliseconds of the store; `null` for a cron that has no further instant. */
  announce(dues: Iterable<readonly [string, number | null]>): void {
    for (const [cron, due] of dues) this.#waiting.set(cron, due);
    if (this.#waiting.size > 0) this.#telling ??= this.#tell();
  }

  /** Resolves when nothing is on its way any more. */
  async settled(): Promise<void> {
    await this.#telling;
  }

  async #tell(): Promise<void> {
    const { presence, telemetry } = this.deps;
    // What is due in one turn goes together.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const dues = this.#waiting;
      this.#waiting = new Map();
      try {
        await presence.announce(dues);
      } catch (error) {
        tellTrouble(telemetry, `announcing ${dues.size} crons`, error);
      }
    }
    this.#telling = null;
  }
}
