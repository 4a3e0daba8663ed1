import { setTimeout as wait } from 'node:timers/promises';

const PATIENCE_MS = 45_000;
/** The pods under test share the machine: a look that comes too often makes them slow. */
const LOOK_AGAIN_MS = 20;

/**
 * Looks at a store again and again: what a store holds has no event to wait for.
 * @param what for the message of a test that waited in vain
 * @param patienceMs how long is waited at most
 * @returns the first answer that is neither `null` nor `false`
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | false>,
  patienceMs: number = PATIENCE_MS,
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const answer = await look();
    if (answer !== null && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`Waited ${patienceMs / 1000} s in vain until ${what}.`);
    await wait(LOOK_AGAIN_MS);
  }
}
