import { formatFence, loadScripts, NO_FENCE, parseFence, type KeySpace, type RedisClient } from '@fencepost/lease';
import type {
  AttemptOutcome,
  AttemptRef,
  BeginEffectReply,
  BeginReply,
  BeginRequest,
  ClaimReply,
  ClaimRequest,
  CronRecord,
  Delivery,
  FinishEffectReply,
  Ledger,
  OverdueRun,
} from './ledger.js';
import { checkBegin, checkClaim, checkOutcome, checkWhole } from './ledger-request.js';
import { LEDGER_BATCH, LEDGER_TIMING, type LedgerTiming } from './ledger-timing.js';
import { beginReply } from './redis-begin.js';
import { claimArguments, claimReply } from './redis-claim.js';
import { keysOfRun, ledgerKeys, type LedgerKeys } from './redis-ledger-keys.js';
import { readRunRecord, readSkipRange } from './redis-run-record.js';
import type { Run, SkipRange } from './run.js';
import type { RunState } from './run-state.js';
import { occurrenceId } from '../schedule/occurrence.js';

const SCRIPTS = loadScripts(new URL('./lua/', import.meta.url), [
  'claim-occurrence',
  'confirm-run',
  'list-overdue',
  'redeliver-run',
  'begin-attempt',
  'heartbeat-attempt',
  'begin-effect',
  'finish-effect',
  'finish-attempt',
  'forget-runs',
]);

export interface RedisLedgerOptions extends KeySpace {
  readonly redis: RedisClient;
  readonly timing?: Partial<LedgerTiming>;
}

/** The ledger in Redis. Each method is one script, and each script one atomic step; the scripts say what they refuse. */
export class RedisLedger implements Ledger {
  readonly #redis: RedisClient;
  readonly #keys: LedgerKeys;
  readonly #timing: LedgerTiming;

  constructor(options: RedisLedgerOptions) {
    this.#redis = options.redis;
    this.#keys = ledgerKeys(options);
    this.#timing = { ...LEDGER_TIMING, ...options.timing };
  }

  async readCron(cron: string): Promise<CronRecord> {
    const fields = await this.#redis.hmget(this.#keys(cron).cron, 'fence', 'cursor', 'generation', 'refusals');
    const [fence, cursor, generation, refusals] = fields;
    return {
      fence: fence ? parseFence(fence) : NO_FENCE,
      cursor: cursor ? Number(cursor) : null,
      generation: Number(generation ?? 0),
      refusals: Number(refusals ?? 0),
    };
  }

  async claim(request: ClaimRequest): Promise<ClaimReply> {
    checkClaim(request);
    const keys = this.#keys(request.cron);
    const { occurrence, cron } = request;
    const runId = occurrence ? occurrenceId({ cron, scheduledAt: occurrence.scheduledAt }) : '';
    const reply = await this.#call(
      'claim-occurrence',
      [keys.cron, keys.runs, keys.open, keys.watch, keys.pending, keys.skips, keys.run(runId)],
      claimArguments(request, runId, this.#timing),
    );
    return claimReply(reply, runId);
  }

