import { Jobs } from '@fencepost/jobs';
import type { MemoryCatalog, MemoryLedger } from '@fencepost/ledger/memory';
import type { MemoryRunQueue } from '@fencepost/testing';
import { type JobsPorts } from '../../libs/jobs/src/enqueuing/jobs.js';
import { flaky, type Flaky } from './flaky.js';
import { OperatingStage } from './operating-stage.js';

export const JOB = 'send-mail';

export interface JobsStage {
  readonly stage: OperatingStage;
  readonly catalog: Flaky<MemoryCatalog>;
  readonly ledger: Flaky<MemoryLedger>;
  readonly queue: Flaky<MemoryRunQueue>;
  readonly ports: JobsPorts;
  readonly jobs: Jobs;
}

/** A job beside a cron, who enqueues it, and everything it touches, all of which can fail. */
export async function jobsStage(over: Partial<JobsPorts> = {}): Promise<JobsStage> {
  const stage = new OperatingStage();
  await stage.declare({}, { name: JOB, expression: '@manual', overlap: 'allow' });
  const catalog = flaky(stage.catalog);
  const ledger = flaky(stage.ledger);
  const queue = flaky(stage.queue);
  const { clock, membership } = stage;
  const ports = { catalog: catalog.port, ledger: ledger.port, queue: queue.port, membership, clock, ...over };
  return { stage, catalog, ledger, queue, ports, jobs: new Jobs(ports) };
}
