import type { ClaimReply, ClaimRequest, CronRecord, Delivery, OccurrenceLog } from '../base/ledger.js';
import { checkClaim, checkOverdue } from '../base/ledger-request.js';
import { LEDGER_BATCH, type LedgerTiming } from '../base/ledger-timing.js';
import { giveUpInMemory } from './memory-attempt.js';
import { freeCapacity, overlapOf } from './memory-capacity.js';
import {
  BLOCKS_ALWAYS,
  blocks,
  deliveryOfRun,
  isAlive,
  move,
  pauseInForce,
  type MemoryCron,
  type MemoryRun,
} from './memory-ledger-record.js';
import type { MemoryLedgerStore, StoreTime } from './memory-ledger-store.js';
import { MemoryRunHistory } from './memory-run-history.js';
import { acceptedBefore, acceptRun, newRun } from './memory-run.js';
import { occurrenceId } from '../base/occurrence.js';
import type { OverdueOptions, OverdueRun, OverdueRuns } from '../base/accepting.js';
import { isTerminal } from '../base/run-state.js';

export class MemoryOccurrenceLog extends MemoryRunHistory implements OccurrenceLog {
  async readCron(name: string): Promise<CronRecord> {
    const cron = this.store.cron(name);
    const { fence, cursor, generation, refusals, droppedNotifications } = cron;
    const paused = pauseInForce(cron, this.store.now());
    return { fence, cursor, generation, refusals, paused: paused && { ...paused }, droppedNotifications };
  }

  async readCrons(crons: readonly string[]): Promise<CronRecord[]> {
    return Promise.all(crons.map((cron) => this.readCron(cron)));
  }

  async claim(request: ClaimRequest): Promise<ClaimReply> {
    checkClaim(request);
    return claimInMemory(this.store.cron(request.cron), request, this.store.time());
  }

  async claimAll(requests: readonly ClaimRequest[]): Promise<PromiseSettledResult<ClaimReply>[]> {
    return Promise.allSettled(requests.map((request) => this.claim(request)));
  }

  async confirm(runIds: readonly string[]): Promise<void> {
    for (const runId of runIds) {
      const run = this.store.run(runId);
      if (run) confirmInMemory(run, this.store.now(), this.store.timing);
    }
  }

  async pending(cron: string): Promise<Delivery[]> {
    return this.#claimed(cron).slice(0, LEDGER_BATCH).map(deliveryOfRun);
  }

  async withPending(crons: readonly string[]): Promise<string[]> {
    return crons.filter((cron) => this.#claimed(cron).length > 0);
  }

  #claimed(cron: string): MemoryRun[] {
    return this.store.runs(cron, ({ record }) => record.state === 'claimed');
  }

  async unstarted(cron: string, limit: number): Promise<OverdueRun[]> {
    const { store } = this;
    const waiting = store.runs(cron, (run) => run.leaseUntil === BLOCKS_ALWAYS && blocks(run, store.now()));
    const sorted = waiting.toSorted((a, b) => (a.record.id < b.record.id ? -1 : 1)).slice(0, Math.max(0, limit));
    return sorted.map((run) => ({ ...deliveryOfRun(run), state: run.record.state }));
  }

  async withOpenRuns(crons: readonly string[]): Promise<string[]> {
    const { store } = this;
    return crons.filter(
      (cron) =>
        store.cron(cron).notifications.length > 0 || store.runs(cron, ({ lookAt }) => lookAt !== null).length > 0,
    );
  }

  async overdueAll(crons: readonly string[], options: OverdueOptions): Promise<PromiseSettledResult<OverdueRuns>[]> {
    checkOverdue(options);
    return crons.map((cron) => ({ status: 'fulfilled', value: overdueInMemory(this.store, cron, options) }));
  }

  async redeliver(last: Delivery, nonce: string): Promise<Delivery | null> {
    const run = this.store.run(last.runId);
    return run ? redeliverInMemory(run, { last: last.delivery, nonce, now: this.store.now() }) : null;
  }
}

/** `claim-occurrences.lua` for one claim, line for line: everything is checked before anything is written. */
function claimInMemory(cron: MemoryCron, request: ClaimRequest, at: StoreTime): ClaimReply {
  const answer = sameDecision(cron, request) ?? refuse(cron, request, at);
  if (answer) return answer;

  const { occurrence, skips, fence, term, generation, nonce } = request;
  const paused = occurrence !== null && pauseInForce(cron, at.now) !== null;
  const { skipped, surplus } = overlapOf(cron, request, at.now);
  cron.began ??= beginningOf(request);
  const { cursor: before } = cron;
  Object.assign(cron, { fence, term, generation, cursor: endOf(request) });
  cron.skips.push(...skips.map((skip) => ({ ...skip })));
  if (!occurrence || paused) {
    if (occurrence) recordPause(cron, skips.at(-1)?.through ?? null, { before, through: occurrence.scheduledAt });
    cron.recorded = { nonce, paused };
    return paused ? { verdict: 'skipped', reason: 'paused' } : { verdict: 'recorded' };
  }
  const id = occurrenceId({ cron: request.cron, scheduledAt: occurrence.scheduledAt });
  const { cron: name, holder: claimedBy } = request;
  const missed = occurrence.missed && { ...occurrence.missed };
  const facts = { id, cron: name, ...occurrence, missed, generation, claimFence: fence, claimedBy };
  const run = newRun({ ...facts, claimedAt: at.now, by: null }, request);
  if (!skipped) freeCapacity(cron, { id, policy: request, surplus, now: at.now });
  const reply = acceptRun(cron, run, { ...at, skipped });
  return reply.verdict === 'claimed' && surplus > 0 ? { ...reply, behind: true } : reply;
}

