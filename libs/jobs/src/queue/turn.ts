/** As BullMQ's worker expects it: the job and its id, the delay of a limited queue, and when the next delayed job is due. */
export type Taken = unknown[];

/** The request of a worker's slot: it completes its job, takes one, or both. */
export interface Turn {
  readonly token: string;
  readonly ended: EndedJob | null;
  /** `plain`: not from a queue that only BullMQ's own script can ask. */
  readonly takes: 'no' | 'any' | 'plain';
}

export interface EndedJob {
  readonly id: string;
  /** JSON. */
  readonly value: string;
  /** Ends with the job: run, fence and nonce of its attempt, and the result of the run as JSON or nothing. */
  readonly run?: { readonly proof: string; readonly result: string };
}

export interface TurnReply {
  /** `false`: nothing was done. */
  readonly isPlain: boolean;
  /** What the ledger replied of the run that ended with its job. */
  readonly finished?: unknown;
  readonly at: number;
  readonly job: TakenJob | null;
  /** The queues that BullMQ's own script must ask for this slot, which may have a job. */
  readonly ask: readonly string[];
  /** The other queues have not been asked for this slot. */
  readonly isPartial: boolean;
  /** When the next delayed job of the others is due; 0 without one. */
  readonly dueAt: number;
}

export interface TakenJob {
  readonly queue: string;
  readonly id: string;
  readonly taken: Taken;
  /** `true`: the worker has a job of this id from another queue. */
  readonly isSecond: boolean;
}