  async confirm(runIds: readonly string[]): Promise<void> {
    await Promise.all(
      runIds.map((runId) => {
        const keys = keysOfRun(this.#keys, runId);
        return this.#call('confirm-run', [keys.run(runId), keys.pending, keys.watch], [runId, this.#timing.sweepMs]);
      }),
    );
  }

  async pending(cron: string): Promise<Delivery[]> {
    const ids = await this.#redis.zrange(this.#keys(cron).pending, 0, String(LEDGER_BATCH - 1));
    const runs = await Promise.all(ids.map((id) => this.readRun(id)));
    return runs.flatMap((run) => (run === null ? [] : [{ runId: run.id, delivery: run.delivery }]));
  }

  async overdue(cron: string, againMs: number): Promise<OverdueRun[]> {
    checkWhole('againMs', againMs, 0);
    const ids = await this.#call('list-overdue', [this.#keys(cron).watch], [LEDGER_BATCH, againMs]);
    const runs = await Promise.all(ids.map((id) => this.readRun(id)));
    return runs.flatMap((run) => (run === null ? [] : [{ runId: run.id, delivery: run.delivery, state: run.state }]));
  }

  async redeliver(last: Delivery, nonce: string): Promise<Delivery | null> {
    const keys = keysOfRun(this.#keys, last.runId);
    const reply = await this.#call(
      'redeliver-run',
      [keys.run(last.runId), keys.open, keys.watch],
      [last.runId, last.delivery, nonce],
    );
    return reply[0] === 'DELIVER' ? { runId: last.runId, delivery: Number(reply[1]) } : null;
  }

  async begin(request: BeginRequest): Promise<BeginReply> {
    checkBegin(request);
    const { runId, nonce, worker, ttlMs, maxAttempts } = request;
    const keys = keysOfRun(this.#keys, runId);
    const reply = await SCRIPTS['begin-attempt'].run(
      this.#redis,
      [keys.cron, keys.run(runId), keys.open, keys.watch, keys.pending, keys.effects(runId)],
      [runId, nonce, worker, ttlMs, maxAttempts, this.#timing.keepMs],
    );
    return beginReply(reply as unknown[], keys.name);
  }

  async heartbeat(attempt: AttemptRef, ttlMs: number): Promise<boolean> {
    checkWhole('ttlMs', ttlMs, 1);
    const keys = keysOfRun(this.#keys, attempt.runId);
    const reply = await this.#call(
      'heartbeat-attempt',
      [keys.cron, keys.run(attempt.runId), keys.open, keys.watch],
      [formatFence(attempt.fence), attempt.nonce, attempt.runId, ttlMs],
    );
    return reply[0] === 'EXTENDED';
  }

  async beginEffect(attempt: AttemptRef, effect: string): Promise<BeginEffectReply> {
    const reply = await this.#effect('begin-effect', attempt, [effect]);
    if (reply[0] === 'DONE') return { verdict: 'done', result: reply[1] ?? 'null' };
    if (reply[0] === 'STALE') return { verdict: 'stale' };
    return { verdict: 'go', unknown: reply[0] === 'GO_UNKNOWN' };
  }

  async finishEffect(attempt: AttemptRef, effect: string, result: string): Promise<FinishEffectReply> {
    const reply = await this.#effect('finish-effect', attempt, [effect, result]);
    return (reply[0] ?? '').toLowerCase() as FinishEffectReply;
  }

  async finish(attempt: AttemptRef, outcome: AttemptOutcome): Promise<RunState | null> {
    checkOutcome(outcome);
    const keys = keysOfRun(this.#keys, attempt.runId);
    const error = outcome.kind === 'succeeded' ? '' : outcome.error;
    const delayMs = outcome.kind === 'retry' ? outcome.delayMs : 0;
    const { sweepMs, keepMs } = this.#timing;
    const reply = await this.#call(
      'finish-attempt',
      [keys.cron, keys.run(attempt.runId), keys.open, keys.watch, keys.effects(attempt.runId)],
      [formatFence(attempt.fence), attempt.nonce, attempt.runId, outcome.kind, error, delayMs, sweepMs, keepMs],
    );
    return reply[0] === 'FINISHED' ? (reply[1] as RunState) : null;
  }

  async readRun(runId: string): Promise<Run | null> {
    return readRunRecord(await this.#redis.hgetall(keysOfRun(this.#keys, runId).run(runId)));
  }

  async runs(cron: string, limit: number): Promise<Run[]> {
    const ids = await this.#newest(this.#keys(cron).runs, limit);
    const runs = await Promise.all(ids.map((id) => this.readRun(id)));
    return runs.filter((run) => run !== null);
  }

  async skips(cron: string, limit: number): Promise<SkipRange[]> {
    return (await this.#newest(this.#keys(cron).skips, limit)).map(readSkipRange);
  }

  async forget(cron: string, keep: number): Promise<number> {
    checkWhole('keep', keep, 0);
    const keys = this.#keys(cron);
    const ids = await this.#call('forget-runs', [keys.runs, keys.open, keys.skips], [keep, LEDGER_BATCH]);
    if (ids.length > 0) await this.#redis.unlink(ids.flatMap((id) => [keys.run(id), keys.effects(id)]));
    return ids.length;
  }

  /** A stop of −1 means all of them, so a limit of 0 never gets there. */
  async #newest(key: string, limit: number): Promise<string[]> {
    return limit < 1 ? [] : this.#redis.zrevrange(key, 0, limit - 1);
  }

  #effect(script: 'begin-effect' | 'finish-effect', attempt: AttemptRef, rest: string[]): Promise<string[]> {
    const keys = keysOfRun(this.#keys, attempt.runId);
    return this.#call(
      script,
      [keys.cron, keys.run(attempt.runId), keys.effects(attempt.runId)],
      [formatFence(attempt.fence), attempt.nonce, ...rest],
    );
  }

  async #call(script: keyof typeof SCRIPTS, keys: string[], args: (string | number)[]): Promise<string[]> {
    return (await SCRIPTS[script].run(this.#redis, keys, args)) as string[];
  }
}
