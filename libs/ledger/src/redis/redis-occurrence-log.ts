import type {
  ClaimReply,
  ClaimRequest,
  ClaimStep,
  CronRecord,
  Delivery,
  OccurrenceLog,
  SendClaims,
} from '../base/ledger.js';
import { checkClaim, checkOverdue } from '../base/ledger-request.js';
import { LEDGER_BATCH } from '../base/ledger-timing.js';
import { occurrenceId } from '../base/occurrence.js';
import type { OverdueOptions, OverdueRun, OverdueRuns } from '../base/accepting.js';
import { decodeClaim, decodeCron, decodeOverdue, encodeClaim, overdueRun } from './redis-occurrence-codec.js';
import type { CronRow, OverdueRow } from './redis-occurrence-codec.js';
import { keysOfRun, type RedisLedgerAccess } from './redis-ledger-access.js';
import { BAND, deliveryOf } from './redis-run-codec.js';
import type { Run } from '../base/run.js';
import { cronsWith } from './redis-rare-keys.js';
import { RedisRunHistory } from './redis-run-history.js';

/** A script blocks the server while it runs: one with this many claims, confirmations, crons or looks takes a few milliseconds. */
const MAX_CLAIMS = 200;
const MAX_CONFIRMED = 500;
const MAX_CRONS = 500;
const MAX_LOOKED_AT = 200;

/** The lowest score of a run that was claimed and not confirmed. */
const PENDING = 2 * BAND;

interface PreparedClaim {
  readonly index: number;
  readonly runId: string;
  readonly request: ClaimRequest;
  readonly keys: readonly string[];
}

type ClaimOutcome = PromiseSettledResult<ClaimReply>;

type Words = readonly (string | number)[];

export class RedisOccurrenceLog extends RedisRunHistory implements OccurrenceLog {
  readonly claimStep: ClaimStep | null;
  /** What claims share: the first arguments of `claim-occurrences`. */
  readonly #claimed: Words;
  readonly #enqueued: Words;

  constructor(access: RedisLedgerAccess) {
    super(access);
    const { toleranceMs, recoverMs, sweepMs, keepMs } = access.timing;
    this.#claimed = [toleranceMs, recoverMs, keepMs, 'claimed'];
    this.#enqueued = [toleranceMs, sweepMs, keepMs, 'enqueued'];
    // Bound: the path of a claim is short.
    const claimAll = this.#claimAll.bind(this);
    this.claimStep = access.isOneStep ? { lua: access.textOf('claim-occurrences'), claimAll } : null;
  }

  async readCron(cron: string): Promise<CronRecord> {
    const [record] = await this.readCrons([cron]);
    return record as CronRecord;
  }

  async readCrons(crons: readonly string[]): Promise<CronRecord[]> {
    const rows = await Promise.all(
      this.access.inBatches(crons, MAX_CRONS).map(async (batch) => {
        const keys = batch.map((cron) => this.access.keys(cron).cron);
        return (await this.access.ask('read-crons', keys, [])) as CronRow[];
      }),
    );
    return rows.flat().map(decodeCron);
  }

  async claim(request: ClaimRequest): Promise<ClaimReply> {
    const [outcome] = await this.claimAll([request]);
    if (outcome?.status !== 'fulfilled') throw outcome?.reason;
    return outcome.value;
  }

  /** An invalid claim, and one of a broken cron, is rejected alone; a call that failed rejects only the claims in it. */
  claimAll(requests: readonly ClaimRequest[]): Promise<ClaimOutcome[]> {
    const send: SendClaims = (keys, args) => this.access.ask('claim-occurrences', keys, args);
    return this.#claimAll(requests, send, this.#claimed);
  }

  async #claimAll(requests: readonly ClaimRequest[], send: SendClaims, shared = this.#enqueued) {
    const outcomes: ClaimOutcome[] = [];
    const sound: PreparedClaim[] = [];
    for (const [index, request] of requests.entries()) {
      try {
        sound.push(this.#prepare(request, index));
      } catch (reason) {
        outcomes[index] = { status: 'rejected', reason };
      }
    }
    const batches = this.access.inBatches(sound, MAX_CLAIMS);
    const asking: Promise<unknown>[] = [];
    for (const batch of batches) {
      const [keys, args]: [string[], (string | number)[]] = [[], [...shared]];
      for (const claim of batch) {
        keys.push(...claim.keys);
        encodeClaim(claim.request, args);
      }
      asking.push(send(keys, args));
    }
    const settled = await Promise.allSettled(asking);
    for (const [n, batch] of batches.entries()) {
      const answer = settled[n] as PromiseSettledResult<string[][]>;
      for (const [at, { index, runId }] of batch.entries()) {
        outcomes[index] = answer.status === 'rejected' ? answer : outcomeOf(answer.value[at] ?? [], runId);
      }
    }
    return outcomes;
  }

