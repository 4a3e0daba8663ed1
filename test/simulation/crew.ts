import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Summary } from './summary.js';

const RUNNER = fileURLToPath(new URL('../support/run-source.mjs', import.meta.url));
const PLAYER = fileURLToPath(new URL('player.ts', import.meta.url));

export interface Played {
  readonly summary: Summary;
  /** Of the processor. */
  readonly cpuMs: number;
}

interface Waiting {
  readonly played: Promise<Played>;
  readonly tell: (played: Played) => void;
}

interface Plays {
  readonly seeds: readonly number[];
  readonly days: number;
  readonly processes: number;
}

/**
 * Plays the worlds of these seeds in several processes at once: no world knows of another.
 * @returns in the order of the seeds, whoever was done first
 * @throws when a process ends before its world does
 */
export async function* playAll({ seeds, days, processes }: Plays): AsyncGenerator<Played> {
  const crew = Array.from({ length: Math.min(processes, seeds.length) }, () =>
    fork(RUNNER, [PLAYER], { execArgv: [] }),
  );
  const waiting = new Map(seeds.map((seed) => [seed, waitingOf()]));
  const left = [...seeds];
  const failed = Promise.all(crew.map((child) => playOn(child, { left, days, waiting })));
  try {
    for (const seed of seeds) {
      const played = waiting.get(seed)?.played;
      if (played) yield await Promise.race([played, failed.then(() => played)]);
    }
    await failed;
  } finally {
    for (const child of crew) child.kill();
  }
}

interface Work {
  readonly left: number[];
  readonly days: number;
  readonly waiting: ReadonlyMap<number, Waiting>;
}

async function playOn(child: ChildProcess, { left, days, waiting }: Work): Promise<void> {
  await heardOf(child);
  for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
    const answer = heardOf(child);
    child.send({ seed, days });
    waiting.get(seed)?.tell((await answer) as Played);
  }
}

async function heardOf(child: ChildProcess): Promise<unknown> {
  const over = new AbortController();
  const end = once(child, 'exit', { signal: over.signal }).then(() => {
    throw new Error('A process that played worlds has ended before its time.');
  });
  const word = once(child, 'message', { signal: over.signal });
  try {
    return ((await Promise.race([word, end])) as unknown[])[0];
  } finally {
    over.abort();
    for (const each of [end, word]) each.catch(() => {});
  }
}

function waitingOf(): Waiting {
  let tell: Waiting['tell'] = () => {};
  const played = new Promise<Played>((resolve) => (tell = resolve));
  return { played, tell };
}
