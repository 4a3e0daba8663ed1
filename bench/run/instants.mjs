import { randomUUID } from 'node:crypto';

/** The claims of one scheduler. All instants are long past, and any number of runs may go on at once. */
export class Instants {
  #cursors = new Map();

  /** With a nonce as long as that of a pod's claim. */
  next(cron) {
    const cursor = this.#cursors.get(cron) ?? null;
    const scheduledAt = (cursor ?? Date.now() - 1_000_000_000) + 1_000;
    this.#cursors.set(cron, scheduledAt);
    return {
      ...{
        cron,
        fence: 1,
        term: 'bench',
        holder: 'bench',
        nonce: randomUUID().slice(-17),
        generation: 1,
        cursor,
        skips: [],
      },
      occurrence: { scheduledAt, dueAt: scheduledAt, reason: 'schedule', missed: null },
      ...{ overlap: 'allow', maxConcurrency: 1, startBy: null, handler: null, payload: null, priority: null },
    };
  }
}
