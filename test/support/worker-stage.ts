import { randomUUID } from 'node:crypto';
import { parseFence, type Clock } from '@fencepost/lease';
import { ManualClock } from '@fencepost/lease/testing';
import type { AttemptRef } from '../../libs/jobs/src/ledger/ledger.js';
import { MemoryLedger } from '../../libs/jobs/src/ledger/memory-ledger.js';
import type { Carried } from '../../libs/jobs/src/running/carrier.js';
import { carryOut } from '../../libs/jobs/src/running/carry-out.js';
import type { RetryPolicy } from '../../libs/jobs/src/running/retry.js';
import type { RunHandler } from '../../libs/jobs/src/running/run-context.js';
import { Telemetry } from '../../libs/jobs/src/telemetry/telemetry.js';
import { flaky } from './flaky.js';
import { recordedEvents } from './recorded-events.js';

export const RUN_LEASE_MS = 12_000;
export const START = Date.UTC(2030, 0, 1);
export const CRON = 'nightly-report';
export const RUN = `${CRON}@${START}`;

const RETRY: RetryPolicy = { attempts: 3, delayMs: 1_000, maxDelayMs: 60_000 };

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

  static async with(waiting: { readonly lateByMs?: number } = {}): Promise<WorkerStage> {
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
      ...{ cursor: null, skips: [], occurrence, overlap: 'skip' },
    });
    if (reply.verdict !== 'claimed') throw new Error('Expected the run to be claimed.');
    await stage.memoryLedger.confirm([RUN]);
    await stage.manual.advance(waiting.lateByMs ?? 0);
    return stage;
  }

  /** Brings the run to a worker with this handler. */
  carry(handle: RunHandler | null, over: Partial<RetryPolicy> & { signal?: AbortSignal } = {}): Promise<Carried> {
    const { signal = new AbortController().signal, ...retry } = over;
    const { clock, telemetry, ledger } = this;
    const handler = handle && { handle, retry: { ...RETRY, ...retry } };
    const handlerOf = () => handler ?? undefined;
    return carryOut(
      { ledger: ledger.port, clock, telemetry, random: () => 0, worker: 'worker/1', ttlMs: RUN_LEASE_MS, handlerOf },
      {
        runId: RUN,
        signal,
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
