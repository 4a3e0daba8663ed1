import type { JobJson, KeepJobs, MinimalJob, ParentKeyOpts, WorkerOptions } from 'bullmq';

/** A job as BullMQ hands it to its backend. */
export interface NewJob {
  readonly job: JobJson;
  readonly jobId: string;
  readonly parentKeyOpts?: ParentKeyOpts;
}

/** The completed jobs that a worker keeps in each queue. */
export interface KeptJobs {
  readonly count: number;
  /** Seconds. */
  readonly age: number;
}

/** What decides how it is added. */
interface AddedJob extends Pick<NewJob, 'jobId'> {
  readonly job: Pick<JobJson, 'opts' | 'parentKey'>;
}

const PLAIN: ReadonlySet<string> = new Set(['attempts', 'jobId', 'telemetry']);

/**
 * The options of a plain job as BullMQ stores them.
 * @returns `null` for a job with a delay, a priority, a parent or anything else that takes more than a place in the queue
 */
export function plainOptions({ job, jobId }: AddedJob): string | null {
  const { attempts, jobId: own, telemetry } = job.opts;
  if (!own || jobId !== own || job.parentKey !== undefined || telemetry?.omitContext !== undefined) return null;
  for (const [name, value] of Object.entries(job.opts)) if (isGiven(value) && !PLAIN.has(name)) return null;
  return JSON.stringify({ attempts, jobId, tm: telemetry?.metadata });
}

/** @returns `null` where a worker does more than take jobs one after the other, and keep some of the completed ones */
export function plainWorker(options: Partial<WorkerOptions>): KeptJobs | null {
  const { limiter, metrics, name, removeOnComplete: kept } = options;
  if (limiter || metrics || name !== undefined || typeof kept !== 'object') return null;
  const { count, age, ...others } = kept as KeepJobs & Partial<KeptJobs>;
  return count && age && Object.values(others).every((one) => !isGiven(one)) ? { count, age } : null;
}

/** Whether the end of a job concerns nobody else, as far as the worker knows. */
export function isPlainEnd({ parent, parentKey, deduplicationId, opts }: EndedJob): boolean {
  return !parent && !parentKey && !deduplicationId && !isGiven(opts.removeOnComplete);
}

type EndedJob = Pick<MinimalJob, 'opts' | 'parent' | 'parentKey'> & { readonly deduplicationId?: string | undefined };

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
