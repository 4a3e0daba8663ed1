import { randomUUID } from 'node:crypto';
import { DEFAULT_CANCEL_GRACE_MS } from './catalog/definition.js';
import type { OperatorOrder, TriggerReply, TriggerRequest } from './ledger.js';
import {
  checkPause,
  checkTrigger,
  DEFAULT_MAX_CONCURRENCY,
  isNatural,
  LATE_TRIGGER_MS,
  madeAt,
} from './ledger-request.js';
import { writeAction } from './redis-action.js';
import type { RedisLedgerAccess } from './redis-ledger-access.js';
import { keysOfRun } from './redis-ledger-keys.js';
import { readPause, writeOptions, writeUntil } from './redis-run-record.js';
import type { OperatorAction, Pause } from './run.js';
import type { RunState } from './run-state.js';
import { checkCronName } from './occurrence.js';

/** What people do to a cron by hand. Each call has a nonce of its own, because a command may be sent twice. */
export class RedisOperations {
  constructor(private readonly access: RedisLedgerAccess) {}

  async trigger(request: TriggerRequest): Promise<TriggerReply> {
    checkTrigger(request);
    const { runId, rerunOf } = request;
    const keys = keysOfRun(this.access.keys, runId);
    const source = rerunOf ? [keys.effects(rerunOf), keys.items(rerunOf), keys.run(rerunOf)] : [];
    const copied = [keys.effects(runId), keys.items(runId), ...source];
    const { cron, runs, open, watch, pending, skips, asked, actions, used } = keys;
    const reply = await this.access.call(
      'trigger-run',
      [cron, runs, open, watch, pending, skips, keys.run(runId), asked, actions, used, ...copied],
      triggerArguments(request, this.access.timing),
    );
    return triggerReply(reply, runId);
  }

  async pause(cron: string, order: OperatorOrder & { readonly until: number | null }): Promise<Pause> {
    checkPause(cron, order);
    const until = writeUntil(order.until);
    const reply = await this.#order('pause-cron', cron, [until, order.by, order.reason, noteOf('pause', order)]);
    const pause = readPause(reply);
    if (pause === null) throw new Error(`Expected a reply of pause-cron, got ${JSON.stringify(reply)}.`);
    return pause;
  }

  async resume(cron: string, order: OperatorOrder): Promise<Pause | null> {
    checkCronName(cron);
    return readPause(await this.#order('resume-cron', cron, [noteOf('resume', order)]));
  }

  #order(script: 'pause-cron' | 'resume-cron', cron: string, args: string[]): Promise<string[]> {
    const keys = this.access.keys(cron);
    return this.access.call(script, [keys.cron, keys.actions], [randomUUID(), ...args]);
  }
}

function noteOf(action: OperatorAction['action'], { by, reason }: OperatorOrder): string {
  return writeAction({ action, by, reason, runId: null });
}

/** The ARGV of `trigger-run`, in the order its header gives. */
function triggerArguments(
  request: TriggerRequest,
  { recoverMs, keepMs }: RedisLedgerAccess['timing'],
): (string | number)[] {
  const { runId, nonce, scheduledAt, reason, by, why, generation } = request;
  const action = reason === 'backfill' ? 'backfill' : 'trigger';
  return [
    runId,
    nonce,
    scheduledAt ?? '',
    isNatural(request) ? 1 : '',
    request.overlap,
    request.maxConcurrency ?? DEFAULT_MAX_CONCURRENCY,
    request.cancelGraceMs ?? DEFAULT_CANCEL_GRACE_MS,
    recoverMs,
    keepMs,
    writeAction({ action, by, reason: why, runId }),
    ...[request.notBefore ?? '', request.keyMs ?? '', madeAt(runId) ?? '', LATE_TRIGGER_MS],
    request.cronSince ?? '',
    ...['reason', reason, 'generation', generation, 'claimedBy', by, 'by', by],
    ...writeOptions({ ...request, startBy: null }),
  ];
}

function triggerReply(reply: readonly string[], runId: string): TriggerReply {
  const [word, detail] = reply;
  switch (word) {
    case 'CLAIMED':
      return { verdict: 'claimed', runId };
    case 'SKIPPED':
      return { verdict: 'skipped', reason: 'overlap' };
    case 'EXISTS':
      return { verdict: 'exists', state: detail as RunState };
    case 'AHEAD':
      return { verdict: 'ahead' };
    case 'FORGOTTEN':
      return { verdict: 'forgotten' };
    default:
      throw new Error(`Expected a reply of trigger-run, got ${JSON.stringify(reply)}.`);
  }
}
