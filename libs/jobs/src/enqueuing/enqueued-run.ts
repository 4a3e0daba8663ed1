import type { Clock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import type { RunHistory } from '@fencepost/ledger';
import { isTerminal, type Run } from '@fencepost/ledger/run';
import { isProgramError } from '../telemetry/report-failure.js';
import { ResultTimeoutError, RunForgottenError, RunUnsuccessfulError } from './errors.js';
import { checkedDuration } from './job-order.js';

/** A run that was asked for. */
export interface Enqueued {
  readonly runId: string;
  /** `false` when there is a run of this idempotency key already, or an overlap policy left it out. */
  readonly created: boolean;
  /** The idempotency key was used within its `keyTtl`, and the record of its run is gone: it was done, and nothing was made. */
  readonly alreadyDone?: true;
  /**
   * Waits for the end of the run, wherever it runs, and resolves with what its handler returned; `null` for nothing. Asks the
   * ledger, at once and then at intervals that grow from 50 ms to a second.
   * @param options `timeout`: `'2m'`, or milliseconds; default `'30s'`. `signal` ends the waiting, not the run
   * @throws {RunUnsuccessfulError} code `RUN_FAILED`, `RUN_CANCELLED` or `RUN_SKIPPED`: the run has ended without success
   * @throws {ResultTimeoutError} code `RESULT_TIMEOUT`: the run has not ended yet; it goes on, and may be waited for again
   * @throws {RunForgottenError} code `RUN_FORGOTTEN`: the ledger has no record of it, or its transaction has not committed yet
   */
  result(options?: { readonly timeout?: string | number; readonly signal?: AbortSignal }): Promise<unknown>;
}

type WaitOptions = NonNullable<Parameters<Enqueued['result']>[0]>;

export interface WaitPorts {
  readonly ledger: Pick<RunHistory, 'readRun'>;
  readonly clock: Clock;
}

const DEFAULT_TIMEOUT = '30s';
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;
/** Growth by half: a result is noticed no later than after half of the time again that its run took. */
const GROWTH = 1.5;

/**
 * The one handle of a run. The waiting is polling, because it works from any process and over any ledger, and costs one small
 * command per look. Compares as data, and is sent as such: what belongs to the waiting is no property.
 */
export class EnqueuedRun implements Enqueued {
  readonly #ports: WaitPorts;
  readonly runId: string;
  readonly created: boolean;
  declare readonly alreadyDone?: true;

  constructor(ports: WaitPorts, { runId, created, alreadyDone }: Omit<Enqueued, 'result'>) {
    this.#ports = ports;
    this.runId = runId;
    this.created = created;
    if (alreadyDone) this.alreadyDone = alreadyDone;
  }

  async result({ timeout = DEFAULT_TIMEOUT, signal }: WaitOptions = {}): Promise<unknown> {
    const { clock } = this.#ports;
    const timeoutMs = checkedDuration('timeout', timeout);
    const until = clock.monotonic() + timeoutMs;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * GROWTH, MAX_PAUSE_MS)) {
      signal?.throwIfAborted();
      const found = await this.#look();
      if ('run' in found && isTerminal(found.run.state)) return resultOf(found.run);
      const left = until - clock.monotonic();
      if (left <= 0) throw 'run' in found ? new ResultTimeoutError(found.run, timeoutMs) : found.error;
      await sleep(clock, Math.min(pause, left), signal);
    }
  }

  /** A store that is away for a moment has not lost the run: only what it says last counts. */
  async #look(): Promise<{ readonly run: Run } | { readonly error: unknown }> {
    try {
      const run = await this.#ports.ledger.readRun(this.runId);
      if (run) return { run };
    } catch (error) {
      if (isProgramError(error)) throw error;
      return { error };
    }
    throw new RunForgottenError(this.runId);
  }
}

/** @throws {RunUnsuccessfulError} */
function resultOf(run: Run): unknown {
  if (run.state !== 'succeeded') throw new RunUnsuccessfulError(run);
  return run.result === null ? null : JSON.parse(run.result);
}
