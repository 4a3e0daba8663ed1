import { createHash } from 'node:crypto';
import type { Clock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { LEASE_MS, type Pod } from './pods.js';

export interface Strike {
  readonly kind: 'kill' | 'freeze';
  readonly victim: Pod;
  /** How long a frozen victim stays so; 0 for a killed one. */
  readonly holdMs: number;
}

export interface ChaosDeps {
  readonly clock: Clock;
  readonly seed: number;
  readonly pods: () => readonly Pod[];
  /** Whether a pod holds a cron or runs something, so that its loss shows. */
  readonly isBusy: (pod: Pod) => boolean;
  readonly onStrike: (strike: Strike) => void;
  readonly onThaw: (strike: Strike) => void;
  /** The monotonic time at which the demo ends by itself, or `Infinity`. */
  readonly endsAt: number;
}

/** No strikes in the last moments, so that everything works at the end. */
const QUIET_MS = 5_000;
const FIRST_MS = [500, 2_000] as const;
const PAUSE_MS = [1_000, 4_000] as const;
/** How long to wait for a busy victim. The first strike is within five seconds in any case. */
const WAIT_MS = { first: 2_900, later: 8_000 };
/** Frozen for longer than the lease, so that another pod takes over while the victim still believes in it. */
const BEYOND_LEASE_MS = [500, 2_000] as const;
const POLL_MS = 100;

/**
 * Kills and freezes pods now and then, one at a time, until `signal` aborts or too little time is left. No pod is frozen
 * when it resolves; the same seed makes the same choices.
 */
export async function stageFaults(deps: ChaosDeps, signal: AbortSignal): Promise<void> {
  const { clock, seed, pods, isBusy, onStrike, onThaw, endsAt } = deps;
  let draws = 0;
  const random = () => createHash('sha256').update(`${seed} ${draws++}`).digest().readUInt32BE() / 2 ** 32;
  const between = ([min, max]: readonly [number, number]) => min + random() * (max - min);
  const waitWhile = async (condition: () => boolean) => {
    while (!signal.aborted && condition()) await sleep(clock, POLL_MS, signal);
  };
  const leftMs = () => endsAt - QUIET_MS - clock.monotonic();
  await sleep(clock, Math.min(between(FIRST_MS), Math.max(0, leftMs()) / 2), signal);
  for (let maxMs = WAIT_MS.first; ; maxMs = WAIT_MS.later) {
    const role = random() < 0.5 ? 'scheduler' : 'worker';
    const candidates = () => pods().filter((pod) => pod.role === role);
    const deadline = clock.monotonic() + Math.min(maxMs, leftMs() / 2);
    await waitWhile(() => clock.monotonic() < deadline && !candidates().some(isBusy));
    if (leftMs() <= 0 || signal.aborted) return;
    const busy = candidates().filter(isBusy);
    const from = busy.length > 0 ? busy : candidates();
    const victim = from[Math.floor(random() * from.length)];
    const holdMs = LEASE_MS[role] + between(BEYOND_LEASE_MS);
    const kind = random() < 0.5 || holdMs > leftMs() ? 'kill' : 'freeze';
    if (!victim) throw new Error(`Expected a ${role} pod, found none.`);
    const strike: Strike = { kind, victim, holdMs: kind === 'kill' ? 0 : holdMs };
    onStrike(strike);
    await sleep(clock, strike.holdMs, signal);
    if (kind === 'freeze') onThaw(strike);
    await waitWhile(() => pods().some(({ state }) => state !== 'up'));
    await sleep(clock, between(PAUSE_MS), signal);
  }
}
