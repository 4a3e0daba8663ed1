import { formatFence } from '@fencepost/lease';
import type {
  AttemptLog,
  AttemptOutcome,
  AttemptRef,
  AttemptSteps,
  BeginEffectReply,
  BeginReply,
  BeginRequest,
  EffectOutcome,
  EffectRequest,
  FinishEffectReply,
  HeartbeatReply,
  ItemsStep,
} from '../base/ledger.js';
import { checkBegin, checkOutcome, checkWhole } from '../base/ledger-request.js';
import { POSITION_MS } from '../base/ledger-timing.js';
import { MicroBatcher } from '@fencepost/lease/internal';
import { cronOfRun } from '../base/occurrence.js';
import { RedisOperatorLog } from './redis-operator-log.js';
import type { RunState } from '../base/run-state.js';
import type { WaitReason } from '../base/run.js';
import { type RedisLedgerAccess, keysOfRun, type CronKeys } from './redis-ledger-access.js';
import { decodeBegin, encodeOutcome, decodeBeginEffect, encodeItem } from './redis-attempt-codec.js';
import { attemptSteps, soundOrError } from './redis-attempt-steps.js';

/** A script holds up everybody else's commands while it runs: so many of these take one or two milliseconds. */
const MAX = 100;

/** More batches are collected than answered when a server is busy: fewer and longer ones are what it needs then. */
const UNDER_WAY = 2;

const MAX_REMEMBERED = 1_000;

type Script = 'begin-attempts' | 'heartbeat-attempts' | 'finish-attempts';

interface Item {
  readonly runId: string;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** What a script answered of one item: a word, or a word and what belongs to it. */
type Row = string | readonly unknown[];

/**
 * What every attempt costs: its begin, its heartbeats and its end. Those of one turn of the event loop, of whatever runs, are one
 * call; on a cluster each is one, because their keys lie in different slots. Whatever is no request is refused before it
 * gets among others, and a call whose reply was lost is sent again as a whole: each of its parts is idempotent.
 */
export class RedisAttemptLog extends RedisOperatorLog implements AttemptLog {
  readonly #known = new Map<string, CronKeys>();
  readonly #begins: MicroBatcher<Item, Row>;
  readonly #heartbeats: MicroBatcher<Item, Row>;
  readonly #ends: MicroBatcher<Item, Row>;
  readonly steps: AttemptSteps | null;

  constructor(access: RedisLedgerAccess) {
    super(access);
    const { sweepMs, keepMs } = access.timing;
    this.#begins = this.#batch('begin-attempts', [keepMs, POSITION_MS]);
    this.#heartbeats = this.#batch('heartbeat-attempts', []);
    this.#ends = this.#batch('finish-attempts', [sweepMs, keepMs]);
    this.steps = access.isOneStep ? attemptSteps(access) : null;
  }

  async begin(request: BeginRequest): Promise<BeginReply> {
    checkBegin(request);
    const { runId, nonce, worker, ttlMs, maxAttempts, notify = '' } = request;
    const item = this.#item(runId, [nonce, worker, ttlMs, maxAttempts, notify]);
    return decodeBegin(await this.#begins.ask(item), request);
  }

  async heartbeat({ runId, fence, nonce }: AttemptRef, ttlMs: number): Promise<HeartbeatReply> {
    checkWhole('ttlMs', ttlMs, 1);
    const word = await this.#heartbeats.ask(this.#item(runId, [formatFence(fence), nonce, ttlMs]));
    return String(word).toLowerCase() as HeartbeatReply;
  }

  async finish({ runId, fence, nonce }: AttemptRef, outcome: AttemptOutcome): Promise<RunState | null> {
    checkOutcome(outcome);
    const args = [formatFence(fence), nonce, ...encodeOutcome(outcome)];
    const word = await this.#ends.ask(this.#item(runId, args));
    return word === 'STALE' ? null : (word as RunState);
  }

  async noteWaiting(runId: string, reason: WaitReason | null): Promise<void> {
    await this.access.call('note-waiting', [keysOfRun(this.access.keys, runId).run(runId)], [reason ?? '']);
  }

  async beginEffect(attempt: AttemptRef, { name, ifUnknown, payloadHash }: EffectRequest): Promise<BeginEffectReply> {
    const { keys, open, proof } = this.#effectsOf(attempt);
    return decodeBeginEffect(
      await this.access.call('begin-effect', [...keys, open], [...proof, name, ifUnknown, payloadHash ?? '']),
    );
  }

  async finishEffect(attempt: AttemptRef, effect: string, outcome: EffectOutcome): Promise<FinishEffectReply> {
    const { keys, proof } = this.#effectsOf(attempt);
    const text = outcome.kind === 'done' ? outcome.result : outcome.error;
    const [word = ''] = await this.access.call('finish-effect', keys, [...proof, effect, outcome.kind, text]);
    return word.toLowerCase() as FinishEffectReply;
  }

  async advanceItems(attempt: AttemptRef, effect: string, step: ItemsStep): Promise<'recorded' | 'stale'> {
    const { keys, open, items, proof } = this.#effectsOf(attempt);
    const ended = step.finished.flatMap(encodeItem);
    const args = [...proof, effect, ended.length, ...ended, ...step.begun];
    const [word] = await this.access.call('advance-items', [...keys, items, open], args);
    return word === 'RECORDED' ? 'recorded' : 'stale';
  }

  #effectsOf({ runId, fence, nonce }: AttemptRef) {
    const of = keysOfRun(this.access.keys, runId);
    const keys = [of.cron, of.run(runId)];
    return { keys, open: of.open, items: of.items(runId), proof: [formatFence(fence), nonce] };
  }

  #batch(name: Script, first: readonly number[]): MicroBatcher<Item, Row> {
    const { redis } = this.access;
    const script = this.access.script(name);
    const send = async (items: readonly Item[]): Promise<(Row | Error)[]> => {
      const [keys, args] = [this.#counter(name, items), [...first] as (string | number)[]];
      // Not by flatMap, which takes longer than all else that is done here.
      for (const item of items) {
        keys.push(...item.keys);
        args.push(...item.args);
      }
      const replies = (await script.run(redis, keys, args)) as Row[];
      return replies.map((reply, n) => soundOrError(reply, items[n]?.runId));
    };
    const { isCluster } = redis;
    return new MicroBatcher({ send, most: isCluster ? 1 : MAX, inFlight: isCluster ? Infinity : UNDER_WAY });
  }

  /** Where `begin-attempts` counts fences: at one place for all that it may bring, or else it would write once for each cron. */
  #counter(name: Script, items: readonly Item[]): string[] {
    if (name !== 'begin-attempts') return [];
    const own = this.access.redis.isCluster ? items[0]?.keys[0] : undefined;
    return [own ?? this.access.fences];
  }

  /** @throws when the id makes no key, so that it never gets among others */
  #item(runId: string, args: Item['args']): Item {
    const of = this.#keysOf(cronOfRun(runId));
    const keys = [of.cron, of.run(runId)];
    if (this.access.redis.isCluster) {
      keys.push(of.open, of.runs, of.failed, of.uncertain, of.notifications, of.noted, of.items(runId));
    }
    return { runId, keys, args };
  }

  /** Remembered: a worker has few crons, and a begin and an end of each of their runs. */
  #keysOf(cron: string): CronKeys {
    const known = this.#known.get(cron);
    if (known) return known;
    const keys = this.access.keys(cron);
    if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
    this.#known.set(cron, keys);
    return keys;
  }
}
