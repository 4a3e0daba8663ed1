import type { MinimalJob, RedisQueueBackend } from 'bullmq';

type Act = (...args: unknown[]) => Promise<unknown>;

/** Methods of a backend whose first argument is a job or its id. */
const OF_ONE_JOB: readonly (keyof RedisQueueBackend)[] = [
  'addLog',
  'changeDelay',
  'changePriority',
  'clearLogs',
  'extendLock',
  'getDependencies',
  'getDependencyCounts',
  'getIgnoredChildrenFailures',
  'getJobData',
  'getJobLogs',
  'getProcessedChildrenValues',
  'getState',
  'isFinished',
  'promote',
  'remove',
  'removeChildDependency',
  'removeUnprocessedChildren',
  'retryFinishedJob',
  'updateData',
  'updateProgress',
];

/** The same, and the job is no longer active then. */
const ENDS: readonly (keyof RedisQueueBackend)[] = ['moveJobFromActiveToWait', 'moveToWaitingChildren', 'retryJob'];

/** A backend of several queues. */
interface OfQueues {
  onQueueOf(id: string, act: (backend: RedisQueueBackend) => Promise<unknown>): Promise<unknown>;
  end(id: string, act: (backend: RedisQueueBackend) => Promise<unknown>): Promise<unknown>;
}

/** Gives it the methods that concern one job: each calls that of the queue in which the job is. */
export function actOnQueues(backend: OfQueues): void {
  for (const method of OF_ONE_JOB) Object.assign(backend, { [method]: onQueue(method, 'onQueueOf') });
  for (const method of ENDS) Object.assign(backend, { [method]: onQueue(method, 'end') });
}

function onQueue(method: keyof RedisQueueBackend, through: keyof OfQueues): Act {
  return function (this: OfQueues, job: unknown, ...others: unknown[]) {
    const id = typeof job === 'string' ? job : ((job as MinimalJob).id ?? '');
    return this[through](id, (backend) => (backend[method] as Act)(job, ...others));
  };
}
