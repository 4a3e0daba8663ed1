import { redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import { cronOfRun } from './occurrence.js';

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
  /** Instants behind the cursor that somebody asked for: none of them is run a second time. */
  readonly asked: string;
  /** What operators did, the newest first, as `note-action.lua` writes it. */
  readonly actions: string;
  /** Runs that failed, by when they did. */
  readonly failed: string;
  /** Run ids that can't be used again although their record may be gone, by until when; see `remember-id.lua`. */
  readonly used: string;
  /** Runs that wait for a person's answer, by since when. */
  readonly uncertain: string;
  /** Runs whose new state somebody is to be notified of, by when they came into it, as `note-notification.lua` writes them. */
  readonly notifications: string;
  run(runId: string): string;
  effects(runId: string): string;
  items(runId: string): string;
}

export type LedgerKeys = (cron: string) => CronKeys;

export function ledgerKeys(options: KeySpace): LedgerKeys {
  const key = redisKeys(options);
  return (cron) => {
    const record = key(cron, 'cron');
    // Checked once: the parts are known to be sound, and a tick asks for those of a thousand crons.
    const base = record.slice(0, -'cron'.length);
    return {
      name: cron,
      cron: record,
      runs: `${base}runs`,
      open: `${base}open`,
      watch: `${base}watch`,
      pending: `${base}pending`,
      skips: `${base}skips`,
      asked: `${base}asked`,
      actions: `${base}actions`,
      failed: `${base}failed`,
      uncertain: `${base}uncertain`,
      used: `${base}used`,
      notifications: `${base}notifications`,
      run: (runId) => key(cron, `run:${runId}`),
      effects: (runId) => key(cron, `effects:${runId}`),
      items: (runId) => key(cron, `items:${runId}`),
    };
  };
}

export function keysOfRun(keys: LedgerKeys, runId: string): CronKeys {
  return keys(cronOfRun(runId));
}
