import { formatFence } from '@fencepost/lease';
import type {
  AttemptLog,
  AttemptOutcome,
  AttemptRef,
  BeginEffectReply,
  BeginReply,
  BeginRequest,
  EffectOutcome,
  EffectRequest,
  FinishEffectReply,
  HeartbeatReply,
  ItemsStep,
} from './ledger.js';
import { checkBegin, checkOutcome, checkWhole } from './ledger-request.js';
import { POSITION_MS } from './ledger-timing.js';
import { MicroBatcher } from './micro-batcher.js';
import { cronOfRun } from './occurrence.js';
import { decodeBegin, encodeOutcome } from './redis-attempt-codec.js';
import { decodeBeginEffect, encodeItem } from './redis-effect-codec.js';
import type { RedisLedgerAccess } from './redis-ledger-access.js';
import { keysOfRun, type CronKeys } from './redis-ledger-keys.js';
import { RedisOperatorLog } from './redis-operator-log.js';
import type { RunState } from './run-state.js';
import type { WaitReason } from './run.js';

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
  readonly #beats: MicroBatcher<Item, Row>;
  readonly #ends: MicroBatcher<Item, Row>;

  constructor(access: RedisLedgerAccess) {
    super(access);
    const { sweepMs, keepMs } = access.timing;
    this.#begins = this.#batch('begin-attempts', [keepMs, POSITION_MS]);
    this.#beats = this.#batch('heartbeat-attempts', []);
    this.#ends = this.#batch('finish-attempts', [sweepMs, keepMs]);
  }

  async begin(request: BeginRequest): Promise<BeginReply> {
    checkBegin(request);
    const { runId, nonce, worker, ttlMs, maxAttempts, notify = '' } = request;
    const item = this.#item(runId, [nonce, worker, ttlMs, maxAttempts, notify]);
    return decodeBegin(await this.#begins.ask(item), request);
  }

  async heartbeat({ runId, fence, nonce }: AttemptRef, ttlMs: number): Promise<HeartbeatReply> {
    checkWhole('ttlMs', ttlMs, 1);
    const word = await this.#beats.ask(this.#item(runId, [formatFence(fence), nonce, ttlMs]));
    return String(word).toLowerCase() as HeartbeatReply;
  }

  async finish({ runId, fence, nonce }: AttemptRef, outcome: AttemptOutcome): Promise<RunState | null> {
    checkOutcome(outcome);
    const args = [formatFence(fence), nonce, ...encodeOutcome(outcome)];
    const word = await this.#ends.ask(this.#item(runId, args));
    return word === 'STALE' ? null : (word as RunState);
  }

  async noteWaiting(runId: string, reason: WaitReason): Promise<void> {
    await this.access.call('note-waiting', [keysOfRun(this.access.keys, runId).run(runId)], [reason]);
  }

  async beginEffect(attempt: AttemptRef, { name, ifUnknown, payloadHash }: EffectRequest): Promise<BeginEffectReply> {
    return decodeBeginEffect(await this.#askAbout('begin-effect', attempt, [name, ifUnknown, payloadHash ?? '']));
  }

  async finishEffect(attempt: AttemptRef, effect: string, outcome: EffectOutcome): Promise<FinishEffectReply> {
    const text = outcome.kind === 'done' ? outcome.result : outcome.error;
    const reply = await this.#askAbout('finish-effect', attempt, [effect, outcome.kind, text]);
    return (reply[0] ?? '').toLowerCase() as FinishEffectReply;
  }

  async advanceItems(attempt: AttemptRef, effect: string, step: ItemsStep): Promise<'recorded' | 'stale'> {
    const ended = step.finished.flatMap(encodeItem);
    const reply = await this.#askAbout('advance-items', attempt, [effect, ended.length, ...ended, ...step.begun]);
    return reply[0] === 'RECORDED' ? 'recorded' : 'stale';
  }

  #askAbout(
    script: 'begin-effect' | 'finish-effect' | 'advance-items',
    { runId, fence, nonce }: AttemptRef,
    rest: readonly (string | number)[],
  ): Promise<string[]> {
    const keys = keysOfRun(this.access.keys, runId);
    const items = script === 'advance-items' ? [keys.items(runId)] : [];
    const touched = [keys.cron, keys.run(runId), keys.effects(runId), ...items];
    return this.access.call(script, touched, [formatFence(fence), nonce, ...rest]);
  }

  #batch(script: Script, args: readonly number[]): MicroBatcher<Item, Row> {
    const { isCluster } = this.access.redis;
    return new MicroBatcher<Item, Row>({
      send: (items) => this.#send(script, items, args),
      most: isCluster ? 1 : MAX,
      inFlight: isCluster ? Infinity : UNDER_WAY,
    });
  }

  async #send(script: Script, items: readonly Item[], first: readonly number[]): Promise<(Row | Error)[]> {
    const keys = items.flatMap((item) => item.keys);
    const args = items.flatMap((item) => item.args);
    const replies = (await this.access.ask(script, keys, [...first, ...args])) as Row[];
    return replies.map((reply, n) => (reply[0] === 'BROKEN' ? broken(items[n], reply[1]) : reply));
  }

  /** @throws when the id makes no key, so that it never gets among others */
  #item(runId: string, args: Item['args']): Item {
    const of = this.#keysOf(cronOfRun(runId));
    const keys = [of.cron, of.run(runId)];
    if (this.access.redis.isCluster) {
      keys.push(of.open, of.watch, of.pending, of.runs, of.failed, of.uncertain, of.notifications);
      keys.push(of.effects(runId), of.items(runId));
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

function broken(item: Item | undefined, what: unknown): Error {
  return new Error(`Expected a sound record of ${item?.runId}, got ${String(what)}`);
}
