import type { ClaimReply, ClaimRequest, CronRecord, Delivery, OccurrenceLog } from '../base/ledger.js';
import { checkOverdue } from '../base/ledger-request.js';
import { LEDGER_BATCH } from '../base/ledger-timing.js';
import { cronOfRun } from '../base/occurrence.js';
import type { OverdueOptions, OverdueRun, OverdueRuns } from '../base/accepting.js';
import { decodeClaim, decodeCron, decodeOverdue, encodeClaim } from './postgres-occurrence-codec.js';
import type { ClaimRow, CronRow, OverdueRow, OverdueRunRow } from './postgres-occurrence-codec.js';
import { askEach } from './postgres-failure.js';
import { decodeDelivery, type DeliveryRow } from './postgres-run-codec.js';
import { atLeastNone, PostgresRunHistory } from './postgres-run-history.js';
import { sqlJson } from './postgres-value.js';
import { inBatches } from '../catalog/in-batches.js';

/** A call locks the rows of its crons until it is done: with this many claims it takes some ten milliseconds. */
const MAX_CLAIMS = 200;
const MAX_CONFIRMED = 500;
const MAX_CRONS = 500;
const MAX_ASKED_FOR = 1_000;
const MAX_LOOKED_AT = 200;

export class PostgresOccurrenceLog extends PostgresRunHistory implements OccurrenceLog {
  async readCron(cron: string): Promise<CronRecord> {
    const [record] = await this.readCrons([cron]);
    return record as CronRecord;
  }

  async readCrons(crons: readonly string[]): Promise<CronRecord[]> {
    const rows = await Promise.all(
      inBatches(crons, MAX_CRONS).map((batch) => this.ask<CronRow[]>('read_crons', batch)),
    );
    return rows.flat().map(decodeCron);
  }

  async claim(request: ClaimRequest): Promise<ClaimReply> {
    const [reply] = await this.#claimBatch([encodeClaim(request)]);
    return reply as ClaimReply;
  }

  /** An invalid claim is rejected alone, and so is one that the server refuses; a call that failed rejects what was in it. */
  async claimAll(requests: readonly ClaimRequest[]): Promise<PromiseSettledResult<ClaimReply>[]> {
    const prepared = await Promise.allSettled(requests.map(async (request) => encodeClaim(request)));
    const sound = prepared.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    // Safe to send again: each claim has its nonce.
    const asked = inBatches(sound, MAX_CLAIMS).map((batch) => askEach(batch, (claims) => this.#claimBatch(claims)));
    const batches = await Promise.all(asked);
    const replies = new Map(batches.flat().map((reply, n) => [sound[n], reply]));
    return prepared.map((one) =>
      one.status === 'rejected' ? one : (replies.get(one.value) as PromiseSettledResult<ClaimReply>),
    );
  }

  async #claimBatch(claims: readonly object[]): Promise<ClaimReply[]> {
    const { toleranceMs, recoverMs } = this.access.timing;
    return (await this.ask<ClaimRow[]>('claim_occurrences', toleranceMs, recoverMs, sqlJson(claims))).map(decodeClaim);
  }

  async confirm(runIds: readonly string[]): Promise<void> {
    await Promise.all(
      inBatches(runIds, MAX_CONFIRMED).map((batch) => {
        const crons = [...new Set(batch.map(cronOfRun))];
        return this.ask('confirm_runs', crons, batch, this.access.timing.sweepMs);
      }),
    );
  }

  async pending(cron: string): Promise<Delivery[]> {
    return (await this.ask<DeliveryRow[]>('list_pending', cron, LEDGER_BATCH)).map(decodeDelivery);
  }

  async withPending(crons: readonly string[]): Promise<string[]> {
    return this.withOpenRuns(crons);
  }

  async unstarted(cron: string, limit: number): Promise<OverdueRun[]> {
    return (await this.ask<OverdueRunRow[]>('list_unstarted', cron, atLeastNone(limit))).map(decodeDelivery);
  }

  async waitingCrons(limit: number): Promise<string[]> {
    return this.ask('list_waiting', atLeastNone(limit));
  }

  async withOpenRuns(crons: readonly string[]): Promise<string[]> {
    const batches = inBatches(crons, MAX_ASKED_FOR).map((batch) => this.ask<string[]>('list_with_open_runs', batch));
    return (await Promise.all(batches)).flat();
  }

  async overdueAll(crons: readonly string[], options: OverdueOptions): Promise<PromiseSettledResult<OverdueRuns>[]> {
    checkOverdue(options);
    const batches = inBatches(crons, MAX_LOOKED_AT).map((batch) =>
      askEach(batch, (some) => this.#overdueBatch(some, options)),
    );
    return (await Promise.all(batches)).flat();
  }

  async #overdueBatch(crons: readonly string[], { againMs, keep }: OverdueOptions): Promise<OverdueRuns[]> {
    const args = [this.access.space, crons, againMs, keep, this.access.timing.keepMs, LEDGER_BATCH];
    const rows = await this.access.call<OverdueRow[]>('list_overdue', args);
    return rows.map(decodeOverdue);
  }

  async redeliver({ runId, delivery }: Delivery, nonce: string): Promise<Delivery | null> {
    const row = await this.ask<DeliveryRow | null>('redeliver_run', cronOfRun(runId), runId, delivery, nonce);
    return row && decodeDelivery(row);
  }
}
