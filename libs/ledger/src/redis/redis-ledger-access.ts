import {
  loadScripts,
  type KeyBuilder,
  type KeySpace,
  redisKeys,
  type RedisScript,
} from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { LEDGER_TIMING, type LedgerTiming } from '../base/ledger-timing.js';
import { cronOfRun } from '../base/occurrence.js';
import { ReplicatedWrites, type ReplicationOptions } from './replicated-writes.js';
import { TEXTS } from './lua/texts.js';

const SCRIPTS = loadScripts(TEXTS, [
  'claim-occurrences',
  'confirm-runs',
  'read-crons',
  'read-runs',
  'read-runs-with-effects',
  'find-success',
  'list-newest',
  'count-runs',
  'tally-runs',
  'trigger-run',
  'pause-cron',
  'resume-cron',
  'list-overdue',
  'list-pending',
  'redeliver-run',
  'begin-attempts',
  'heartbeat-attempts',
  'begin-effect',
  'finish-effect',
  'advance-items',
  'resolve-run',
  'finish-attempts',
  'cancel-run',
  'note-waiting',
  'forget-runs',
]);

type ScriptName = keyof typeof SCRIPTS;

/**
 * Those that read, and those that decide nothing: what a failover loses of them is done again by the next heartbeat, the next
 * sweep or the next delivery.
 */
const NON_DURABLE: ReadonlySet<string> = new Set<ScriptName>([
  'read-crons',
  'read-runs',
  'read-runs-with-effects',
  'find-success',
  'list-newest',
  'count-runs',
  'tally-runs',
  'list-overdue',
  'list-pending',
  'confirm-runs',
  'heartbeat-attempts',
  'note-waiting',
  'forget-runs',
]);

/** Scripts that are under way at once: on a cluster each is about one cron. */
const AT_ONCE = 1;
const AT_ONCE_ON_CLUSTER = 20;

export interface RedisLedgerOptions extends KeySpace {
  readonly redis: RedisClient;
  readonly timing?: Partial<LedgerTiming>;
  /**
   * What decides something counts when so many replicas have it, and is refused with a `NotReplicatedError` where too few
   * say so in time. It may be applied all the same: whoever asked does so again with its nonce, as after a lost reply.
   */
  readonly replication?: ReplicationOptions;
}

/** How the parts of the ledger get at its keys and scripts. */
export class RedisLedgerAccess {
  readonly redis: RedisClient;
  readonly keys: LedgerKeys;
  /** Where the fences of attempts are counted for all crons; on a cluster each cron's record has its own. */
  readonly fences: string;
  readonly timing: LedgerTiming;
  readonly space: KeySpace;
  readonly #replicated: ReplicatedWrites | null;

  constructor(options: RedisLedgerOptions) {
    this.redis = options.redis;
    this.space = { prefix: options.prefix, tenant: options.tenant };
    this.keys = ledgerKeys(options);
    this.fences = redisKeys(options)('fences', 'ledger');
    this.timing = { ...LEDGER_TIMING, ...options.timing };
    this.#replicated = options.replication ? new ReplicatedWrites(options.replication) : null;
  }

  /** Whether a script may touch keys of any crons and of a queue, and counts as soon as it is answered. */
  get isOneStep(): boolean {
    return !this.redis.isCluster && this.#replicated === null;
  }

  /** What a script of a queue on the same server calls. */
  textOf(name: ScriptName): string {
    return SCRIPTS[name].text;
  }

  /** @returns what the script answered, for a script whose answers are words */
  async call(name: ScriptName, keys: readonly string[], args: readonly (string | number)[]): Promise<string[]> {
    return (await this.script(name).run(this.redis, keys, args)) as string[];
  }

  /**
   * @returns whatever the script answered
   * @throws {NotReplicatedError} with `replication`
   */
  ask(name: ScriptName, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    return this.script(name).run(this.redis, keys, args);
  }

  /** One that decides something waits for the replicas, with `replication`. */
  script(name: ScriptName): Pick<RedisScript, 'run'> {
    const [script, replicated] = [SCRIPTS[name], this.#replicated];
    if (!replicated || NON_DURABLE.has(name)) return script;
    return { run: (_redis, keys, args) => replicated.ask({ script, keys, args }) };
  }

  /** One call for many crons; on a cluster one for each, because their keys lie in different slots. */
  inBatches<T>(items: readonly T[], most: number): T[][] {
    const size = this.redis.isCluster ? 1 : most;
    return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));
  }

  /** Some at a time: what is sent in one go delays whatever else uses the connection, and its answers come in one go as well. */
  async inTurn<Item, Answer>(items: readonly Item[], ask: (item: Item) => Promise<Answer>): Promise<Answer[]> {
    const answers: Answer[] = [];
    const most = this.redis.isCluster ? AT_ONCE_ON_CLUSTER : AT_ONCE;
    for (let at = 0; at < items.length; at += most) {
      answers.push(...(await Promise.all(items.slice(at, at + most).map(ask))));
    }
    return answers;
  }
}

/**
 * Every key of one cron shares a hash tag, so that one script may touch its record, its runs and their effects. A key is put
 * together when it is asked for: a tick or a look at all crons asks for one or two of each.
 */
export class CronKeys {
  /** The record of the cron. */
  readonly cron: string;
  // Checked once: the parts are known to be sound.
  readonly #base: string;

  constructor(
    /** The cron itself, for messages. */
    readonly name: string,
    private readonly key: KeyBuilder,
  ) {
    this.cron = key(name, 'cron');
    this.#base = this.cron.slice(0, -'cron'.length);
  }

  get runs(): string {
    return `${this.#base}runs`;
  }

  /** Runs that have not ended, by what `open-runs.lua` makes of their state and of when the next look at each is. */
  get open(): string {
    return `${this.#base}open`;
  }

  get skips(): string {
    return `${this.#base}skips`;
  }

  /** Instants behind the cursor that somebody asked for: none of them is run a second time. */
  get asked(): string {
    return `${this.#base}asked`;
  }

  /** Runs that failed, by when they did. */
  get failed(): string {
    return `${this.#base}failed`;
  }

  /** Run ids that can't be used again although their record may be gone, by until when; see `remember-ids.lua`. */
  get used(): string {
    return `${this.#base}used`;
  }

  /** Runs that wait for a person's answer, by since when. */
  get uncertain(): string {
    return `${this.#base}uncertain`;
  }

  /** Runs whose new state somebody is to be notified of, by when they came into it, as `note-notification.lua` writes them. */
  get notifications(): string {
    return `${this.#base}notifications`;
  }

  /** Exists while the cron may need a person and neither `open` nor `failed` shows it, as `note-cron.lua` decides. */
  get noted(): string {
    return `${this.#base}noted`;
  }

  run(runId: string): string {
    return this.key(this.name, `run:${runId}`);
  }

  items(runId: string): string {
    return this.key(this.name, `items:${runId}`);
  }
}

export type LedgerKeys = (cron: string) => CronKeys;

function ledgerKeys(options: KeySpace): LedgerKeys {
  const key = redisKeys(options);
  return (cron) => new CronKeys(cron, key);
}

export function keysOfRun(keys: LedgerKeys, runId: string): CronKeys {
  return keys(cronOfRun(runId));
}
