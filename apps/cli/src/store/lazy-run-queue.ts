import type { RunQueue } from '../jobs.js';

/** Opened when something is to be enqueued: whoever only looks leaves no trace in the queue's keys. */
export class LazyRunQueue implements RunQueue {
  #opened: Promise<RunQueue & { close(): Promise<void> }> | null = null;

  constructor(private readonly open: () => Promise<RunQueue & { close(): Promise<void> }>) {}

  async enqueue(...[deliveries]: Parameters<RunQueue['enqueue']>): Promise<void> {
    await (await this.#queue()).enqueue(deliveries);
  }

  async holds(...[deliveries]: Parameters<RunQueue['holds']>): ReturnType<RunQueue['holds']> {
    return (await this.#queue()).holds(deliveries);
  }

  async close(): Promise<void> {
    const queue = await this.#opened?.catch(() => null);
    await queue?.close();
  }

  #queue(): Promise<RunQueue> {
    this.#opened ??= this.open();
    return this.#opened;
  }
}
