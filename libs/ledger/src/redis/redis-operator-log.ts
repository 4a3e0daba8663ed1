import { randomUUID } from 'node:crypto';
import type {
  CancelReply,
  CancelRequest,
  OperatorLog,
  OperatorOrder,
  ResolveReply,
  ResolveRequest,
  TriggerReply,
  TriggerRequest,
} from '../base/ledger.js';
import { checkPause, checkTrigger, checkUnresolvedEffect, checkWhole } from '../base/ledger-request.js';
import { checkCronName } from '../base/occurrence.js';
import { keysOfRun } from './redis-ledger-access.js';
import { RedisOccurrenceLog } from './redis-occurrence-log.js';
import { decodeCancel, decodeResolve, decodeTrigger, encodeResolve, encodeTrigger } from './redis-operator-codec.js';
import { decodePause, encodeUntil } from './redis-run-codec.js';
import type { Pause } from '../base/run.js';

/** What people do to a cron by hand. Each call has a nonce of its own, because a command may be sent twice. */
export class RedisOperatorLog extends RedisOccurrenceLog implements OperatorLog {
  async trigger(request: TriggerRequest): Promise<TriggerReply> {
    checkTrigger(request);
    const { runId, rerunOf } = request;
    const keys = keysOfRun(this.access.keys, runId);
    const source = rerunOf ? [keys.items(rerunOf), keys.run(rerunOf)] : [];
    const { cron, runs, open, skips, asked, used, noted } = keys;
    const reply = await this.access.call(
      'trigger-run',
      [cron, runs, open, skips, keys.run(runId), asked, used, keys.items(runId), noted, ...source],
      encodeTrigger(request, this.access.timing),
    );
    return decodeTrigger(reply, runId);
  }

  async pause(cron: string, order: OperatorOrder & { readonly until: number | null }): Promise<Pause> {
    checkPause(cron, order);
    const until = encodeUntil(order.until);
    const reply = await this.#order('pause-cron', cron, [until, order.by, order.reason]);
    const pause = decodePause(reply);
    if (pause === null) throw new Error(`Expected a reply of pause-cron, got ${JSON.stringify(reply)}.`);
    return pause;
  }

  async resume(cron: string): Promise<Pause | null> {
    checkCronName(cron);
    return decodePause(await this.#order('resume-cron', cron));
  }

  async cancel(runId: string, { by, graceMs }: CancelRequest): Promise<CancelReply> {
    checkWhole('graceMs', graceMs, 0);
    const keys = keysOfRun(this.access.keys, runId);
    const reply = await this.access.call(
      'cancel-run',
      [keys.cron, keys.run(runId), keys.open, keys.uncertain, keys.items(runId), keys.noted],
      [by, graceMs, this.access.timing.keepMs],
    );
    return decodeCancel(reply);
  }

  async resolve(runId: string, request: ResolveRequest): Promise<ResolveReply> {
    checkUnresolvedEffect(request.unresolvedEffect);
    const keys = keysOfRun(this.access.keys, runId);
    const { cron, open, uncertain, failed, notifications, noted } = keys;
    const reply = await this.access.call(
      'resolve-run',
      [cron, keys.run(runId), open, uncertain, keys.items(runId), failed, notifications, noted],
      encodeResolve(request, this.access.timing),
    );
    return decodeResolve(reply, runId);
  }

  #order(script: 'pause-cron' | 'resume-cron', cron: string, args: string[] = []): Promise<string[]> {
    const { keys, timing } = this.access;
    const { cron: record, noted } = keys(cron);
    return this.access.call(script, [record, noted], [randomUUID(), ...args, timing.keepMs]);
  }
}