  /** @throws {RangeError} for an invalid claim, so that it never gets among others */
  #prepare(request: ClaimRequest, index: number): PreparedClaim {
    checkClaim(request);
    const { cron, occurrence } = request;
    const runId = occurrence ? occurrenceId({ cron, scheduledAt: occurrence.scheduledAt }) : '';
    const of = this.access.keys(cron);
    const keys = [of.cron, of.run(runId)];
    if (this.access.redis.isCluster) keys.push(of.runs, of.open, of.skips, of.noted);
    return { index, runId, request, keys };
  }

  async confirm(runIds: readonly string[]): Promise<void> {
    const { keys: keysOf, timing } = this.access;
    await Promise.all(
      this.access.inBatches(runIds, MAX_CONFIRMED).map((batch) => {
        const keys = batch.flatMap((runId) => {
          const of = keysOfRun(keysOf, runId);
          return [of.run(runId), of.open];
        });
        return this.access.ask('confirm-runs', keys, [timing.sweepMs, ...batch]);
      }),
    );
  }

  async pending(cron: string): Promise<Delivery[]> {
    return (await this.#waiting(cron, PENDING, LEDGER_BATCH)).map(({ id, delivery, priority }) =>
      deliveryOf(id, delivery, priority),
    );
  }

  async withPending(crons: readonly string[]): Promise<string[]> {
    const found = this.access.inBatches(crons, MAX_CRONS).map(async (batch) => {
      const keys = batch.map((cron) => this.access.keys(cron).open);
      const numbers = (await this.access.ask('list-pending', keys, [PENDING])) as number[];
      return numbers.flatMap((number) => batch[number - 1] ?? []);
    });
    return (await Promise.all(found)).flat();
  }

  withOpenRuns(crons: readonly string[]): Promise<string[]> {
    return cronsWith(this.access, ['open', 'notifications'], crons);
  }

  async overdueAll(crons: readonly string[], options: OverdueOptions): Promise<PromiseSettledResult<OverdueRuns>[]> {
    checkOverdue(options);
    const batches = this.access.inBatches(crons, MAX_LOOKED_AT);
    return (await Promise.all(batches.map((batch) => this.#overdueBatch(batch, options)))).flat();
  }

  async #overdueBatch(
    crons: readonly string[],
    { againMs, keep }: OverdueOptions,
  ): Promise<PromiseSettledResult<OverdueRuns>[]> {
    try {
      const keys = crons.flatMap((cron) => {
        const { open, runs, skips, notifications } = this.access.keys(cron);
        return [open, runs, skips, notifications];
      });
      const rows = (await this.access.ask('list-overdue', keys, [LEDGER_BATCH, againMs, keep])) as OverdueRow[];
      return await Promise.allSettled(crons.map((cron, n) => this.#overdueOf(cron, rows[n] ?? 'no answer')));
    } catch (reason) {
      return crons.map(() => ({ status: 'rejected', reason }));
    }
  }

  async #overdueOf(cron: string, row: OverdueRow): Promise<OverdueRuns> {
    const { runIds, ...counts } = decodeOverdue(row, cron);
    const runs = await Promise.all(runIds.map((id) => this.readRun(id)));
    return { runs: runs.filter((run) => run !== null).map(overdueRun), ...counts };
  }

  /** Those that run have the end of their lease as their score. */
  async unstarted(cron: string, limit: number): Promise<OverdueRun[]> {
    if (limit < 1) return [];
    return (await this.#waiting(cron, BAND, limit)).map(overdueRun);
  }

  /** By when the next look at each is. */
  async #waiting(cron: string, from: number, limit: number): Promise<Run[]> {
    const { redis, keys } = this.access;
    return this.existing(await redis.zrangebyscore(keys(cron).open, from, '+inf', 'LIMIT', 0, limit));
  }

  async redeliver({ runId, delivery }: Delivery, nonce: string): Promise<Delivery | null> {
    const keys = keysOfRun(this.access.keys, runId);
    const reply = await this.access.call(
      'redeliver-run',
      [keys.cron, keys.run(runId), keys.open, keys.items(runId), keys.noted],
      [delivery, nonce, this.access.timing.keepMs],
    );
    return reply[0] === 'DELIVER' ? deliveryOf(runId, reply[1], reply[2]) : null;
  }
}

function outcomeOf(reply: readonly string[], runId: string): ClaimOutcome {
  try {
    return { status: 'fulfilled', value: decodeClaim(reply, runId) };
  } catch (reason) {
    return { status: 'rejected', reason };
  }
}
