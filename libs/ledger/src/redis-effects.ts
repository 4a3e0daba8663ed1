import { formatFence } from '@fencepost/lease';
import type {
  AttemptRef,
  BeginEffectReply,
  EffectOutcome,
  EffectRequest,
  FinishEffectReply,
  ItemOutcome,
  ItemRecord,
  ItemsStep,
  UnknownEffect,
} from './ledger.js';
import { readEffects, readItems } from './redis-effect-record.js';
import type { RedisLedgerAccess } from './redis-ledger-access.js';
import { keysOfRun } from './redis-ledger-keys.js';
import type { EffectRecord } from './run.js';

/** What handlers did to the world, as the ledger in Redis has it. */
export class RedisEffects {
  constructor(private readonly access: RedisLedgerAccess) {}

  async begin(attempt: AttemptRef, { name, ifUnknown, payloadHash }: EffectRequest): Promise<BeginEffectReply> {
    return beginEffectReply(await this.#call('begin-effect', attempt, [name, ifUnknown, payloadHash ?? '']));
  }

  async finish(attempt: AttemptRef, effect: string, outcome: EffectOutcome): Promise<FinishEffectReply> {
    const text = outcome.kind === 'done' ? outcome.result : outcome.error;
    const reply = await this.#call('finish-effect', attempt, [effect, outcome.kind, text]);
    return (reply[0] ?? '').toLowerCase() as FinishEffectReply;
  }

  async list(runId: string): Promise<EffectRecord[]> {
    return readEffects(await this.access.redis.hgetall(keysOfRun(this.access.keys, runId).effects(runId)));
  }

  async items(runId: string, effect: string): Promise<ItemRecord[]> {
    return readItems(await this.access.redis.hgetall(keysOfRun(this.access.keys, runId).items(runId)), effect);
  }

  async advanceItems(attempt: AttemptRef, effect: string, step: ItemsStep): Promise<'recorded' | 'stale'> {
    const ended = step.finished.flatMap(wordsOf);
    const reply = await this.#call('advance-items', attempt, [effect, ended.length, ...ended, ...step.begun]);
    return reply[0] === 'RECORDED' ? 'recorded' : 'stale';
  }

  #call(
    script: 'begin-effect' | 'finish-effect' | 'advance-items',
    { runId, fence, nonce }: AttemptRef,
    rest: readonly (string | number)[],
  ): Promise<string[]> {
    const keys = keysOfRun(this.access.keys, runId);
    const items = script === 'advance-items' ? [keys.items(runId)] : [];
    const touched = [keys.cron, keys.run(runId), keys.effects(runId), ...items];
    return this.access.call(script, touched, [formatFence(fence), nonce, ...rest]);
  }
}

function wordsOf(outcome: ItemOutcome): string[] {
  return [outcome.key, outcome.kind, outcome.kind === 'failed' ? outcome.error : ''];
}

/** What `begin-effect` answered. */
function beginEffectReply(reply: readonly string[]): BeginEffectReply {
  const [word, detail = ''] = reply;
  switch (word) {
    case 'GO':
      return { verdict: 'go', unknown: null };
    case 'GO_UNKNOWN':
      return { verdict: 'go', unknown: unknownEffect(reply) };
    case 'UNKNOWN':
      return { verdict: 'unknown', unknown: unknownEffect(reply) };
    case 'DONE':
      return { verdict: 'done', result: detail, payloadHash: reply[2] || null };
    case 'STALE':
      return { verdict: 'stale' };
    default:
      throw new Error(`Expected a reply of begin-effect, got ${JSON.stringify(reply)}.`);
  }
}

function unknownEffect([, since, ageMs, hash]: readonly string[]): UnknownEffect {
  return { since: Number(since), ageMs: Number(ageMs), payloadHash: hash || null };
}
