import { stopwatch } from './words.js';

export type Phase = 'starting' | 'running' | 'settling' | 'stopping' | 'ended';

export interface Status {
  readonly phase: Phase;
  readonly ranMs: number;
  /** After how many it ends by itself. */
  readonly seconds: number | null;
  /** Of the chaos; `null` without. */
  readonly seed: number | null;
}

/** Where the demo stands, and how to end it. */
export function statusLine({ phase, ranMs, seconds, seed }: Status): string {
  switch (phase) {
    case 'starting':
      return 'Starting the pods ... Ctrl-C ends it';
    case 'running': {
      const of = seconds === null ? '' : ` of ${stopwatch(seconds * 1_000)}`;
      const chaos = seed === null ? '' : ` · --chaos --seed ${seed}`;
      return `${stopwatch(ranMs)}${of}${chaos} · Ctrl-C ends it`;
    }
    case 'settling':
      return 'What is on its way comes to its end ... Ctrl-C does not wait for it';
    case 'stopping':
      return 'Stopping the pods ... Ctrl-C does not wait for them';
    case 'ended':
      return `Ended after ${stopwatch(ranMs)}`;
  }
}
