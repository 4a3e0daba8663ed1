/** The queues that a worker takes jobs from, and those of the jobs that it has. May change while it runs. */
export class WorkerQueues {
  #names: readonly string[];
  #onChange: () => void = () => {};
  readonly #queues = new Map<string, string>();

  constructor(names: readonly string[]) {
    this.#names = [...new Set(names)];
  }

  get names(): readonly string[] {
    return this.#names;
  }

  /** An idle worker looks at them at once. Jobs that it has taken from another queue end there. */
  set(names: readonly string[]): void {
    this.#names = [...new Set(names)];
    this.#onChange();
  }

  /** For the one worker that takes from them. */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  /** Queue of a job that this worker has taken and not ended. */
  queueOf(jobId: string): string | undefined {
    return this.#queues.get(jobId);
  }

  /** @returns whether it may be worked on: no job of this id from another queue is under way here */
  hold(jobId: string, queue: string): boolean {
    if ((this.#queues.get(jobId) ?? queue) !== queue) return false;
    this.#queues.set(jobId, queue);
    return true;
  }

  release(jobId: string): void {
    this.#queues.delete(jobId);
  }
}
