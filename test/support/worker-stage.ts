import { randomUUID } from 'node:crypto';
import { parseFence, type Clock } from '@fencepost/lease';
import { ManualClock } from '@fencepost/lease/testing';
import type { AttemptRef, ClaimRequest } from '@fencepost/ledger';
import { MemoryLedger } from '@fencepost/ledger/memory';
import type { Disposition, CronHandler } from '@fencepost/jobs/internal';
import { execute, LazyAbort } from '@fencepost/jobs/internal';
import { Telemetry } from '@fencepost/jobs';
import { flaky } from './flaky.js';
import { recordedEvents } from './recorded.js';

export const RUN_LEASE_MS = 12_000;
export const START = Date.UTC(2030, 0, 1);
export const CRON = 'nightly-report';
export const RUN = `${CRON}@${START}`;

type RetryPolicy = CronHandler['retry'];
type RunHandler = CronHandler['handle'];

const RETRY: RetryPolicy = { attempts: 3, delayMs: 1_000, maxDelayMs: 60_000 };

interface Waiting extends Partial<Pick<ClaimRequest, 'payload' | 'handler'>> {
  readonly lateByMs?: number;
}

interface Bringing {
  readonly signal?: AbortSignal;
  readonly handles?: string;
  /** Default: the one run that waits. */
  readonly runId?: string;
  /** What else its handler says. */
  readonly handler?: Omit<CronHandler, 'handle' | 'retry'>;
}

/** A worker over a memory ledger that can fail, and one run that waits for it. */
export class WorkerStage {
  readonly manual = new ManualClock(START);
  readonly memoryLedger = new MemoryLedger(this.manual);
  readonly ledger = flaky(this.memoryLedger);
  readonly telemetry = new Telemetry();
  readonly events = recordedEvents(this.telemetry);
  readonly log: string[] = [];
  readonly progress: (number | object)[] = [];
  /** A worker whose timers come late has a clock of its own. */
  clock: Clock = this.manual;
  tracing: NonNullable<Parameters<typeof execute>[0]['tracing']> | null = null;

  static async with(waiting: Waiting = {}): Promise<WorkerStage> {
    const { lateByMs = 0, ...claimed } = waiting;
    const stage = new WorkerStage();
    const occurrence = { scheduledAt: START, dueAt: START, reason: 'schedule', missed: null } as const;
    const reply = await stage.memoryLedger.claim({
      ...{
        cron: CRON,
        fence: parseFence('1'),
        term: 'term',
        holder: 'scheduler/1',
        generation: 1,
        nonce: randomUUID(),
      },
      ...{ cursor: null, skips: [], occurrence, overlap: 'skip', ...claimed },
    });
    if (reply.verdict !== 'claimed') throw new Error('Expected the run to be claimed.');
    await stage.memoryLedger.confirm([RUN]);
    await stage.manual.advance(lateByMs);
    return stage;
  }

  /** Brings the run to a worker with this handler, for the run's own cron or for another one. */
  deliver(handle: RunHandler | null, over: Partial<RetryPolicy> & Bringing = {}): Promise<Disposition> {
    const { signal = new AbortController().signal, handles = CRON, runId = RUN, handler: said, ...retry } = over;
    const { clock, telemetry, tracing, ledger } = this;
    const handler = handle && { ...said, handle, retry: { ...RETRY, ...retry } };
    const handlerOf = (cron: string) => (cron === handles ? (handler ?? undefined) : undefined);
    return execute(
      {
        ...{ ledger: ledger.port, clock, telemetry, tracing, random: () => 0, handlerOf },
        ...{ worker: 'worker/1', ttlMs: RUN_LEASE_MS },
      },
      {
        runId,
        givenUp: endingBy(signal),
        log: (level, message, { attempt, fence }) => void this.log.push(`${level} ${attempt} ${fence > 0} ${message}`),
        progress: async (value) => void this.progress.push(value),
      },
    );
  }

  /** Another worker begins the run, as one does when the lease of the first has run out. */
  async takenOver(): Promise<AttemptRef> {
    const nonce = randomUUID();
    const reply = await this.memoryLedger.begin({
      runId: RUN,
      nonce,
      worker: 'other/1',
      ttlMs: 60_000,
      maxAttempts: 9,
    });
    if (reply.verdict !== 'begun') throw new Error(`Expected to take ${RUN} over, got ${JSON.stringify(reply)}.`);
    return { runId: RUN, nonce, fence: reply.fence };
  }

  async state(): Promise<string | undefined> {
    return (await this.memoryLedger.readRun(RUN))?.state;
  }
}

function endingBy(signal: AbortSignal): LazyAbort {
  const ending = new LazyAbort();
  if (signal.aborted) ending.end(signal.reason);
  signal.addEventListener('abort', () => ending.end(signal.reason), { once: true });
  return ending;
}

/** A handler that stands still until the test lets it go on. */
export function standing(): {
  readonly handle: RunHandler;
  readonly goOn: () => void;
  readonly signal: () => AbortSignal;
} {
  let goOn = () => {};
  let given = new AbortController().signal;
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  const handle: RunHandler = async ({ signal }) => {
    given = signal;
    await gate;
  };
  return { handle, goOn: () => goOn(), signal: () => given };
}
