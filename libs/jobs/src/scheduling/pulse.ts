import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { Telemetry } from '../telemetry/telemetry.js';
import { tellBug, tellTrouble } from '../telemetry/tell-trouble.js';
import type { Beat, Presence } from './presence.js';

export interface PulseDeps {
  readonly pod: string;
  readonly presence: Presence;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly random: () => number;
  /** Between two beats. */
  readonly beatMs: number;
  /** @param askedAt monotonic */
  readonly onBeat: (beat: Beat, askedAt: number) => void;
}

/** A pod that leaves releases first and leaves then; and a thousand releases are one reason to listen. */
const EARLY_MS = 50;

/** Says once a second that this pod is there, and hears what it has to know. Pods that start together keep apart. */
export class Pulse {
  #cancel: CancelTimer = () => {};
  #nextAt = Infinity;
  /** Something happened while a beat was under way, which may not show it. */
  #soon = false;
  #beating: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(private readonly deps: PulseDeps) {}

  /** Resolves after the first beat, also when it was not answered. */
  async start(): Promise<void> {
    this.#beating = this.#beat();
    await this.#beating;
    this.#arm(this.deps.beatMs * (0.5 + this.deps.random() / 2));
  }

  /** Something has happened among the pods: listens soon. */
  early(): void {
    if (this.#nextAt === -Infinity) this.#soon = true;
    else if (this.#nextAt - this.deps.clock.monotonic() > EARLY_MS) this.#arm(EARLY_MS);
  }

  /** Resolves when the beat under way is through: one that arrives after the farewell would bring the pod back. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#beating;
  }

  /** Armed when the beat before has ended: a store that does not answer gets one question at a time. */
  #arm(delayMs: number): void {
    this.#cancel();
    if (this.#stopped) return;
    this.#nextAt = this.deps.clock.monotonic() + delayMs;
    this.#cancel = this.deps.clock.after(delayMs, () => {
      this.#nextAt = -Infinity;
      const sentAt = this.deps.clock.monotonic();
      this.#beating = this.#beat().then(() => {
        const delay = Math.max(sentAt + this.deps.beatMs - this.deps.clock.monotonic(), 0);
        this.#arm(this.#soon ? Math.min(delay, EARLY_MS) : delay);
        this.#soon = false;
      });
    });
  }

  async #beat(): Promise<void> {
    const { presence, pod, clock, telemetry, onBeat } = this.deps;
    const askedAt = clock.monotonic();
    let beat: Beat;
    try {
      beat = await presence.beat(pod);
    } catch (error) {
      return tellTrouble(telemetry, 'a beat', error);
    }
    try {
      if (!this.#stopped) onBeat(beat, askedAt);
    } catch (error) {
      tellBug(telemetry, 'following a beat', error);
    }
  }
}
