import type { BackendFactory, RedisQueueBackend } from 'bullmq';
import { loadScripts } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { BackendBase, backendFactory, type BackendOwner } from './backend-base.js';
import { plainOptions, type NewJob } from './plain-jobs.js';
import { TEXTS } from './lua/texts.js';

export const { 'add-jobs': ADD_JOBS } = loadScripts(TEXTS, ['add-jobs']);

/** In the order in which the script takes them. */
export const ADD_KEYS = 'wait meta id events marker active'.split(' ');

/** A script holds up everybody else's commands while it runs: this many jobs take about one millisecond. */
const MAX_ADDED = 250;

/**
 * The backend of a BullMQ queue that adds many jobs in one script, in BullMQ's own layout: any queue, worker or board of BullMQ
 * reads what it writes. It knows plain jobs; BullMQ's scripts add the others.
 * @param redis the connection of the queue
 * @returns `undefined` with BullMQ 5, whose queues then use their own backend
 */
export function batchingBackend(redis: RedisClient): BackendFactory<RedisQueueBackend> {
  return backendFactory((plain, owner) => new BatchingBackend(redis, plain, owner));
}

class BatchingBackend extends BackendBase {
  readonly #redis: RedisClient;
  readonly #keys: readonly string[];

  constructor(redis: RedisClient, plain: RedisQueueBackend, owner: BackendOwner) {
    super(plain, owner);
    this.#redis = redis;
    this.#keys = ADD_KEYS.map((key) => this.toKey(key));
  }

  override async addJobs(entries: NewJob[]): Promise<string[]> {
    const plain: [NewJob, options: string][] = [];
    const others: NewJob[] = [];
    for (const entry of entries) {
      const options = plainOptions(entry);
      if (options === null) others.push(entry);
      else plain.push([entry, options]);
    }
    for (let n = 0; n < plain.length; n += MAX_ADDED) await this.#add(plain.slice(n, n + MAX_ADDED));
    const ids = others.length === 0 ? [] : await super.addJobs(others);
    const idOf = new Map(others.map((entry, n) => [entry, ids[n] ?? entry.jobId]));
    return entries.map((entry) => idOf.get(entry) ?? entry.jobId);
  }

  async #add(jobs: readonly [NewJob, options: string][]): Promise<void> {
    const args: (string | number)[] = [this.toKey('')];
    for (const [{ job, jobId }, options] of jobs) args.push(jobId, job.name, job.data, options, job.timestamp);
    await this.waitUntilReady();
    await ADD_JOBS.run(this.#redis, this.#keys, args);
  }
}
