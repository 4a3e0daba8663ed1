/** A process that may be hurt. Whoever keeps it starts another one in its place when it is gone. */
export interface Victim {
  readonly name: string;
  readonly role: string;
  /** SIGSTOP, SIGCONT, SIGKILL or SIGTERM; what can't be sent any more is nothing to speak of. */
  send(signal: NodeJS.Signals): void;
  /** Resolves when the process is gone, however it went. */
  readonly gone: Promise<unknown>;
  /** Resolves when another one is at work in its place: on a slow machine fewer are struck, and never all of them. */
  readonly followed?: (signal: AbortSignal) => Promise<void>;
  /** Tells the process what to do to itself; absent where it was not started with `test/pods/nemesis-hook.ts`. */
  readonly order?: (order: VictimOrder) => Promise<void>;
  /** A file that is there once the process has come to the point it was armed for, with what the event told as JSON. */
  readonly hit?: string;
}

/** What the hook in a process does when it is told. */
export type VictimOrder =
  | { readonly do: 'block'; readonly forMs: number }
  /** Sets its wall clock so far ahead of the machine's; 0 is right again. */
  | { readonly do: 'set-clock'; readonly aheadMs: number }
  /** Stops its event loop no more by itself. */
  | { readonly do: 'calm' }
  /** Ends or stops itself at the next event of this name; `null` takes that back. */
  | { readonly do: 'arm'; readonly point: ArmedPoint | null };

export interface ArmedPoint {
  readonly event: string;
  readonly action: 'kill' | 'freeze';
  /** Only where the event is about one of these effects. */
  readonly effects?: readonly string[];
}

/** All processes of a stage. */
export interface Herd {
  /** Those that work now and are hurt by nobody else. */
  up(): readonly Victim[];
  /** Takes one for oneself, so that no two faults hurt the same; to be let go when it works again or is gone. */
  seize(victim: Victim): Hold;
}

export interface Hold {
  release(): void;
}
