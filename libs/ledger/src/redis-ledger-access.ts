import { loadScripts, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { LEDGER_TIMING, type LedgerTiming } from './ledger-timing.js';
import { ledgerKeys, type LedgerKeys } from './redis-ledger-keys.js';
import { ReplicatedWrites, type ReplicationOptions } from './replicated-writes.js';

const SCRIPTS = loadScripts(new URL('./lua/', import.meta.url), [
  'claim-occurrences',
  'confirm-runs',
  'read-crons',
  'count-runs',
  'trigger-run',
  'pause-cron',
  'resume-cron',
  'list-overdue',
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

/**
 * Those that read, and those that decide nothing: what a failover loses of them is done again by the next heartbeat, the next
 * sweep or the next delivery.
 */
const NON_DURABLE: ReadonlySet<string> = new Set<keyof typeof SCRIPTS>([
  'read-crons',
  'count-runs',
  'list-overdue',
  'confirm-runs',
  'heartbeat-attempts',
  'note-waiting',
  'forget-runs',
]);

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
  readonly timing: LedgerTiming;
  readonly #replicated: ReplicatedWrites | null;

  constructor(options: RedisLedgerOptions) {
    this.redis = options.redis;
    this.keys = ledgerKeys(options);
    this.timing = { ...LEDGER_TIMING, ...options.timing };
    this.#replicated = options.replication ? new ReplicatedWrites(options.replication) : null;
  }

  /** @returns what the script answered, for a script whose answers are words */
  async call(script: keyof typeof SCRIPTS, keys: readonly string[], args: (string | number)[]): Promise<string[]> {
    return (await this.ask(script, keys, args)) as string[];
  }

  /**
   * @returns whatever the script answered
   * @throws {NotReplicatedError} with `replication`
   */
  ask(script: keyof typeof SCRIPTS, keys: readonly string[], args: (string | number)[]): Promise<unknown> {
    if (this.#replicated && !NON_DURABLE.has(script)) {
      return this.#replicated.ask({ script: SCRIPTS[script], keys, args });
    }
    return SCRIPTS[script].run(this.redis, keys, args);
  }

  /** One call for many crons; on a cluster one for each, because their keys lie in different slots. */
  inBatches<T>(items: readonly T[], most: number): T[][] {
    const size = this.redis.isCluster ? 1 : most;
    return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));
  }
}
