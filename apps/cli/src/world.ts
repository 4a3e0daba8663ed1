import type { Terminal } from './live-screen.js';
import type { OutputFlags, Report } from './report.js';

/** What is around the commands, so that they can be run without a process. */
export interface World {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** When whoever reads stdout has taken what was written; absent: at once. */
  readonly flushed?: () => Promise<void>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Epoch milliseconds of this machine; what is about crons that run goes by the store's. */
  readonly now: () => number;
  /** Columns of the terminal; `Infinity` where the output goes elsewhere. */
  readonly width: number;
  /** Who is logged in. */
  readonly user: () => string;
  /** What this machine calls itself; default: what its kernel says. */
  readonly host?: string;
  /** A person's answer to a question, where somebody sits at a terminal; absent where nobody does. */
  readonly ask?: (question: string) => Promise<string>;
  /** The nearest file that says where the deployment is; absent: nobody looks for one. */
  readonly placeFile?: () => { readonly path: string; readonly text: string } | null;
  /** All of a file; of stdin for `-`. */
  readonly read: (file: string) => Promise<string>;
  /** How long a console may take for an answer, milliseconds; default: half a minute. */
  readonly patienceMs?: number;
  /** From this call on Ctrl-C doesn't end the program any more, but aborts what comes back. */
  readonly interrupted: () => AbortSignal;
  /** Whether stdout is a terminal, where a person reads it and colours mean something; default: no. */
  readonly terminal?: boolean;
  /** Whether stderr is a terminal, where a line may be rewritten; default: no. */
  readonly errTerminal?: boolean;
  /** Where a screen can be kept up to date: a terminal at both ends; absent: there is none. */
  readonly liveTerminal?: Terminal;
  /** Aborts when nobody reads stdout any more, as behind `head`; default: somebody always does. */
  readonly unread?: () => AbortSignal;
}

/** How a command hands over what it found. */
export type Answer = (report: Report, flags: OutputFlags) => void;

export interface Setting {
  readonly world: World;
  readonly answer: Answer;
}
