import type { Clock } from '@fencepost/lease';
import { formatFence } from '@fencepost/lease';
import { shortNonce } from '@fencepost/lease/internal';
import type { AttemptRef, BeginReply } from '@fencepost/ledger';
import { cronOfRun, type RunState } from '@fencepost/ledger/run';
import type { Job } from 'bullmq';
import type { AttemptSteps, BeginPlans } from './begin-plans.js';
import { isPlainEnd } from './plain-jobs.js';
import type { Turn, TurnReply } from './turn.js';

/** The begin of a run that came with its job. */
export interface BegunAhead {
  readonly nonce: string;
  /** Monotonic instant at which it was asked for. */
  readonly sentAt: number;
  /** @throws {FenceExhaustedError} and for a broken record */
  reply(): BeginReply;
}

export interface RunStepsOptions {
  readonly steps: AttemptSteps;
  readonly plans: BeginPlans;
  readonly clock: Clock;
  /** Identity of this worker process. */
  readonly worker: string;
  /** Length of the run lease. */
  readonly ttlMs: number;
}

/** What the worker's queues do for a run with a job of theirs. */
export interface Turning {
  readonly ask: (turn: Turn) => Promise<TurnReply>;
  /** Whether a slot that has become free takes another job. */
  readonly takesMore: () => boolean;
}

/**
 * Begins and ends of runs that travel with their jobs, where queue and ledger share a server: a slot ends its run, completes the
 * job, takes the next one and begins it in one step. What can't travel (a handler with limits, a failed attempt) goes its own way.
 */
export class RunSteps {
  readonly #options: RunStepsOptions;
  /** By job; taken and not yet executed. */
  readonly #begun = new Map<string, BegunAhead>();
  /** By job; completed together with its run, which BullMQ's worker is about to ask for. */
  readonly #completed = new Map<string, TurnReply>();
  #turning: Turning | null = null;
  #asked = 0;
  #isStopping = false;
  #onQuiet: () => void = () => {};

  constructor(options: RunStepsOptions) {
    this.#options = options;
  }

  get lua(): string {
    return this.#options.steps.lua;
  }

  /** The keys and the words that every call of the script has. */
  words(): { readonly keys: readonly string[]; readonly args: readonly (string | number)[] } {
    const { steps, plans, worker, ttlMs } = this.#options;
    return { keys: [steps.fences, plans.key ?? ''], args: [...steps.about, worker, ttlMs] };
  }

  through(turning: Turning): void {
    this.#turning = turning;
  }

  /** Of a slot that takes a job; empty while no script may begin runs. */
  nonce(): string {
    return this.#isStopping || this.#options.plans.key === null ? '' : shortNonce();
  }

  /** A call is under way that may begin runs. */
  sent(): number {
    this.#asked += 1;
    return this.#options.clock.monotonic();
  }

  answered(): void {
    this.#asked -= 1;
    this.#lookAround();
  }

  /** The worker has got the job of a run. @param reply of the script; `undefined` when it has not begun the run */
  took(jobId: string, { nonce, sentAt, reply }: { nonce: string; sentAt: number; reply: unknown }): void {
    const { steps, plans, worker } = this.#options;
    const runId = runOfJob(jobId);
    if (reply !== undefined) {
      this.#begun.set(jobId, { nonce, sentAt, reply: () => steps.decodeBegin(reply, { runId, worker }) });
    } else if (nonce !== '' && runId.includes('@') && plans.has(cronOfRun(runId))) {
      plans.miss();
    }
  }

  /** @returns the begin that came with the job, once */
  begunWith({ id = '', data }: Job<{ readonly runId: string }>): BegunAhead | undefined {
    const begun = this.#begun.get(id);
    if (!begun) return undefined;
    this.#begun.delete(id);
    this.#lookAround();
    return data.runId === runOfJob(id) ? begun : undefined;
  }

  /**
   * Ends the run of a job as succeeded, and completes the job.
   * @returns the state that the run has now, or `null` for a stale attempt; `null` instead of a promise if the two can't go together
   * @throws when the server was not reached, or the record is broken
   */
  succeed(job: Job, token: string | undefined, end: RunEnd): Promise<RunState | null> | null {
    const turning = this.#turning;
    if (!turning || token === undefined || !isPlainEnd(job)) return null;
    return this.#succeed(turning, { id: job.id ?? '', token }, end);
  }

  async #succeed(turning: Turning, { id, token }: { id: string; token: string }, end: RunEnd) {
    const { runId, fence, nonce } = end.attempt;
    const run = { proof: `${runId} ${formatFence(fence)} ${nonce}`, result: end.result ?? '' };
    const takes = !this.#isStopping && turning.takesMore() ? 'any' : 'no';
    const reply = await turning.ask({ token, ended: { id, value: 'null', run }, takes });
    if (reply.isPlain) this.#completed.set(id, reply);
    return this.#options.steps.decodeFinish(reply.finished, runId);
  }

  /** @returns what became of a job that was completed together with its run, once */
  completedOf(jobId: string): TurnReply | undefined {
    const reply = this.#completed.get(jobId);
    if (reply) this.#completed.delete(jobId);
    return reply;
  }

  /** No further run is begun with its job. Resolves when those that were have been handed to the worker. */
  stop(): Promise<void> {
    this.#isStopping = true;
    return new Promise((resolve) => {
      this.#onQuiet = resolve;
      this.#lookAround();
    });
  }

  #lookAround(): void {
    if (this.#isStopping && this.#asked === 0 && this.#begun.size === 0) this.#onQuiet();
  }
}

export interface RunEnd {
  readonly attempt: AttemptRef;
  /** JSON. */
  readonly result: string | undefined;
}

/** The run of a job, whichever delivery it is: the inverse of `jobId`. */
export function runOfJob(id: string): string {
  return id.replace(/-d\d+$/, '');
}
