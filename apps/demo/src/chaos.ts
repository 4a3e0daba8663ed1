import type { Clock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { LEASE_MS, type Pod, type PodRole } from './pod.js';

export interface Strike {
  readonly kind: 'kill' | 'freeze';
  readonly victim: Pod;
  /** How long a frozen victim stays so; 0 for a killed one. */
  readonly holdMs: number;
}

export interface ChaosDeps {
  readonly clock: Clock;
  readonly random: () => number;
  /** All pods as they are now. */
  readonly pods: () => readonly Pod[];
  /** Whether a pod holds a cron or carries out a run: then more can be seen of its loss. */
  readonly isBusy: (pod: Pod) => boolean;
  readonly kill: (name: string) => void;
  readonly freeze: (name: string) => void;
  readonly thaw: () => void;
  readonly onStrike: (strike: Strike) => void;
  readonly onThaw: (strike: Strike) => void;
}

/** Nothing is hurt in the last moments, so that the end is a time in which everything works. */
const QUIET_MS = 5_000;
const FIRST_MS = { least: 500, most: 2_000 };
const PAUSE_MS = { least: 1_000, most: 4_000 };
/** How long to wait for a pod that has something to lose. The first blow falls within five seconds in any case. */
const AMBUSH_MS = { first: 2_900, later: 8_000 };
/** Longer than the lease, so that somebody else takes over while the victim still believes in it. */
const BEYOND_LEASE_MS = { least: 500, most: 2_000 };
const LOOK_MS = 100;

/** Kills and freezes pods now and then, one at a time; `random` decides whom, how and when. */
export class Chaos {
  constructor(private readonly deps: ChaosDeps) {}

  /**
   * Strikes until `signal` aborts, or too little time is left; nobody is frozen when it resolves.
   * @param endsAt monotonic time at which the demo ends by itself, or `Infinity`
   */
  async run(endsAt: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.deps;
    const quietAt = endsAt - QUIET_MS;
    await sleep(clock, Math.min(this.#between(FIRST_MS), Math.max(0, quietAt - clock.monotonic()) / 2), signal);
    for (let most = AMBUSH_MS.first; !signal.aborted; most = AMBUSH_MS.later) {
      const role = this.deps.random() < 0.5 ? 'scheduler' : 'worker';
      const patienceMs = Math.min(most, (quietAt - clock.monotonic()) / 2);
      await this.#untilBusy(role, clock.monotonic() + patienceMs, signal);
      const leftMs = quietAt - clock.monotonic();
      if (leftMs <= 0 || signal.aborted) return;
      await this.#carryOut(this.#choose(role, leftMs), signal);
      await this.#untilAllUp(signal);
      await sleep(clock, this.#between(PAUSE_MS), signal);
    }
  }

  #choose(role: PodRole, leftMs: number): Strike {
    const { random } = this.deps;
    const busy = this.#busy(role);
    const candidates = busy.length > 0 ? busy : this.#ofRole(role);
    const victim = candidates[Math.floor(random() * candidates.length)];
    if (!victim) throw new Error(`Expected a ${role} to be there.`);
    const holdMs = LEASE_MS[role] + this.#between(BEYOND_LEASE_MS);
    if (random() < 0.5 || holdMs > leftMs) return { kind: 'kill', victim, holdMs: 0 };
    return { kind: 'freeze', victim, holdMs };
  }

  #busy(role: PodRole): readonly Pod[] {
    return this.#ofRole(role).filter((pod) => this.deps.isBusy(pod));
  }

  #ofRole(role: PodRole): readonly Pod[] {
    return this.deps.pods().filter((pod) => pod.role === role);
  }

  async #untilBusy(role: PodRole, deadline: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.deps;
    while (!signal.aborted && clock.monotonic() < deadline && this.#busy(role).length === 0) {
      await sleep(clock, LOOK_MS, signal);
    }
  }

  async #carryOut(strike: Strike, signal: AbortSignal): Promise<void> {
    const { clock, kill, freeze, thaw, onStrike, onThaw } = this.deps;
    onStrike(strike);
    if (strike.kind === 'kill') return kill(strike.victim.name);
    freeze(strike.victim.name);
    await sleep(clock, strike.holdMs, signal);
    thaw();
    onThaw(strike);
  }

  async #untilAllUp(signal: AbortSignal): Promise<void> {
    const { clock, pods } = this.deps;
    while (!signal.aborted && pods().some(({ state }) => state !== 'up')) await sleep(clock, LOOK_MS, signal);
  }

  #between({ least, most }: { readonly least: number; readonly most: number }): number {
    return least + this.deps.random() * (most - least);
  }
}
