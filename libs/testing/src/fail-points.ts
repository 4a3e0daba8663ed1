import type { WorkerProcess } from './worker-process.js';

/** What a worker writes while it carries out a run, in the order in which it does. */
export type Write = 'begin' | 'beginEffect' | 'finishEffect' | 'advanceItems' | 'transaction' | 'finish';

/** `lose`: the request, where it is planned before the write, or the reply, where it is planned after it. */
export type Mishap = 'crash' | 'freeze' | 'lose';

export interface FailPoint {
  readonly mishap: Mishap;
  readonly when: 'before' | 'after';
  readonly write: Write;
  /** Of which effect; of any where it isn't said. */
  readonly effect?: string | undefined;
}

/** A mishap that was planned, and what has become of it. */
export interface Fault {
  /** Whether a worker has got there. */
  readonly reached: boolean;
  /** A frozen worker goes on: resolves when its attempt is over. Nothing for any other. */
  thaw(): Promise<void>;
}

/** A place where nothing happens, and which worker has got there last. */
export interface Marker extends Pick<Fault, 'thaw'> {
  /** It stands still from now on. Nothing where none has got there, or it is dead. */
  freeze(): void;
}

class Planned implements Fault, Marker {
  #process: WorkerProcess | null = null;
  #frozen: WorkerProcess | null = null;

  constructor(
    readonly point: Omit<FailPoint, 'mishap'> & { readonly mishap?: Mishap },
    private readonly over: (process: WorkerProcess) => Promise<unknown>,
  ) {}

  get reached(): boolean {
    return this.#process !== null;
  }

  meet(process: WorkerProcess): void {
    this.#process = process;
    if (this.point.mishap === 'crash') process.crash();
    if (this.point.mishap === 'freeze') process.freeze();
  }

  freeze(): void {
    // Another one may get there while this one stands still.
    this.#frozen = this.#process;
    this.#frozen?.freeze();
  }

  async thaw(): Promise<void> {
    const process = this.#frozen ?? this.#process;
    if (process?.state !== 'frozen') return;
    process.thaw();
    await this.over(process);
  }
}

/** The mishaps that are still to come: each happens once, to the first worker that gets there. */
export class FailPoints {
  readonly #planned: Planned[] = [];
  readonly #markers: Planned[] = [];

  /** @param over resolves when the work of this process has ended by itself */
  constructor(private readonly over: (process: WorkerProcess) => Promise<unknown> = async () => undefined) {}

  plan(point: FailPoint): Fault {
    const planned = new Planned(point, this.over);
    this.#planned.push(planned);
    return planned;
  }

  mark(point: Omit<FailPoint, 'mishap'>): Marker {
    const mark = new Planned(point, this.over);
    this.#markers.push(mark);
    return mark;
  }

  /** A worker gets there. @throws where a message is to get lost */
  meet(process: WorkerProcess, at: Omit<FailPoint, 'mishap'>): void {
    for (const mark of this.#markers) if (matches(mark.point, at)) mark.meet(process);
    const index = this.#planned.findIndex(({ point }) => matches(point, at));
    const [planned] = index < 0 ? [] : this.#planned.splice(index, 1);
    if (!planned) return;
    planned.meet(process);
    const what = at.when === 'before' ? 'request' : 'reply';
    if (planned.point.mishap === 'lose') throw new Error(`Command timed out: the test lost the ${what} of ${at.write}`);
  }
}

function matches(point: Omit<FailPoint, 'mishap'>, at: Omit<FailPoint, 'mishap'>): boolean {
  const { when, write, effect } = point;
  return when === at.when && write === at.write && (effect === undefined || effect === at.effect);
}
