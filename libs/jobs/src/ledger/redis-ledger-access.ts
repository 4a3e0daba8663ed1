import { loadScripts, type KeySpace, type RedisClient } from '@fencepost/lease';
import { LEDGER_TIMING, type LedgerTiming } from './ledger-timing.js';
import { ledgerKeys, type LedgerKeys } from './redis-ledger-keys.js';

const SCRIPTS = loadScripts(new URL('./lua/', import.meta.url), [
  'claim-occurrences',
  'confirm-runs',
  'read-crons',
  'read-crons',
  'trigger-run',
  'pause-cron',
  'resume-cron',
  'list-overdue',
  'redeliver-run',
  'begin-attempt',
  'heartbeat-attempt',
  'begin-effect',
  'finish-effect',
  'finish-attempt',
  'cancel-run',
  'note-waiting',
  'forget-runs',
]);

export interface RedisLedgerOptions extends KeySpace {
  readonly redis: RedisClient;
  readonly timing?: Partial<LedgerTiming>;
}

/** How the parts of the ledger get at its keys and scripts. */
export class RedisLedgerAccess {
  readonly redis: RedisClient;
  readonly keys: LedgerKeys;
  readonly timing: LedgerTiming;

  constructor(options: RedisLedgerOptions) {
    this.redis = options.redis;
    this.keys = ledgerKeys(options);
    this.timing = { ...LEDGER_TIMING, ...options.timing };
  }

  /** @returns what the script answered, for a script whose answers are words */
  async call(script: keyof typeof SCRIPTS, keys: readonly string[], args: (string | number)[]): Promise<string[]> {
    return (await this.ask(script, keys, args)) as string[];
  }

  /** @returns whatever the script answered */
  ask(script: keyof typeof SCRIPTS, keys: readonly string[], args: (string | number)[]): Promise<unknown> {
    return SCRIPTS[script].run(this.redis, keys, args);
  }

  /** One call for many crons; on a cluster one for each, because their keys lie in different slots. */
  inBatches<T>(items: readonly T[], most: number): T[][] {
    const size = this.redis.isCluster ? 1 : most;
    return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));
  }
}
