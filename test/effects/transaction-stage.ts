import { systemClock, type Clock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import type { Run } from '@fencepost/ledger/run';
import type { PostgresLedger } from '@fencepost/ledger/postgres';
import type { CronHandler, Disposition } from '@fencepost/jobs/internal';
import { execute, LazyAbort } from '@fencepost/jobs/internal';
import { Telemetry } from '@fencepost/jobs';
import { waitingRun } from './effect-stores.js';

const LEASE_MS = 10_000;
const RETRY = { attempts: 5, delayMs: 1, maxDelayMs: 1 };
const MAX_DELIVERIES = 20;

/** A worker's own code over a ledger in PostgreSQL, without the queue between them. */
export class TransactionStage {
  constructor(
    readonly ledger: PostgresLedger,
    private readonly clock: Clock = systemClock,
  ) {}

  waiting(): Promise<string> {
    const { ledger } = this;
    const wait = (ms: number) => sleep(systemClock, ms);
    return waitingRun({ ledger, clock: systemClock, runLeaseMs: LEASE_MS, wait, until: (work) => work });
  }

  /** One delivery to a worker. */
  deliver(runId: string, handle: CronHandler['handle']): Promise<Disposition> {
    const handler = { handle, retry: RETRY };
    const { clock, ledger } = this;
    const deps = { ledger, clock, telemetry: new Telemetry(), random: () => 0, worker: 'w/1', ttlMs: LEASE_MS };
    const silent = { log: () => undefined, progress: async () => undefined };
    return execute({ ...deps, handlerOf: () => handler }, { runId, givenUp: new LazyAbort(), ...silent });
  }

  /** Brings the run to one worker after the other until nobody wants it again. */
  async ended(runId: string, handle: CronHandler['handle']): Promise<Run | null> {
    for (let n = 0; n < MAX_DELIVERIES; n += 1) {
      const carried = await this.deliver(runId, handle);
      if (carried.kind !== 'later') return this.ledger.readRun(runId);
      await sleep(systemClock, carried.waitMs);
    }
    throw new Error(`Expected ${runId} to end within ${MAX_DELIVERIES} deliveries.`);
  }
}