function sameDecision(cron: MemoryCron, { cron: name, nonce, occurrence }: ClaimRequest): ClaimReply | null {
  if (cron.recorded?.nonce === nonce) {
    return cron.recorded.paused ? { verdict: 'skipped', reason: 'paused' } : { verdict: 'recorded' };
  }
  if (!occurrence) return null;
  const runId = occurrenceId({ cron: name, scheduledAt: occurrence.scheduledAt });
  const run = cron.runs.get(runId);
  if (run?.claimNonce !== nonce) return null;
  return acceptedBefore(run);
}

function refuse(cron: MemoryCron, request: ClaimRequest, { now, timing }: StoreTime): ClaimReply | null {
  if (request.fence < cron.fence || (request.fence === cron.fence && request.term !== cron.term)) {
    cron.refusals += 1;
    return { verdict: 'stale', fence: cron.fence };
  }
  if (request.generation < cron.generation) return { verdict: 'stale-definition', generation: cron.generation };
  if (cron.cursor !== request.cursor || (cron.cursor !== null && endOf(request) <= cron.cursor)) {
    return { verdict: 'moved', cursor: cron.cursor };
  }
  const waitMs = (request.occurrence?.dueAt ?? endOf(request) + (request.spreadMs ?? 0)) - now;
  return waitMs > timing.toleranceMs ? { verdict: 'early', waitMs } : null;
}

/** Where the cursor stands after the claim. */
function endOf({ occurrence, skips }: ClaimRequest): number {
  return occurrence?.scheduledAt ?? skips.at(-1)?.through ?? 0;
}

function beginningOf(request: ClaimRequest): number {
  return request.skips[0]?.after ?? endOf(request) - 1;
}

interface Paused {
  readonly before: number | null;
  readonly through: number;
}

/** One range for the whole of a pause, however many instants it takes. */
function recordPause({ skips }: MemoryCron, planned: number | null, { before, through }: Paused): void {
  const last = planned === null ? skips.at(-1) : undefined;
  const goesOn = last?.reason === 'paused' && last.through === before;
  if (goesOn) skips.pop();
  const after = goesOn ? last.after : (planned ?? before ?? through - 1);
  skips.push({ after, through, reason: 'paused' });
}

/** `confirm-runs.lua` for one run. */
function confirmInMemory(run: MemoryRun, now: number, { sweepMs }: LedgerTiming): void {
  if (run.record.state !== 'claimed') return;
  move(run, 'confirm');
  run.record.enqueuedAt = now;
  run.lookAt = Math.max(now, run.record.notBefore ?? now) + sweepMs;
}

interface Redelivery {
  /** The last delivery the caller knows. */
  readonly last: number;
  readonly nonce: string;
  readonly now: number;
}

/** `redeliver-run.lua`, line for line. */
function redeliverInMemory(run: MemoryRun, { last, nonce, now }: Redelivery): Delivery | null {
  const { record } = run;
  if (run.deliveryNonce === nonce) return deliveryOfRun(run);
  if (isTerminal(record.state) || record.state === 'uncertain') return null;
  if (isAlive(run, now) || giveUpInMemory(run, now) || record.delivery !== last) return null;
  if (record.state === 'running') move(run, 'orphan');
  run.deliveryNonce = nonce;
  record.delivery += 1;
  return deliveryOfRun(run);
}

function overdueInMemory(store: MemoryLedgerStore, name: string, { againMs, keep }: OverdueOptions): OverdueRuns {
  const now = store.now();
  const watched = store
    .runs(name, ({ lookAt }) => lookAt !== null)
    .map((run) => ({ run, lookAt: run.lookAt ?? Infinity }));
  const due = watched.filter(({ lookAt }) => lookAt <= now).toSorted((a, b) => a.lookAt - b.lookAt);
  const shown = due.slice(0, LEDGER_BATCH).map(({ run }) => {
    run.lookAt = now + againMs;
    return { ...deliveryOfRun(run), state: run.record.state };
  });
  const { runs, skips, notifications } = store.cron(name);
  const surplus = runs.size > keep || skips.length > keep;
  return { runs: shown, watched: watched.length, surplus, notifications: notifications.length };
}
