import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { SetupError, type Clock } from '@fencepost/lease';
import type { SqlClient } from '@fencepost/lease/postgres';
import type { Catalog } from '@fencepost/ledger/catalog';
import {
  isTransactional,
  type OccurrenceLog,
  type OperatorLog,
  type RunHistory,
  type TriggerReply,
  type TriggerRequest,
} from '@fencepost/ledger';
import { cronOfRun } from '@fencepost/ledger/run';
import type { PayloadReader } from '../running/payload-schema.js';
import type { Membership } from '../membership/membership.js';
import type { QueuedDelivery, RunQueue } from '../queue/run-queue.js';
import { EnqueuedRun, type Enqueued } from './enqueued-run.js';
import { IdempotencyKeyError, LateRequestError } from './errors.js';
import { checkedJobPayload, checkedOrder, runIdOfKey, uuidV7, type EnqueueOptions } from './job-order.js';
import { KnownJobs } from './known-cron.js';

export type { EnqueueOptions } from './job-order.js';

export interface JobsPorts {
  readonly catalog: Pick<Catalog, 'read'>;
  readonly ledger: OperatorLog & Pick<OccurrenceLog, 'confirm'> & RunHistory;
  readonly queue: Pick<RunQueue, 'enqueue'>;
  readonly membership: Pick<Membership, 'publishDue'>;
  readonly clock: Clock;
  /** How the handler of a job reads its payload, where it is known in this process. */
  readonly readerOf?: (job: string) => PayloadReader | undefined;
  readonly randomUUID?: () => string;
}

/** One of many. */
export interface JobItem extends EnqueueOptions {
  readonly payload?: unknown;
}

/** What is asked of the ledger for one job. */
interface Asked {
  readonly request: TriggerRequest;
  readonly key: string | null;
  /** When it may begin at the earliest, by the store's clock at `now`. */
  readonly delayMs: number;
}

type Given = [payload?: unknown, options?: EnqueueOptions];

interface Accepted {
  readonly enqueued: Enqueued;
  /** What the queue is to be given, if anything. */
  readonly delivery: QueuedDelivery | null;
}

/** Ledger calls under way at once. */
const AT_ONCE = 100;
/** A run that was there, and is forgotten when it is looked at. */
const MAX_TRIES = 3;

/**
 * Asks for runs of jobs (`@JobHandler`), from any process. The ledger accepts the run before the queue is told, so that a
 * queue that is away, or loses everything, loses none.
 *
 * Every method rejects with an {@link UnknownCronError} for a job that nobody declares, with an {@link OperatorInputError} for
 * an option that can't be, with a {@link JobPayloadError} for a payload that the job can't read (where its handler is known in
 * this process; it is checked again when it runs), with an {@link IdempotencyKeyError} for a key that was used with another
 * payload, and with what the store throws when it could not be asked: nobody knows then whether the run was accepted, and the
 * same call with the same idempotency key finds out.
 */
export class Jobs {
  readonly #ports: Required<JobsPorts>;
  readonly #known: KnownJobs;
  /** What was asked for in transactions that may still be open: nobody else can read it yet. */
  readonly #open = new WeakMap<SqlClient, Map<string, string | null>>();

  constructor(ports: JobsPorts) {
    this.#ports = { readerOf: () => undefined, randomUUID, ...ports };
    this.#known = new KnownJobs(ports);
  }

