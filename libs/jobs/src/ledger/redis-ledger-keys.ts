import { redisKeys, type KeySpace } from '@fencepost/lease';
import { cronOfRun } from '../schedule/occurrence.js';

/** Every key of one cron shares a hash tag, so that one script may touch its record, its runs and their effects. */
export interface CronKeys {
  /** The cron itself, for messages. */
  readonly name: string;
  readonly cron: string;
  readonly runs: string;
  readonly open: string;
  readonly watch: string;
  readonly pending: string;
  readonly skips: string;
  run(runId: string): string;
  effects(runId: string): string;
}

export type LedgerKeys = (cron: string) => CronKeys;

export function ledgerKeys(options: KeySpace): LedgerKeys {
  const key = redisKeys(options);
  return (cron) => ({
    name: cron,
    cron: key(cron, 'cron'),
    runs: key(cron, 'runs'),
    open: key(cron, 'open'),
    watch: key(cron, 'watch'),
    pending: key(cron, 'pending'),
    skips: key(cron, 'skips'),
    run: (runId) => key(cron, `run:${runId}`),
    effects: (runId) => key(cron, `effects:${runId}`),
  });
}

export function keysOfRun(keys: LedgerKeys, runId: string): CronKeys {
  return keys(cronOfRun(runId));
}
