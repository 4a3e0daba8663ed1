/** An event that a pod told. `at` is microseconds of the machine's monotonic clock, here and everywhere in a recording. */
export interface RecordedEvent {
  readonly at: number;
  /** A pod's name and its process: one that was killed and came back is another. */
  readonly process: string;
  readonly event: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** A call of the ledger. */
export interface RecordedCall {
  readonly process: string;
  readonly op: string;
  readonly input: readonly unknown[];
  /** `undefined` where nobody knows: it rejected, or its process ended before it returned. */
  readonly output: unknown;
  readonly calledAt: number;
  /** `Infinity` where nobody knows: a request that was sent may still arrive. */
  readonly returnedAt: number;
}

export interface Recording {
  /** In the order in which they were told. */
  readonly events: readonly RecordedEvent[];
  /** In the order in which they returned; those that never did come last. */
  readonly calls: readonly RecordedCall[];
}

interface Line {
  readonly at: number;
  readonly pod: string;
  readonly pid: number;
  readonly event?: string;
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly call?: number;
  readonly op?: string;
  readonly input?: readonly unknown[];
  readonly return?: number;
  readonly output?: unknown;
  readonly error?: string;
}

type OpenCall = Pick<RecordedCall, 'process' | 'op' | 'input' | 'calledAt'>;

/**
 * Reads what the recorders of all pods of an episode have written into one file.
 * @throws {SyntaxError} for a line that is none: a recording with holes proves nothing
 */
export function readRecording(text: string): Recording {
  const reader = new Reader();
  for (const line of text.split('\n')) if (line !== '') reader.read(JSON.parse(line) as Line);
  return reader.recording();
}

class Reader {
  readonly #events: RecordedEvent[] = [];
  readonly #calls: RecordedCall[] = [];
  readonly #open = new Map<string, OpenCall>();
  /** How often a process of this number was begun: numbers come again. */
  readonly #lives = new Map<string, number>();

  read(line: Line): void {
    const { at, event, detail = {} } = line;
    const process = this.#processOf(line);
    if (event !== undefined) this.#events.push({ at, process, event, detail });
    else if (line.call !== undefined) this.#called(`${process} ${line.call}`, { ...line, process });
    else if (line.return !== undefined) this.#returned(`${process} ${line.return}`, line);
  }

  recording(): Recording {
    const lost = [...this.#open.values()].map((call) => ({ ...call, output: undefined, returnedAt: Infinity }));
    return { events: this.#events.toSorted((a, b) => a.at - b.at), calls: [...this.#calls, ...lost] };
  }

  #processOf({ pod, pid, event }: Line): string {
    const name = `${pod}/${pid}`;
    const life = (this.#lives.get(name) ?? 0) + (event === 'recording.begun' ? 1 : 0);
    this.#lives.set(name, life);
    return `${name}/${life}`;
  }

  #called(key: string, { process, op = '', input = [], at }: Line & { readonly process: string }): void {
    this.#open.set(key, { process, op, input, calledAt: at });
  }

  #returned(key: string, { at, error, output }: Line): void {
    const call = this.#open.get(key);
    if (!call) throw new SyntaxError(`Expected the call ${key} before its return.`);
    this.#open.delete(key);
    const known = error === undefined;
    this.#calls.push({ ...call, output: known ? output : undefined, returnedAt: known ? at : Infinity });
  }
}

/** By the clock of a recording, microseconds. */
export function now(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}