  /**
   * @param payload any JSON of at most 1 MiB; default `null`
   * @returns the run, whose `result()` waits for what its handler returns
   */
  async enqueue(job: string, payload?: unknown, options: EnqueueOptions = {}): Promise<Enqueued> {
    const { delivery, enqueued } = await this.#accept(await this.#asked(job, payload, options));
    if (delivery) await deliverAll(this.#ports, job, [delivery]);
    return enqueued;
  }

  /**
   * Many runs of one job, in the order given. All are checked before the first is asked for.
   *
   * Where some could not be asked for, this rejects after the others were enqueued: with idempotency keys, the same call
   * again goes on.
   */
  async enqueueMany(job: string, items: readonly JobItem[]): Promise<Enqueued[]> {
    const asked: Asked[] = [];
    for (const { payload, ...options } of items) asked.push(await this.#asked(job, payload, options));
    const enqueued: Enqueued[] = [];
    for (let at = 0; at < asked.length; at += AT_ONCE) {
      const accepted = await this.#acceptSome(job, asked.slice(at, at + AT_ONCE));
      enqueued.push(...accepted.map((one) => one.enqueued));
    }
    return enqueued;
  }

  /**
   * On an open transaction of one's own, of the database that the ledger is in: the run is there if and only if that
   * commits. A scheduler pod hands it to the queue then, as a rule at once; its result can be waited for from then on.
   * @param tx a client of `pg`, or anything with its `query({ text, values })`, on which the transaction was begun
   * @throws {SetupError} where the ledger is not in PostgreSQL
   */
  async enqueueIn(tx: SqlClient, job: string, ...[payload, options = {}]: Given): Promise<Enqueued> {
    const { ledger } = this.#ports;
    if (!isTransactional(ledger)) {
      throw new SetupError('Jobs.enqueueIn needs the ledger in PostgreSQL (ledger: "postgres").');
    }
    const asked = await this.#asked(job, payload, options);
    const { runId, payload: json } = asked.request;
    const reply = await ledger.triggerIn(tx, asked.request);
    if (reply.verdict === 'exists') checkSame(asked, await this.#payloadOf(runId, tx));
    else if (reply.verdict === 'claimed') this.#note(tx, runId, json);
    return this.#enqueued({ runId, created: reply.verdict === 'claimed', ...forgotten(asked, reply) });
  }

  async #asked(job: string, payload: unknown, options: EnqueueOptions): Promise<Asked> {
    const { randomUUID: uuid, readerOf } = this.#ports;
    const { entry, generation, now } = await this.#known.find(job);
    const { key, notBefore, ...order } = checkedOrder(options, now);
    const json = checkedJobPayload(job, payload);
    // What is kept is what was given: what the schema makes of it, it makes when it is read.
    await readerOf(generation.definition.handler ?? job)?.(payload ?? null);
    const { overlap, maxConcurrency, cancelGraceMs } = entry.definition;
    const request: TriggerRequest = {
      ...order,
      runId: key === null ? `${job}@manual-${uuidV7(now, uuid())}` : runIdOfKey(job, key),
      nonce: uuid(),
      scheduledAt: null,
      reason: 'manual',
      generation: generation.generation,
      payload: json,
      handler: generation.definition.handler ?? null,
      missed: null,
      overlap,
      notBefore,
      ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
      ...(cancelGraceMs === undefined ? {} : { cancelGraceMs }),
    };
    return { request, key, delayMs: Math.max(0, (notBefore ?? now) - now) };
  }

  async #acceptSome(job: string, asked: readonly Asked[]): Promise<Accepted[]> {
    const replies = await Promise.allSettled(asked.map((one) => this.#accept(one)));
    const accepted = replies.flatMap((reply) => (reply.status === 'fulfilled' ? [reply.value] : []));
    await deliverAll(
      this.#ports,
      job,
      accepted.flatMap(({ delivery }) => delivery ?? []),
    );
    const failed = replies.find((reply) => reply.status === 'rejected');
    if (failed) throw failed.reason;
    return accepted;
  }

  async #accept(asked: Asked): Promise<Accepted> {
    const { request, delayMs } = asked;
    const { runId } = request;
    const how = { ...(request.priority ? { priority: request.priority } : {}), ...(delayMs > 0 ? { delayMs } : {}) };
    for (let tries = 1; ; tries += 1) {
      const reply: TriggerReply = await this.#ports.ledger.trigger(request);
      if (reply.verdict === 'claimed') {
        return { enqueued: this.#enqueued({ runId, created: true }), delivery: { runId, delivery: 1, ...how } };
      }
      if (reply.verdict !== 'exists') {
        return { enqueued: this.#enqueued({ runId, created: false, ...forgotten(asked, reply) }), delivery: null };
      }
      const run = await this.#ports.ledger.readRun(runId);
      if (run === null && tries < MAX_TRIES) continue;
      checkSame(asked, run?.payload);
      // The process that made the request may have ended before it could enqueue the run.
      const waits = run?.state === 'claimed' ? { runId, delivery: run.delivery, ...how } : null;
      return { enqueued: this.#enqueued({ runId, created: false }), delivery: waits };
    }
  }

  #enqueued(fields: Omit<Enqueued, 'result'>): Enqueued {
    return new EnqueuedRun(this.#ports, fields);
  }

  async #payloadOf(runId: string, tx: SqlClient): Promise<string | null | undefined> {
    const run = await this.#ports.ledger.readRun(runId);
    return run ? run.payload : this.#open.get(tx)?.get(runId);
  }

  #note(tx: SqlClient, runId: string, payload: string | null): void {
    const notes = this.#open.get(tx) ?? new Map<string, string | null>();
    this.#open.set(tx, notes.set(runId, payload));
  }
}

/**
 * A request without a key that the ledger takes for a late one of a run that is over: it says nothing about this one.
 * @throws {LateRequestError}
 */
function forgotten({ request, key }: Asked, { verdict }: TriggerReply): Pick<Enqueued, 'alreadyDone'> {
  if (verdict !== 'forgotten') return {};
  if (key === null) throw new LateRequestError(cronOfRun(request.runId), request.runId);
  return { alreadyDone: true };
}

/** @param known `undefined` if the run has been forgotten */
function checkSame({ request: { runId, payload }, key }: Asked, known: string | null | undefined): void {
  if (key === null || known === undefined || isDeepStrictEqual(parsed(payload), parsed(known))) return;
  throw new IdempotencyKeyError(cronOfRun(runId), runId, key);
}

function parsed(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}

export interface DeliveryPorts {
  readonly ledger: Pick<OccurrenceLog, 'confirm'>;
  readonly queue: Pick<RunQueue, 'enqueue'>;
  readonly membership: Pick<Membership, 'publishDue'>;
}

/**
 * Hands accepted runs to the queue, and asks the pods to look at the cron.
 *
 * Never rejects. What the ledger has accepted is not lost when the queue is away: it is pending, and the pods deliver it.
 * An error here would make the operator ask again, and get a second run.
 */
export async function deliver(ports: DeliveryPorts, cron: string, runs: Batch): Promise<void> {
  const deliveries = runs.runIds.map((runId): QueuedDelivery => ({ runId, delivery: 1, ...runs.how }));
  await deliverAll(ports, cron, deliveries);
}

/** As {@link deliver}, each in its own way. */
export async function deliverAll(
  { ledger, queue, membership }: DeliveryPorts,
  cron: string,
  deliveries: readonly QueuedDelivery[],
): Promise<void> {
  if (deliveries.length === 0) return;
  try {
    await queue.enqueue(deliveries);
    await ledger.confirm(deliveries.map(({ runId }) => runId));
  } catch {
    // Pending still, or enqueued and not confirmed: a second delivery of the same run changes nothing.
  }
  await askToLook({ membership }, cron);
}

/** Makes the pod that holds the cron look at it now. Never rejects: without this, the pod looks within minutes. */
export async function askToLook({ membership }: Pick<DeliveryPorts, 'membership'>, cron: string): Promise<void> {
  await membership.publishDue(new Map([[cron, 0]])).catch(() => undefined);
}

interface Batch {
  readonly runIds: readonly string[];
  readonly how?: Pick<QueuedDelivery, 'priority' | 'delayMs'>;
}
