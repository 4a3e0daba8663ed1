import { cronOfRun } from '@fencepost/ledger/run';
import type { Delivery } from '@fencepost/ledger';
import { plainOptions } from './plain-jobs.js';
import type { RunJobData } from './run-queues.js';

/** The job of a plain delivery. */
export function runJob({ runId, delivery }: Delivery) {
  const data: RunJobData = { runId };
  // The ledger counts attempts. BullMQ gets one; a retry moves the same job to delayed.
  return { name: cronOfRun(runId), data, opts: { attempts: 1, jobId: jobId({ runId, delivery }) } };
}

/**
 * BullMQ ignores a job whose id it has kept, so each delivery has its own id. No run id ends like this: a re-run ends with
 * `-r2`.
 */
export function jobId({ runId, delivery }: Delivery): string {
  return delivery === 1 ? runId : `${runId}-d${delivery}`;
}

const ID = 'cron@0';

/** Data and options of the job of a first delivery as BullMQ stores them, each as what is before the run's id and what is after it. */
export function runJobTexts(): string[] {
  const { data, opts } = runJob({ runId: ID, delivery: 1 });
  const options = plainOptions({ job: { opts }, jobId: ID });
  return [JSON.stringify(data), String(options)].flatMap((text) => text.split(ID));
}
