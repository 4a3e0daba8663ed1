/** The queues that a worker takes jobs from, and the jobs that it has taken. The set may change while the worker runs. */
export class WorkerQueues {
  #names: readonly string[];
  readonly #taken = new Map<string, string>();
  /** Called when the set has changed. */
  onChange: () => void = () => {};

  /** @throws if there is none */
  constructor(names: readonly string[]) {
    this.#names = distinct(names);
  }

  get names(): readonly string[] {
    return this.#names;
  }

  /**
   * Jobs that were taken from a queue which is no longer named end there as if it were.
   * @throws if there is none
   */
  set(names: readonly string[]): void {
    this.#names = distinct(names);
    this.onChange();
  }

  /** The queue of a job that this worker has taken and not ended; of any other, the first queue. */
  queueOf(jobId: string): string {
    return this.#taken.get(jobId) ?? (this.#names[0] as string);
  }

  has(jobId: string): boolean {
    return this.#taken.has(jobId);
  }

  /** @returns whether the worker may have it: not while it has a job of the same id from another queue */
  take(jobId: string, queue: string): boolean {
    const from = this.#taken.get(jobId) ?? queue;
    this.#taken.set(jobId, from);
    return from === queue;
  }

  end(jobId: string): void {
    this.#taken.delete(jobId);
  }
}

function distinct(names: readonly string[]): readonly string[] {
  if (names.length === 0)
    throw new Error('A worker needs at least one queue. Name the queues that it takes jobs from.');
  return [...new Set(names)];
}
